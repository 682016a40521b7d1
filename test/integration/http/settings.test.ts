import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openCarriers } from '../../../src/carriers/open-carriers.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { WEBHOOK_EVENTS } from '../../../src/config/webhook-endpoints.ts';
import { settingsOrders } from '../../../src/hosts/settings-orders.ts';
import {
  apiKeysView,
  carriersView,
  checksView,
  endpointsView,
  invitationView,
  memberView,
  membersView,
  modelJobView,
  newApiKeyView,
  newEndpointView,
  newMemberView,
  speechTrialView,
  speechView,
  testView,
} from '../../../src/http/api/settings/settings-views.ts';
import { deliveriesView } from '../../../src/http/api/system/operation-routes.ts';
import { ApiKeys } from '../../../src/http/api/system/api-keys.ts';
import { ConsoleKey, SignInLinks } from '../../../src/http/session/console-key.ts';
import type { ModelFacts, ModelOrders } from '../../../src/http/api/settings/settings-orders.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { WebhookBook, WEBHOOKS_FILE } from '../../../src/records/webhooks/webhook-book.ts';
import { HOOK_SECRET, startApi } from '../../support/api-server.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { untilPasses } from '../../support/eventually.ts';
import { startReceiver } from '../../support/webhook-receiver.ts';

const folder = await temporaryFolder();
const receiver = await startReceiver(HOOK_SECRET);
const env = {
  OFFHOOK_DATA_DIR: folder.path,
  OFFHOOK_CONSOLE__OPENID__ISSUER: 'https://id.example',
  OFFHOOK_CONSOLE__OPENID__CLIENT_ID: 'console',
  OFFHOOK_CONSOLE__OPENID__ROLES: 'admins=admin, desk=operator',
};
const config = loadConfig({ env, files: [] });
const hook = {
  name: 'crm',
  url: `${receiver.url}?key=hidden`,
  events: [...WEBHOOK_EVENTS],
  secretEnv: 'HOOK',
  secret: new Secret(HOOK_SECRET),
  numbers: 'masked' as const,
  words: false,
  allowPrivate: true,
  tenantId: 'default',
};
const webhooks = new WebhookBook([hook], join(folder.path, WEBHOOKS_FILE));
const links = new SignInLinks(folder.path);
const sessionKey = ConsoleKey.ensure(folder.path);
const carriers = openCarriers({
  configs: config.carriers,
  dataDir: folder.path,
  gatewayUrl: () => 'http://127.0.0.1:1',
  clock: systemClock,
  logger: silentLogger,
});
const model = (name: string): ModelFacts => ({
  name,
  title: name,
  role: 'recognition',
  languages: ['en'],
  licence: 'MIT',
  licenceFrom: 'https://models.example/licence',
  note: undefined,
  bytes: undefined,
  isInstalled: false,
  usedFor: [],
  wordErrors: undefined,
  measured: undefined,
});
/** Ends the fetching of a model; a reason fails it. */
let endFetching: (reason?: Error) => void = () => undefined;
const getModel: NonNullable<ModelOrders['get']> = async (_name, { onProgress, signal }) => {
  onProgress({ step: 'download', done: 5, all: 10 });
  await new Promise<void>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
    endFetching = (reason) => (reason === undefined ? resolve() : reject(reason));
  });
};
const TRIAL = { wav: new Uint8Array([1, 2]), synthesizer: 'platform', recogniser: 'platform', firstAudioMs: 90, finalMs: 200 };
const { settings, keys } = settingsOrders({
  config,
  webhooks,
  keys: new ApiKeys(join(folder.path, 'api-keys.json')),
  carriers,
  console: { links, key: sessionKey },
  members: () => api.store.members,
  check: async () => [
    { name: 'twilio', ok: false, detail: 'https://a.example?key=hidden answers 401', advice: 'Set the token.', ms: 3 },
  ],
  models: { list: async () => [model('ear'), model('voice')], get: getModel },
  async trySpeech({ text }) {
    if (text === 'broken') throw new Error('no vendor answers');
    return text === 'busy' ? undefined : { ...TRIAL, heard: text };
  },
  clock: systemClock,
});
const api = await startApi({ transcribe: () => Promise.reject(new Error('unused')) }, { settings, keys });
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const { send } = api;
const keyWith = async (...scopes: string[]): Promise<string> =>
  newApiKeyView.parse(await (await send('POST', '/keys', { name: 'test', scopes })).json()).key ?? '';

it('makes an API key that is shown once, notes its use, and revokes it', async () => {
  const repeat = { 'idempotency-key': 'make-one' };
  const made = newApiKeyView.parse(
    await (await send('POST', '/keys', { name: 'crm', scopes: ['calls:read'] }, api.key, repeat)).json(),
  );
  expect(made).toMatchObject({ name: 'crm', tenant: 'default', scopes: ['calls:read'], lastUsedAt: null });
  const again = newApiKeyView.parse(
    await (await send('POST', '/keys', { name: 'crm', scopes: ['calls:read'] }, api.key, repeat)).json(),
  );
  expect(again).toEqual({ ...made, key: null });
  expect((await send('GET', '/calls', undefined, made.key ?? '')).status).toBe(200);
  const listed = apiKeysView.parse(await (await send('GET', '/keys')).json()).keys.find(({ id }) => id === made.id);
  expect(listed?.lastUsedAt).toMatch(/^\d{4}-/u);
  expect((await send('DELETE', `/keys/${made.id}`)).status).toBe(200);
  expect((await send('GET', '/calls', undefined, made.key ?? '')).status).toBe(401);
  expect((await send('DELETE', `/keys/${made.id}`)).status).toBe(404);
  const audited = await api.audit();
  expect(audited).toContain('"api-key.create"');
  expect(audited).toContain('"api-key.revoke"');
  expect(audited).not.toContain(made.key);
});

it('lets nobody make a key that may do more than they, or for another tenant', async () => {
  const makes = await keyWith('keys:write', 'calls:read');
  expect((await send('POST', '/keys', { name: 'more', scopes: ['audit:read'] }, makes)).status).toBe(403);
  expect((await send('POST', '/keys', { name: 'same', scopes: ['calls:read'] }, makes)).status).toBe(201);
  const foreign = { name: 'theirs', scopes: ['calls:read'], tenant: 'default' };
  expect((await send('POST', '/keys', foreign, api.otherKey)).status).toBe(403);
  expect((await send('GET', '/keys', undefined, await keyWith('calls:read'))).status).toBe(403);
  const theirs = apiKeysView.parse(await (await send('GET', '/keys', undefined, api.otherKey)).json()).keys;
  expect(new Set(theirs.map(({ tenant }) => tenant))).toEqual(new Set(['other']));
});

it('adds a webhook endpoint whose secret is shown once, in a file of its owner alone, and removes it', async () => {
  const wanted = { name: 'desk', url: 'https://hooks.example/offhook', events: ['call.ended'] };
  const added = newEndpointView.parse(await (await send('POST', '/webhooks/endpoints', wanted)).json());
  expect(added).toMatchObject({ name: 'desk', from: 'console', secret: expect.stringMatching(/^whsec_/u) });
  expect((await send('POST', '/webhooks/endpoints', wanted)).status).toBe(409);
  expect((await send('POST', '/webhooks/endpoints', { ...wanted, name: 'plain', url: 'http://hooks.example' })).status).toBe(400);
  const text = await (await send('GET', '/webhooks/endpoints')).text();
  expect(endpointsView.parse(JSON.parse(text)).events).toEqual(WEBHOOK_EVENTS);
  expect(text).not.toMatch(/whsec_|key=hidden/u);
  expect(endpointsView.parse(JSON.parse(text)).endpoints.map(({ name, from }) => [name, from])).toEqual([
    ['crm', 'settings'],
    ['desk', 'console'],
  ]);
  expect(webhooks.all.map(({ name }) => name)).toEqual(['crm', 'desk']);
  expect(new WebhookBook([], join(folder.path, WEBHOOKS_FILE)).all[0]?.secret.reveal()).toBe(added.secret);
  expect((await send('DELETE', '/webhooks/endpoints/crm')).status).toBe(409);
  expect((await send('DELETE', '/webhooks/endpoints/desk', undefined, api.otherKey)).status).toBe(404);
  expect((await send('DELETE', '/webhooks/endpoints/desk')).status).toBe(200);
  expect(readFileSync(join(folder.path, WEBHOOKS_FILE), 'utf8')).not.toContain('whsec_');
});

it('tests an endpoint with a signed event, and lists its deliveries', async () => {
  expect(testView.parse(await (await send('POST', '/webhooks/endpoints/crm/test')).json())).toEqual({
    ok: true,
    status: 204,
    problem: null,
  });
  expect(receiver.received.at(-1)?.body).toMatchObject({ type: 'webhook.test', data: { tenantId: 'default' } });
  const kept = { tenantId: 'default', callId: 'call_1', type: 'call.ended', body: {}, createdAtMs: 1 };
  await api.store.webhooks.add({ ...kept, id: 'msg_1', endpoint: 'crm' });
  await api.store.webhooks.add({ ...kept, id: 'msg_2', endpoint: 'another' });
  const { deliveries } = deliveriesView.parse(await (await send('GET', '/webhooks?endpoint=crm')).json());
  expect(deliveries.map(({ id }) => id)).toEqual(['msg_1']);
});

it('shows how people come in, and who is a member by the settings', async () => {
  const members = membersView.parse(await (await send('GET', '/members')).json());
  expect(members.ways).toEqual(['openid', 'link']);
  expect(members.openid?.roles).toContainEqual({ value: 'desk', role: 'operator' });
  expect(members.roles.find(({ role }) => role === 'operator')?.scopes).toContain('bots:write');
  expect(members.members).toContainEqual({
    id: null,
    name: 'desk',
    role: 'operator',
    setting: 'console.openid.roles',
    createdBy: null,
    createdAt: null,
  });
});

it('adds a person with a link that signs in once, changes their role, and removes them', async () => {
  const repeat = { 'idempotency-key': 'add-one' };
  const body = { name: 'anna@clinic.example', role: 'operator' };
  const added = newMemberView.parse(await (await send('POST', '/members', body, api.key, repeat)).json());
  expect(added.member).toMatchObject({ ...body, setting: null });
  expect(newMemberView.parse(await (await send('POST', '/members', body, api.key, repeat)).json()).path).toBeNull();
  const id = added.member.id ?? '';
  const code = added.path?.split('#code=')[1] ?? '';
  expect(links.use(code, Date.now())).toEqual({ ...body, member: id });
  expect((await send('POST', '/members', { name: 'ANNA@clinic.example', role: 'viewer' })).status).toBe(409);
  expect((await send('POST', '/members', { name: 'desk', role: 'viewer' })).status).toBe(409);
  const again = invitationView.parse(await (await send('POST', `/members/${id}/links`, {})).json());
  expect(links.use(again.path?.split('#code=')[1] ?? '', Date.now())).toMatchObject({ member: id });
  expect(memberView.parse(await (await send('PUT', `/members/${id}`, { role: 'viewer' })).json()).role).toBe('viewer');
  expect((await send('DELETE', `/members/${id}`)).status).toBe(200);
  expect((await send('DELETE', `/members/${id}`)).status).toBe(404);
  expect((await send('POST', `/members/${id}/links`, {})).status).toBe(404);
  const audited = await api.audit();
  for (const action of ['member.add', 'member.link', 'member.change', 'member.remove']) expect(audited).toContain(`"${action}"`);
  expect(audited).not.toContain(code);
});

it('lets nobody add, change or remove a person who may do more than they', async () => {
  const writes = await keyWith('settings:write');
  expect((await send('POST', '/members', { name: 'Eve', role: 'admin' }, writes)).status).toBe(403);
  expect((await send('POST', '/members', { name: 'Eve', role: 'viewer' }, await keyWith('settings:read'))).status).toBe(403);
  const { member } = newMemberView.parse(await (await send('POST', '/members', { name: 'Ravi', role: 'admin' })).json());
  expect((await send('DELETE', `/members/${member.id}`, undefined, writes)).status).toBe(403);
  expect((await send('POST', `/members/${member.id}/links`, {}, writes)).status).toBe(403);
  // The issuer's admins are there: members need none.
  expect((await send('DELETE', `/members/${member.id}`)).status).toBe(200);
});

it('shows carriers, numbers and speech, and runs checks, to the operator alone', async () => {
  const shown = carriersView.parse(await (await send('GET', '/carriers')).json());
  expect(shown.carriers.find(({ name }) => name === 'twilio')).toMatchObject({ state: 'local', hasControl: false });
  expect(shown.hasChecks).toBe(true);
  const speech = speechView.parse(await (await send('GET', '/speech')).json());
  expect(speech.vendors.length).toBeGreaterThan(0);
  expect(speech.vendors.every(({ isConfigured }) => !isConfigured)).toBe(true);
  const { checks } = checksView.parse(await (await send('POST', '/checks', {})).json());
  expect(checks[0]).toEqual({
    name: 'twilio',
    ok: false,
    detail: 'https://a.example?[hidden] answers 401',
    advice: 'Set the token.',
    ms: 3,
  });
  for (const path of ['/members', '/carriers', '/speech'])
    expect((await send('GET', path, undefined, api.otherKey)).status).toBe(403);
  expect((await send('POST', '/checks', {}, api.otherKey)).status).toBe(403);
  expect((await send('POST', '/checks', {}, await keyWith('settings:read'))).status).toBe(403);
});

it('fetches one model at a time, tells how far it is, cancels it, and says why it failed', async () => {
  const job = async (method = 'GET', path = '/speech/models/job') =>
    modelJobView.parse(await (await send(method, path)).json()).job;
  expect(await job()).toBeNull();
  expect((await send('DELETE', '/speech/models/job')).status).toBe(409);
  expect((await send('POST', '/speech/models/none/get')).status).toBe(404);
  expect(await job('POST', '/speech/models/ear/get')).toMatchObject({ model: 'ear', state: 'running', done: 5, all: 10 });
  const other = await send('POST', '/speech/models/voice/get');
  expect([other.status, await other.text()]).toEqual([409, expect.stringContaining('ear is being fetched')]);
  await job('DELETE');
  expect(await job()).toMatchObject({ state: 'cancelled', problem: null, endedAt: expect.any(String) });
  await job('POST', '/speech/models/voice/get');
  endFetching(new Error('models.example cannot be reached'));
  await untilPasses(async () =>
    expect(await job()).toMatchObject({ model: 'voice', state: 'failed', problem: 'models.example cannot be reached' }),
  );
  await job('POST', '/speech/models/ear/get');
  endFetching();
  await untilPasses(async () => expect(await job()).toMatchObject({ model: 'ear', state: 'done' }));
  const reads = await keyWith('settings:read');
  expect((await send('POST', '/speech/models/ear/get', undefined, reads)).status).toBe(403);
  expect((await send('GET', '/speech/models/job', undefined, api.otherKey)).status).toBe(403);
  expect(await api.audit()).toMatch(/"model\.get","subject":"ear".*"model\.cancel","subject":"ear"/su);
});

it('tries a sentence with the speech in use, to the operator alone', async () => {
  const asked = { text: 'Good day.', language: 'en' };
  const trial = speechTrialView.parse(await (await send('POST', '/speech/try', asked)).json());
  expect(trial).toEqual({ ...TRIAL, wav: 'AQI=', heard: 'Good day.' });
  expect((await send('POST', '/speech/try', { ...asked, text: 'busy' })).status).toBe(409);
  const failed = await send('POST', '/speech/try', { ...asked, text: 'broken' });
  expect([failed.status, await failed.text()]).toEqual([502, expect.stringContaining('Speech failed: no vendor answers')]);
  expect((await send('POST', '/speech/try', { ...asked, language: 'English' })).status).toBe(400);
  expect((await send('POST', '/speech/try', asked, api.otherKey)).status).toBe(403);
});

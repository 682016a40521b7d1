import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadBots } from '../../../src/config/bot-files.ts';
import { BotFolder } from '../../../src/hosts/bot-orders.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { API_KEYS_FILE, API_SCOPES, ApiKeys } from '../../../src/http/api/system/api-keys.ts';
import { CALL_BACKS } from '../../../src/records/queue/port.ts';
import type { SimulatedCall } from '../../../src/sim/twilio/carrier.ts';
import { describedRoutes } from '../../support/api-routes.ts';
import { yesToEach } from '../../support/attempt-records.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { type GatewayBench, startGatewayBench } from '../hosts/gateway-bench.ts';

/** What only the first tenant's objects hold: no answer to another tenant may have any of it. */
const NUMBER = '+12127365001';
const STORED = 'call_mine_stored';
const ATTEMPT = 'call_mine_attempt';
const DELIVERY = 'msg_mine';
const ABSENT = 'call_absent';
const RUN = '20260101-090000-abcdef';
const CONSENT = {
  level: 'written',
  purposes: ['promotional'],
  givenAt: '2026-01-01T00:00:00Z',
  evidence: 'form 17',
  evidenceKind: 'form',
  evidenceSource: 'web shop',
};

const ACME_ADDRESS = 'https://voice.acme.example';
const ACME_TOKEN = 'the token of acme';
const TENANTS = `tenants:
  - id: acme
    publicUrl: ${ACME_ADDRESS}/
    calls: 2
    carriers:
      twilio: { secrets: { authToken: ACME_TWILIO_TOKEN } }
`;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let bench: GatewayBench;
let mine: string;
let theirs: string;
let live: SimulatedCall;
let ids: { readonly live: string; readonly campaign: string; readonly submission: string; readonly chat: string };

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function ask(method: string, path: string, key: string, body?: unknown): Promise<Answer> {
  const headers: Record<string, string> = { authorization: `Bearer ${key}` };
  if (body !== undefined) headers['content-type'] = 'application/json';
  const answer = await fetch(`${bench.gateway.url}/api${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  // Of this request alone.
  return { status: answer.status, text: (await answer.text()).replace(/"requestId":"[^"]*"/u, '') };
}

async function made(path: string, body: unknown): Promise<string> {
  const { status, text } = await ask('POST', path, mine, body);
  expect(status, text).toBeLessThan(300);
  return (JSON.parse(text) as { id?: string }).id ?? '';
}

/** The keys are read from their file at each request. */
function keyOf(tenantId: string): string {
  return new ApiKeys(join(bench.dataDir, API_KEYS_FILE)).create({ name: tenantId, tenantId, scopes: [...API_SCOPES] }, 0).secret;
}

beforeAll(async () => {
  folder = await temporaryFolder();
  const file = join(folder.path, 'tenants.yaml');
  writeFileSync(file, TENANTS);
  bench = await startGatewayBench({
    env: {
      OFFHOOK_TENANTS__FILE: file,
      ACME_TWILIO_TOKEN: ACME_TOKEN,
      OFFHOOK_DIALLING__CALLER_IDS: '+12125550100',
      OFFHOOK_CALL__KEEP_FIXTURES: '*',
    },
    otherBots: { brand: 'tenant: acme\ndefault: true' },
    botFiles: new BotFolder(async (draft) => loadBots(join(bench.dataDir, 'bots'), {}, draft), systemClock),
    settings: { check: async () => [], models: { list: async () => [], get: async () => undefined } },
  });
  mine = keyOf('default');
  theirs = keyOf('acme');
  live = await bench.dial();
  const { store, queue } = bench.gateway.backlog;
  await store.calls.upsert(callRecordOf({ id: STORED, botName: 'echo', from: NUMBER, startedAtMs: Date.now() - 60_000 }));
  await store.webhooks.add({
    tenantId: 'default',
    id: DELIVERY,
    callId: STORED,
    endpoint: 'crm',
    type: 'call.ended',
    body: {},
    createdAtMs: 1,
  });
  await store.reviews.comment('default', STORED, { id: 'cmt_mine', by: 'mine', atMs: 1, text: 'Mine to keep' });
  const lease = { owner: 'nobody', untilMs: Date.now() + 3_600_000 };
  await store.attempts.decide(
    'default',
    { numbers: [NUMBER], campaignId: undefined, sinceMs: 0, lease },
    yesToEach('default', () => ATTEMPT, { placeByMs: Date.now() + 3_600_000 }),
  );
  await queue.enqueue(CALL_BACKS, 'job_mine', { tenantId: 'default', callId: 'call_gone' });
  await eventually('a failed job', async () => (await queue.failed(CALL_BACKS, { limit: 1 })).length > 0);
  await made('/suppressions', { number: NUMBER });
  await made('/consents', { number: NUMBER, ...CONSENT });
  const campaign = await made('/campaigns', { name: 'Mine', bot: 'echo', from: '+12125550100', profile: 'none' });
  await made(`/campaigns/${campaign}/contacts`, { contacts: [{ number: NUMBER }] });
  const submission = await made('/analyses', { items: [{ url: 'https://127.0.0.1:9/a.wav', name: 'mine' }] });
  const chat = await made('/bots/echo/chats', {});
  ids = { live: bench.sessionOf(live).id, campaign, submission, chat };
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** Id of the first tenant's key. */
function myKeyId(): string {
  const keys = new ApiKeys(join(bench.dataDir, API_KEYS_FILE)).list();
  return keys.find(({ tenantId }) => tenantId === 'default')?.id ?? '';
}

/** One request of the other tenant, about the first one's object where the route names one. */
interface Case {
  readonly path: string;
  readonly body?: unknown;
  /** Of the answer. 404 for an object, 200 for a list, unless the tenant is refused before either is looked for. */
  readonly status?: number;
  /** The same request about an object that nobody has: its answer has to be the same. */
  readonly absent?: string;
}

const of = (path: string, id: string, body?: unknown, status = 404): Case => ({
  path: path.replace('*', id),
  absent: path.replace('*', id.startsWith('call_') ? ABSENT : `${id.slice(0, -2)}zz`),
  status,
  ...(body === undefined ? {} : { body }),
});
const list = (path: string): Case => ({ path, status: 200 });
const refused = (path: string, status: number, body?: unknown): Case => ({ path, status, body });

/** Every route of the API. One that is new is to be added here. */
function cases(): Record<string, Case> {
  const { campaign, submission, chat } = ids;
  const call = (path: string, body?: unknown, status?: number): Case => of(path, STORED, body, status);
  const liveCall = (act: string, body: unknown = {}): Case => of(`/live-calls/*/${act}`, ids.live, body);
  const ofCampaign = (path: string, body?: unknown): Case => of(`/campaigns/*${path}`, campaign, body);
  const submitted = (path: string, body?: unknown): Case => of(`/analyses/*${path}`, submission, body);
  return {
    // Before its own looks, which name what it asked for.
    'GET /audit': list('/audit'),
    'GET /calls': list('/calls'),
    'GET /calls/count': list('/calls/count'),
    'GET /calls/export': list('/calls/export?format=csv'),
    'GET /calls/{callId}': call('/calls/*'),
    'POST /calls': refused('/calls', 422, { to: '+12127365009', bot: 'echo' }),
    'GET /attempts': list('/attempts'),
    'GET /attempts/{attemptId}': of('/attempts/*', ATTEMPT),
    'POST /attempts/{attemptId}/cancel': of('/attempts/*/cancel', ATTEMPT, {}),
    'GET /attempts/{attemptId}/decision': of('/attempts/*/decision', ATTEMPT),
    'GET /calls/{callId}/audio': call('/calls/*/audio'),
    'GET /calls/{callId}/peaks': call('/calls/*/peaks'),
    'GET /calls/{callId}/voicemails/{turn}/audio': call('/calls/*/voicemails/0/audio'),
    'GET /calls/{callId}/webhooks': call('/calls/*/webhooks', undefined, 200),
    'POST /webhooks/{id}/send': of('/webhooks/*/send', DELIVERY, {}),
    'GET /calls/{callId}/fixture': call('/calls/*/fixture'),
    'GET /calls/{callId}/fixture/file': call('/calls/*/fixture/file'),
    'POST /calls/{callId}/replay': call('/calls/*/replay', {}),
    'POST /calls/{callId}/hold': call('/calls/*/hold', { on: true }),
    'GET /statistics': list('/statistics?by=hour,version,bot,change,disposition&bot=echo'),
    'GET /reviews': list('/reviews'),
    'GET /reviews/count': list('/reviews/count'),
    'GET /calls/{callId}/review': call('/calls/*/review'),
    'POST /calls/{callId}/review': call('/calls/*/review', { state: 'done', labels: ['theirs'] }),
    'POST /calls/{callId}/comments': call('/calls/*/comments', { text: 'theirs' }),
    'DELETE /calls/{callId}/comments/{commentId}': call('/calls/*/comments/cmt_mine'),
    'GET /calls/{callId}/analyses': call('/calls/*/analyses', undefined, 200),
    'POST /calls/{callId}/analyses': call('/calls/*/analyses', { profile: 'default' }),
    'GET /analyses': list('/analyses'),
    'POST /analyses': refused('/analyses', 202, { items: [{ url: 'https://127.0.0.1:9/b.wav', name: 'theirs' }] }),
    'GET /analyses/submitted': list('/analyses/submitted'),
    'GET /analyses/{id}': submitted(''),
    'GET /analyses/{id}/items/{index}': submitted('/items/0'),
    'GET /analyses/{id}/results': submitted('/results'),
    'POST /analyses/{id}/retry': submitted('/retry', {}),
    'POST /analyses/{id}/cancel': submitted('/cancel', {}),
    'DELETE /analyses/{id}': submitted(''),
    'GET /live-calls': list('/live-calls'),
    // A WebSocket, which tells what `GET /live-calls` does (test/unit/http/live-watch.test.ts).
    'GET /watch': refused('/watch', 426),
    'GET /live-calls/{callId}/audio': { path: `/live-calls/${ids.live}/audio`, status: 426 },
    'POST /live-calls/{callId}/say': liveCall('say', { text: 'hello' }),
    'POST /live-calls/{callId}/whisper': liveCall('whisper', { text: 'hello' }),
    'POST /live-calls/{callId}/mute': liveCall('mute'),
    'POST /live-calls/{callId}/transfer': liveCall('transfer', { to: '+15550100' }),
    'POST /live-calls/{callId}/hang-up': liveCall('hang-up'),
    'POST /live-calls/listen': refused('/live-calls/listen', 403, { carrier: 'twilio', bot: 'brand', call: live.callSid }),
    'POST /browser-calls': refused('/browser-calls', 422, { bot: 'echo' }),
    'GET /suppressions': list('/suppressions'),
    'GET /suppressions/lists': list('/suppressions/lists'),
    'POST /suppressions': refused('/suppressions', 200, { number: '+12127365002' }),
    'DELETE /suppressions': {
      path: `/suppressions?number=${encodeURIComponent(NUMBER)}`,
      absent: `/suppressions?number=${encodeURIComponent('+12127365004')}`,
      status: 404,
    },
    'GET /consents': list('/consents'),
    'POST /consents': refused('/consents', 200, { number: '+12127365002', ...CONSENT }),
    'POST /consents/withdraw': refused('/consents/withdraw', 404, { number: NUMBER }),
    'GET /dial-decisions/verify': list('/dial-decisions/verify'),
    'POST /erasures': refused('/erasures', 200, { number: NUMBER }),
    'GET /campaigns': list('/campaigns'),
    'POST /campaigns': refused('/campaigns', 201, { name: 'Theirs', bot: 'brand', from: '+12125550101', profile: 'none' }),
    'GET /campaigns/choices': list('/campaigns/choices'),
    'GET /campaigns/{id}': ofCampaign(''),
    'POST /campaigns/{id}/contacts': ofCampaign('/contacts', { contacts: [{ number: '+12127365003' }] }),
    'POST /campaigns/{id}/start': ofCampaign('/start', {}),
    'POST /campaigns/{id}/pause': ofCampaign('/pause', {}),
    'POST /campaigns/{id}/resume': ofCampaign('/resume', {}),
    'POST /campaigns/{id}/stop': ofCampaign('/stop', {}),
    'GET /campaigns/{id}/contacts': ofCampaign('/contacts'),
    'GET /campaigns/{id}/attempts': ofCampaign('/attempts'),
    'GET /campaigns/{id}/progress': ofCampaign('/progress'),
    'GET /campaigns/{id}/hours': ofCampaign('/hours'),
    'GET /campaigns/{id}/results': ofCampaign('/results'),
    'GET /campaigns/{id}/report': ofCampaign('/report'),
    'DELETE /campaigns/{id}': ofCampaign(''),
    'GET /bots': list('/bots'),
    'GET /evals/runs': list('/evals/runs'),
    'GET /evals/runs/{id}': { path: `/evals/runs/${RUN}`, status: 404 },
    'GET /evals/runs/{id}/sounds/{name}': { path: `/evals/runs/${RUN}/sounds/1.wav`, status: 404 },
    'GET /bots/{name}': of('/bots/*', 'echo'),
    'GET /bots/{name}/paths': of('/bots/*/paths', 'echo'),
    'GET /alerts': refused('/alerts', 403),
    'POST /alerts/test': refused('/alerts/test', 403, { channel: 'ops' }),
    'GET /costs': list('/costs?by=bot'),
    'GET /prices': refused('/prices', 403),
    'GET /bots/{name}/source': of('/bots/*/source', 'echo'),
    'POST /bots/{name}/check': of('/bots/*/check', 'echo', { text: 'name: echo' }),
    'GET /bots/{name}/versions': of('/bots/*/versions', 'echo'),
    'POST /bots/{name}/versions': of('/bots/*/versions', 'echo', { text: 'name: echo', base: '0123456789ab' }),
    'POST /bots/{name}/rollback': of('/bots/*/rollback', 'echo', { version: 1 }),
    'PUT /bots/{name}/share': of('/bots/*/share', 'echo', { version: 1, percent: 5 }),
    'GET /bots/{name}/evals': of('/bots/*/evals', 'echo'),
    'POST /bots/{name}/evals': of('/bots/*/evals', 'echo', {}),
    'DELETE /bots/{name}/evals': of('/bots/*/evals', 'echo'),
    'GET /keys': list('/keys'),
    'POST /keys': refused('/keys', 403, { name: 'theirs', scopes: ['calls:read'], tenant: 'default' }),
    'DELETE /keys/{id}': of('/keys/*', myKeyId()),
    'GET /webhooks/endpoints': list('/webhooks/endpoints'),
    'POST /webhooks/endpoints': refused('/webhooks/endpoints', 400, {
      name: 'theirs',
      url: 'http://a.example',
      events: ['call.ended'],
    }),
    'DELETE /webhooks/endpoints/{name}': of('/webhooks/endpoints/*', 'crm'),
    'POST /webhooks/endpoints/{name}/test': of('/webhooks/endpoints/*/test', 'crm', undefined),
    'GET /webhooks': list('/webhooks'),
    'GET /members': refused('/members', 403),
    'POST /members': refused('/members', 403, { name: 'Eve', role: 'admin' }),
    'PUT /members/{id}': refused('/members/mem_1', 403, { role: 'admin' }),
    'DELETE /members/{id}': refused('/members/mem_1', 403),
    'POST /members/{id}/links': refused('/members/mem_1/links', 403, {}),
    'GET /carriers': refused('/carriers', 403),
    'GET /speech': refused('/speech', 403),
    'POST /checks': refused('/checks', 403, {}),
    'GET /speech/models/job': refused('/speech/models/job', 403),
    'POST /speech/models/{name}/get': refused('/speech/models/ear/get', 403, {}),
    'DELETE /speech/models/job': refused('/speech/models/job', 403),
    'POST /speech/try': refused('/speech/try', 403, { text: 'Good day.', language: 'en' }),
    'POST /bots/{name}/chats': of('/bots/*/chats', 'echo', {}),
    'POST /bot-chats/{chatId}/turns': of('/bot-chats/*/turns', chat, { text: 'alpha' }),
    'DELETE /bot-chats/{chatId}': of('/bot-chats/*', chat, undefined, 200),
    'GET /system': refused('/system', 403),
    'POST /system/drain': refused('/system/drain', 403, {}),
    'DELETE /system/drain': refused('/system/drain', 403),
    'GET /jobs/{queue}/failed': list(`/jobs/${CALL_BACKS}/failed`),
    'POST /jobs/{queue}/retry': of(`/jobs/${CALL_BACKS}/retry`, 'job_mine', { id: 'job_mine' }),
  };
}

/** What the first tenant has, as its own key reads it. */
async function holdings(): Promise<Record<string, Answer>> {
  const { campaign } = ids;
  const paths = [
    '/calls',
    `/calls/${STORED}`,
    `/calls/${STORED}/webhooks`,
    `/calls/${STORED}/review`,
    `/attempts/${ATTEMPT}`,
    '/suppressions',
    '/consents',
    '/campaigns',
    `/campaigns/${campaign}`,
    `/campaigns/${campaign}/contacts`,
    `/jobs/${CALL_BACKS}/failed`,
  ];
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await ask('GET', path, mine)] as const)));
}

it("answers another tenant's key on every route as if nothing of the first tenant existed, and changes nothing", async () => {
  const routes = (await describedRoutes()).map(({ route }) => route);
  const table = cases();
  expect(Object.keys(table).sort(), 'a row of this test for every route').toEqual(routes.sort());

  const before = await holdings();
  expect(Object.entries(before).filter(([, { status }]) => status !== 200)).toEqual([]);
  const secrets = [
    NUMBER,
    NUMBER.slice(1),
    STORED,
    ATTEMPT,
    DELIVERY,
    'job_mine',
    'echo',
    'Mine',
    live.callSid,
    ...Object.values(ids),
  ];
  const wrong: unknown[] = [];
  for (const [index, [route, { path, body, status, absent }]] of Object.entries(table).entries()) {
    // A key may ask so often a minute.
    if (index % 20 === 0) theirs = keyOf('acme');
    const method = route.split(' ', 1)[0] ?? '';
    const answer = await ask(method, path, theirs, body);
    const nobodys = absent === undefined ? answer : await ask(method, absent, theirs, body);
    // What the request itself named may come back.
    const asked = JSON.stringify([path, decodeURIComponent(path), body]);
    const told = secrets.filter((secret) => !asked.includes(secret) && answer.text.includes(secret));
    const same = answer.status === nobodys.status && answer.text === nobodys.text;
    if (answer.status !== status || told.length > 0 || !same) wrong.push({ route, expected: status, ...answer, told, nobodys });
  }
  expect(wrong).toEqual([]);
  expect(await holdings()).toEqual(before);
  // The worker tries it meanwhile, so that it is not the same.
  expect((await ask('GET', `/analyses/${ids.submission}`, mine)).status).toBe(200);
  expect(bench.sessionOf(live).standing.muted).toBe(false);
  expect((await ask('POST', `/bot-chats/${ids.chat}/turns`, mine, { silence: true })).status).toBe(200);
});

it("gives a call, its record and its news to the tenant of the bot that answers, and to no other's key", async () => {
  const call = await bench.dial(undefined, { bot: 'brand' });
  const session = bench.sessionOf(call);
  expect(session.identity.tenantId).toBe('acme');
  expect((await ask('GET', '/live-calls', theirs)).text).toContain(session.id);
  expect((await ask('GET', '/live-calls', mine)).text).not.toContain(session.id);
  await call.hangUp();
  await session.ended;
  await eventually('the record', async () => (await ask('GET', `/calls/${session.id}`, theirs)).status === 200);
  expect((await ask('GET', `/calls/${session.id}`, mine)).status).toBe(404);
  await live.hangUp();
});

/** A webhook of Twilio for one address, as whoever has this token signs it. */
async function webhook(path: string, token: string, fields: object = {}, address = ACME_ADDRESS): Promise<Answer> {
  const form = { CallSid: `CA${'5'.repeat(32)}`, From: NUMBER, To: '+12125550101', Direction: 'inbound', ...fields };
  const signature = getExpectedTwilioSignature(token, address + path, form);
  const answer = await fetch(bench.gateway.url + path, {
    method: 'POST',
    headers: { 'x-twilio-signature': signature },
    body: new URLSearchParams(form),
  });
  return { status: answer.status, text: await answer.text() };
}

const VOICE = '/tenants/acme/carriers/twilio/voice';

it("takes a tenant's calls at its own address, believes its own secret alone, and answers with that address", async () => {
  const { status, text } = await webhook(VOICE, ACME_TOKEN);
  expect(status).toBe(200);
  expect(text).toContain('<Stream url="wss://voice.acme.example/tenants/acme/carriers/twilio/stream/');
  expect(text).toContain('https://voice.acme.example/tenants/acme/carriers/twilio/next/');
  const begun = bench.gateway.calls.calls.find(({ identity }) => identity.inbound.carrier === 'twilio@acme');
  expect(begun?.identity).toMatchObject({ tenantId: 'acme', bot: { name: 'brand' } });
  expect((await webhook(VOICE, bench.authToken)).status).toBe(403);
  expect((await webhook('/carriers/twilio/voice', ACME_TOKEN, {}, bench.gateway.url)).status).toBe(403);
  expect((await webhook(VOICE, ACME_TOKEN, {}, bench.gateway.url)).status).toBe(403);
});

it("lets no account of a tenant reach another tenant's bot or live call, and no tenant take more places than its own", async () => {
  expect((await webhook(`${VOICE}/echo`, ACME_TOKEN, { CallSid: `CA${'6'.repeat(32)}` })).text).not.toContain('<Stream');
  const call = await bench.dial();
  const session = bench.sessionOf(call);
  const { text } = await webhook(VOICE, ACME_TOKEN, { CallSid: call.callSid });
  expect(text).toContain('<Stream');
  expect(text).not.toContain(session.id);
  const status = { CallSid: call.callSid, CallStatus: 'completed' };
  expect((await webhook('/tenants/acme/carriers/twilio/status', ACME_TOKEN, status)).status).toBe(204);
  expect(bench.gateway.calls.calls).toContain(session);
  // Two of its calls wait for their media.
  expect((await webhook(VOICE, ACME_TOKEN, { CallSid: `CA${'7'.repeat(32)}` })).text).not.toContain('<Stream');
  expect(bench.gateway.calls.calls.filter(({ identity }) => identity.tenantId === 'acme')).toHaveLength(2);
  await call.hangUp();
});

it("lets no report of a tenant's account end another's call whose id here it knows, nor one about another call of the same account", async () => {
  const call = await bench.dial();
  const session = bench.sessionOf(call);
  const other = `CA${'8'.repeat(32)}`;
  const told = { CallStatus: 'completed', AnsweredBy: 'machine_start' };
  for (const CallSid of [call.callSid, other]) {
    const path = `/tenants/acme/carriers/twilio/status/${session.id}`;
    expect((await webhook(path, ACME_TOKEN, { ...told, CallSid })).status).toBe(204);
    const next = await webhook(`/tenants/acme/carriers/twilio/next/${session.id}`, ACME_TOKEN, { CallSid });
    expect(next.text).not.toContain('<Stream');
  }
  const own = `/carriers/twilio/status/${session.id}`;
  expect((await webhook(own, bench.authToken, { ...told, CallSid: other }, bench.gateway.url)).status).toBe(204);
  expect(bench.gateway.calls.calls).toContain(session);
  expect(session.attached).toBe(true);
  expect((await webhook(own, bench.authToken, { ...told, CallSid: call.callSid }, bench.gateway.url)).status).toBe(204);
  await session.ended;
});

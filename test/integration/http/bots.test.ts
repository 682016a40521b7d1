import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { loadBots } from '../../../src/config/bot-files.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { BotFolder, botOrders } from '../../../src/hosts/bot-orders.ts';
import { botListView, botPathsView, botView } from '../../../src/http/api/bots/bot-views.ts';
import { botChatView } from '../../../src/http/api/bots/bot-chat-routes.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { startApi } from '../../support/api-server.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { temporaryFolder } from '../../support/databases.ts';

const FLOW = `start: greet
slots: { day: { kind: day } }
states:
  greet: { say: Clinic., ask: { slot: day, prompt: Which day? }, next: bye }
  bye: { say: Goodbye., transfer: "+15550100123" }
`;
const CLINIC = 'name: clinic\nnumbers: ["+15550100001"]\nvoice: anna\ndialog: { kind: flow, file: flows/clinic.yaml }\n';
const AGENT = `name: agent
voice: anna
dialog:
  kind: llm
  baseUrl: https://me:secret@models.example/v1?key=hidden
  model: small
  instructions: Help.
`;

const files = await temporaryFolder();
mkdirSync(join(files.path, 'flows'));
writeFileSync(join(files.path, 'clinic.yaml'), CLINIC);
writeFileSync(join(files.path, 'flows/clinic.yaml'), FLOW);
writeFileSync(join(files.path, 'z-agent.yaml'), AGENT);
const read = () => loadBots(files.path);
const inUse = read().bots;
const clock = new ManualClock();
const folder = new BotFolder(async () => read(), clock);
const orders = botOrders({
  bots: () => inUse,
  folder,
  settings: loadConfig({ env: {}, files: [] }).settings,
  clock: systemClock,
});
orders.learn();
const api = await startApi({ transcribe: () => Promise.reject(new Error('unused')) }, { bots: orders });
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await files[Symbol.asyncDispose]();
});

const send = async (method: string, path: string, body?: object, key = api.key): Promise<Response> =>
  fetch(`${api.url}/api${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const ask = (path: string, key = api.key): Promise<Response> =>
  fetch(`${api.url}/api${path}`, { headers: { authorization: `Bearer ${key}` } });

it('lists the bots that new calls get, with their kind, languages, greeting and version', async () => {
  const { bots, problems } = botListView.parse(await (await ask('/bots')).json());
  expect(problems).toEqual([]);
  expect(bots).toMatchObject([
    { name: 'clinic', kind: 'flow', language: 'en', greeting: 'Clinic. Which day?', numbers: ['+15550100001'], problems: [] },
    { name: 'agent', kind: 'llm', greeting: null, newVersion: null },
  ]);
  expect(bots[0]?.version).toBe(inUse[0]?.version);
});

it('shows a flow as a graph, and settings without what an address carries', async () => {
  const clinic = botView.parse(await (await ask('/bots/clinic')).json());
  expect(clinic.graph?.edges).toEqual([{ from: 'greet', to: 'bye', when: [{ kind: 'next' }] }]);
  expect(clinic.settings).toContainEqual({ key: 'endpointingMs', value: '600' });
  const agent = await (await ask('/bots/agent')).text();
  expect(agent).toContain('https://[hidden]@models.example/v1?[hidden]');
  expect(agent).not.toMatch(/secret@|key=hidden/u);
  expect((await ask('/bots/nobody')).status).toBe(404);
});

it('masks numbers for who may not see them', async () => {
  const { secret } = api.keys.create({ name: 'v', tenantId: 'default', scopes: ['bots:read'] }, 0);
  const text = await (await ask('/bots/clinic', secret)).text();
  expect(text).not.toContain('+15550100001');
  expect(text).not.toContain('+15550100123');
});

it('says where a file that was changed has a problem, and what is accepted, while calls keep the bot', async () => {
  writeFileSync(join(files.path, 'clinic.yaml'), `${CLINIC}endpointingMs: soon\n`);
  clock.advance(10_000);
  const { bots } = botListView.parse(await (await ask('/bots')).json());
  expect(bots[0]).toMatchObject({ name: 'clinic', newVersion: null });
  expect(bots[0]?.problems).toMatchObject([
    { key: 'endpointingMs', file: 'clinic.yaml', line: 5, column: 1, value: '"soon"', severity: 'error' },
  ]);
  expect(bots[0]?.problems[0]?.excerpt.map(({ text }) => text)).toContain('endpointingMs: soon');
  folder.reloaded(['endpointingMs: no']);
  expect(botView.parse(await (await ask('/bots/clinic')).json()).lastReload?.problems).toEqual(['endpointingMs: no']);
  writeFileSync(join(files.path, 'clinic.yaml'), CLINIC.replace('anna', 'bella'));
  clock.advance(10_000);
  const [changed] = botListView.parse(await (await ask('/bots')).json()).bots;
  expect(changed?.problems).toEqual([]);
  expect(changed?.newVersion).toMatch(/^[0-9a-f]{12}$/u);
  expect(changed?.newVersion).not.toBe(changed?.version);
});

it('counts where calls went, and how they ended', async () => {
  const startedAtMs = Date.now() - 60_000;
  const turn = { callerText: '', botText: '', botHeardText: '', interrupted: false, startedAtMs };
  const call = (id: string, endReason: string, steps: string[], total: number) =>
    callRecordOf({
      id,
      startedAtMs,
      endedAtMs: startedAtMs + 9_000,
      endReason,
      botVersion: '0123456789ab',
      turns: [
        { ...turn, index: 0, inputKind: 'start', latencies: {}, steps: ['greet'] },
        { ...turn, index: 1, inputKind: 'spoken', latencies: { total }, steps },
      ],
    });
  await api.store.calls.upsertMany([
    call('one', 'transferred', ['bye'], 700),
    call('two', 'caller-hangup', [], 900),
    call('three', 'caller-hangup', [], 1_100),
  ]);
  const paths = botPathsView.parse(await (await ask('/bots/clinic/paths')).json());
  expect(paths).toMatchObject({ calls: 3, more: false, version: null });
  expect(paths.hops).toContainEqual({ from: 'greet', to: 'bye', times: 1, calls: 1 });
  expect(paths.ends).toEqual([
    { step: 'greet', ending: 'hung-up', endReason: 'caller-hangup', calls: 2, examples: ['two', 'three'] },
    { step: 'bye', ending: 'transferred', endReason: 'transferred', calls: 1, examples: ['one'] },
  ]);
  expect((await ask('/bots/clinic/paths?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z')).status).toBe(400);
  expect((await ask('/bots/nobody/paths')).status).toBe(404);
});

it('chats with a bot: what it says, the step it stands at, its slots, and the end', async () => {
  const begun = await send('POST', '/bots/clinic/chats', {});
  expect(begun.status).toBe(201);
  const first = botChatView.parse(await begun.json());
  expect(first).toMatchObject({ bot: 'clinic', step: 'greet', endReason: null, keysOnly: false });
  expect(first.events).toContainEqual({ type: 'says', text: 'Which day?' });
  const turns = `/bot-chats/${first.id}/turns`;
  expect((await send('POST', turns, { text: 'Tuesday' }, api.otherKey)).status).toBe(404);
  expect((await send('POST', turns, { keys: '1' })).status).toBe(400);
  const silent = botChatView.parse(await (await send('POST', turns, { silence: true })).json());
  expect(silent).toMatchObject({ step: 'greet', endReason: null });
  const last = botChatView.parse(await (await send('POST', turns, { text: 'Tuesday' })).json());
  expect(last).toMatchObject({ step: 'bye', endReason: 'transferred' });
  expect(last.slots['day']).toMatch(/^\d{4}-\d{2}-\d{2}$/u);
  expect(last.events).toContainEqual({ type: 'step', text: 'bye' });
  expect((await send('POST', turns, { text: 'hello' })).status).toBe(404);
});

it('lets one person have three chats, whose oldest one ends when they begin another', async () => {
  const ids: string[] = [];
  for (let count = 0; count < 4; count += 1)
    ids.push(botChatView.parse(await (await send('POST', '/bots/clinic/chats', {})).json()).id);
  const ended = await Promise.all(ids.map(async (id) => (await send('DELETE', `/bot-chats/${id}`)).json()));
  expect(ended).toEqual([{ ended: false }, { ended: true }, { ended: true }, { ended: true }]);
});

it('chats only with who may talk to bots', async () => {
  const { secret } = api.keys.create({ name: 'looks', tenantId: 'default', scopes: ['bots:read'] }, 0);
  expect((await send('POST', '/bots/clinic/chats', {}, secret)).status).toBe(403);
});

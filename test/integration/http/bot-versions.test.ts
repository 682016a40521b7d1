import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { loadBots } from '../../../src/config/bot-files.ts';
import type { Bot } from '../../../src/config/bots.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { BotFolder, botOrders } from '../../../src/hosts/bot-orders.ts';
import { botChatView } from '../../../src/http/api/bots/bot-chat-routes.ts';
import { botEvalView } from '../../../src/http/api/bots/bot-eval-routes.ts';
import { evalListView, evalRunView } from '../../../src/http/api/evals/eval-routes.ts';
import { botSourceView, botVersionsView, draftView, publishedView } from '../../../src/http/api/bots/bot-views.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { EvalRuns } from '../../../src/rehearsal/evals/eval-runs.ts';
import { startApi } from '../../support/api-server.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';

const DESK = `# The desk of the clinic.
name: desk
voice: anna
dialog:
  kind: flow
  server: { url: 'https://me:pass@hooks.example/desk?key=hidden' }
  flow:
    start: greet
    slots: { day: { kind: day } }
    states:
      greet: { say: Welcome., ask: { slot: day, prompt: Which day? }, next: bye }
      bye: { say: Goodbye., hangup: done }
`;
const files = await temporaryFolder();
const botsFolder = join(files.path, 'bots');
mkdirSync(botsFolder);
const file = join(botsFolder, 'desk.yaml');
writeFileSync(file, DESK);
writeFileSync(join(botsFolder, 'kept.yaml'), DESK.replace('name: desk', 'name: kept\nreadOnly: It comes from our repository.'));
const read = (draft?: Parameters<typeof loadBots>[2]) => loadBots(botsFolder, {}, draft);
let inUse: readonly Bot[] = read().bots;
const folder = new BotFolder(async (draft) => read(draft), systemClock);
folder.serve(async (bots) => void (inUse = bots));
const { settings } = loadConfig({ env: { OFFHOOK_DATA_DIR: join(files.path, 'data') }, files: [] });
const orders = botOrders({ bots: () => inUse, folder, settings, clock: systemClock });
const evals = new EvalRuns(settings.dataDir);
const api = await startApi({ transcribe: () => Promise.reject(new Error('unused')) }, { bots: orders, evals });
afterAll(async () => {
  await orders[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
  await files[Symbol.asyncDispose]();
});

const send = async (method: string, path: string, body?: object, key = api.key): Promise<Response> =>
  fetch(`${api.url}/api${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const source = async (): Promise<ReturnType<typeof botSourceView.parse>> =>
  botSourceView.parse(await (await send('GET', '/bots/desk/source')).json());
const versions = async (): Promise<ReturnType<typeof botVersionsView.parse>> =>
  botVersionsView.parse(await (await send('GET', '/bots/desk/versions')).json());

it('shows the file as it is written, without what its addresses carry', async () => {
  const { text, readOnly, problems } = await source();
  expect(text).toContain('# The desk of the clinic.');
  expect(text).toContain('https://[hidden]@hooks.example/desk?[hidden]');
  expect(text).not.toMatch(/me:pass|key=hidden/u);
  expect({ readOnly, problems }).toEqual({ readOnly: null, problems: [] });
});

it('checks a draft, with line and column of what is wrong', async () => {
  const { text } = await source();
  const draft = text.replace('next: bye', 'next: by');
  const checked = draftView.parse(await (await send('POST', '/bots/desk/check', { text: draft, quick: true })).json());
  expect(checked.ok).toBe(false);
  expect(checked.problems[0]).toMatchObject({ file: 'desk.yaml', line: 11, column: 71, nearest: 'bye' });
  expect(checked.problems[0]?.excerpt.some((line) => line.text.includes('next: by '))).toBe(true);
  const elsewhere = text.replace('hooks.example', 'attacker.example');
  const refused = draftView.parse(await (await send('POST', '/bots/desk/check', { text: elsewhere })).json());
  expect(refused.problems[0]).toMatchObject({ key: 'dialog.server', line: 6 });
  expect((await send('POST', '/bots/desk/check', { text: 'x'.repeat(300_000) })).status).toBe(400);
});

it('publishes for new calls, with note and author; the file keeps its comments and its addresses', async () => {
  const { text, revision } = await source();
  const draft = { text: text.replace('Welcome.', 'Good day.'), base: revision, note: 'Warmer' };
  const published = await send('POST', '/bots/desk/versions', draft);
  expect(published.status).toBe(201);
  expect(publishedView.parse(await published.json())).toEqual({ version: 2, reload: [] });
  expect(readFileSync(file, 'utf8')).toBe(DESK.replace('Welcome.', 'Good day.'));
  expect(inUse.find(({ name }) => name === 'desk')?.version).not.toBe(read().bots[0]?.earlier?.('')?.version);
  const listed = await versions();
  expect(listed).toMatchObject({ current: 2, share: null });
  expect(listed.versions[0]).toMatchObject({ number: 2, note: 'Warmer', author: api.keys.list()[0]?.id });
  expect(listed.versions[1]).toMatchObject({ number: 1, author: 'file' });
  expect((await send('POST', '/bots/desk/versions', draft)).status).toBe(409);
});

it('refuses to publish a draft with problems, or what a reload could not load', async () => {
  const { text, revision } = await source();
  const broken = await send('POST', '/bots/desk/versions', { text: `${text}endpointingMs: soon\n`, base: revision });
  expect(broken.status).toBe(422);
  expect(await broken.json()).toMatchObject({ problems: [{ key: 'endpointingMs', line: 13 }] });
  writeFileSync(join(botsFolder, 'other.yaml'), 'name: other\n');
  const blocked = await send('POST', '/bots/desk/versions', { text: `${text}# fine\n`, base: revision });
  expect([blocked.status, await blocked.text()]).toEqual([409, expect.stringContaining('other.yaml')]);
  writeFileSync(join(botsFolder, 'other.yaml'), DESK.replace('name: desk', 'name: other'));
});

it('chats with a draft before anybody else hears it', async () => {
  const { text } = await source();
  const draft = text.replace('Which day?', 'When shall we see you?');
  const begun = await send('POST', '/bots/desk/chats', { draft });
  expect(begun.status).toBe(201);
  expect(botChatView.parse(await begun.json()).events).toContainEqual({ type: 'says', text: 'When shall we see you?' });
  expect(botChatView.parse(await (await send('POST', '/bots/desk/chats', {})).json()).events).toContainEqual({
    type: 'says',
    text: 'Which day?',
  });
  const talks = api.keys.create({ name: 't', tenantId: 'default', scopes: ['calls:talk'] }, 0).secret;
  expect((await send('POST', '/bots/desk/chats', { draft }, talks)).status).toBe(403);
});

it('runs the suite with a draft beside the published version, one run of a bot at a time, and keeps the results', async () => {
  const { text } = await source();
  const draft = text.replace('Goodbye.', 'So long.');
  const state = async (): Promise<ReturnType<typeof botEvalView.parse>> =>
    botEvalView.parse(await (await send('GET', '/bots/desk/evals')).json());
  const ended = async (): ReturnType<typeof state> => {
    // Not over the API, which slows down who asks too often.
    const [bot] = inUse;
    await eventually('the run ends', () => bot !== undefined && orders.evals?.standing(bot)?.state !== 'running');
    return state();
  };
  expect((await state()).state).toBe('none');
  expect((await send('POST', '/bots/desk/evals', { draft })).status).toBe(201);
  expect((await send('POST', '/bots/desk/evals', { draft })).status).toBe(409);
  expect(await ended()).toMatchObject({ state: 'failed', problem: expect.stringContaining('evals/desk.yaml') });
  const suite = `bot: desk
scenarios:
  - { name: says goodbye, caller: { turns: [tomorrow] }, expect: { end: done, hears: [Goodbye.] } }
  - { name: is brief, caller: { turns: [tomorrow] }, expect: { end: done, hears: [So long.] } }
`;
  mkdirSync(join(files.path, 'evals'));
  writeFileSync(join(files.path, 'evals', 'any name.yaml'), suite);
  await send('POST', '/bots/desk/evals', { draft, runs: 2 });
  const done = await ended();
  expect(done).toMatchObject({ state: 'done', isDraft: true, calls: 8, of: 8, problem: null });
  const run = evalRunView.parse(await (await send('GET', `/evals/runs/${done.run}`)).json());
  expect(run).toMatchObject({ draft: true, suites: [{ bot: 'desk', broken: 1, mended: 1 }] });
  expect(run.scenarios).toMatchObject([
    { name: 'says goodbye', verdict: 'failed', before: 'passed', callsBefore: { passed: 2, runs: 2 } },
    { name: 'is brief', verdict: 'passed', before: 'failed', callsBefore: { passed: 0, runs: 2 } },
  ]);
  expect(run.suites[0]?.version).not.toBe(inUse.find(({ name }) => name === 'desk')?.version);
  // A draft is not what a later run of the published version is compared with.
  await send('POST', '/bots/desk/evals', { runs: 1 });
  const alone = await ended();
  expect(alone).toMatchObject({ state: 'done', isDraft: false, calls: 2, of: 2 });
  const { runs } = evalListView.parse(await (await send('GET', '/evals/runs')).json());
  expect(runs[0]).toMatchObject({ id: alone.run, suites: [{ broken: 0, mended: 0, verdicts: { passed: 1, failed: 1 } }] });
  await send('POST', '/bots/desk/evals', { runs: 20 });
  expect(await (await send('DELETE', '/bots/desk/evals')).json()).toEqual({ stopped: true });
  expect((await ended()).state).toBe('stopped');
  const audited = await api.audit();
  expect(audited).toContain('"bot-eval.begin"');
  expect(audited).toContain('"bot-eval.stop"');
});

it('evaluates no draft with problems, or too many calls, and no draft for people who may not edit', async () => {
  const { text } = await source();
  expect((await send('POST', '/bots/desk/evals', { draft: `${text}endpointingMs: soon\n` })).status).toBe(422);
  const talks = api.keys.create({ name: 't', tenantId: 'default', scopes: ['calls:talk'] }, 0).secret;
  expect((await send('POST', '/bots/desk/evals', { draft: text }, talks)).status).toBe(403);
  expect((await send('POST', '/bots/desk/evals', { draft: text }, api.otherKey)).status).toBe(404);
  expect((await send('GET', '/bots/desk/evals', undefined, api.otherKey)).status).toBe(404);
  expect((await send('DELETE', '/bots/desk/evals', undefined, api.otherKey)).status).toBe(404);
  expect((await send('POST', '/bots/desk/evals', { runs: 21 })).status).toBe(400);
});

it('gives a version a share of the calls, rolls back, and ends the share with that', async () => {
  const { text, revision } = await source();
  await send('POST', '/bots/desk/versions', { text: text.replace('Goodbye.', 'So long.'), base: revision, percent: 30 });
  expect(await versions()).toMatchObject({ current: 2, share: { version: 3, percent: 30 } });
  expect(inUse.find(({ name }) => name === 'desk')?.trial).toMatchObject({ percent: 30 });
  expect((await send('PUT', '/bots/desk/share', { version: 3, percent: 60 })).status).toBe(200);
  expect((await send('PUT', '/bots/desk/share', { version: 9, percent: 60 })).status).toBe(404);
  expect((await send('POST', '/bots/desk/rollback', { version: 1 })).status).toBe(200);
  expect(await versions()).toMatchObject({ current: 1, share: null });
  expect(readFileSync(file, 'utf8')).toBe(DESK);
  const old = botSourceView.parse(await (await send('GET', '/bots/desk/source?version=3')).json());
  expect(old.text).toContain('So long.');
});

it('edits no bot that says where it comes from, and lets only editors edit', async () => {
  const kept = botSourceView.parse(await (await send('GET', '/bots/kept/source')).json());
  expect(kept.readOnly).toBe('It comes from our repository.');
  const refused = await send('POST', '/bots/kept/versions', { text: kept.text, base: kept.revision });
  expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('It comes from our repository.')]);
  const looks = api.keys.create({ name: 'l', tenantId: 'default', scopes: ['bots:read'] }, 0).secret;
  expect((await send('GET', '/bots/desk/source', undefined, looks)).status).toBe(403);
  expect((await send('GET', '/bots/desk/versions', undefined, looks)).status).toBe(200);
  expect((await send('GET', '/bots/desk/versions', undefined, api.otherKey)).status).toBe(404);
});

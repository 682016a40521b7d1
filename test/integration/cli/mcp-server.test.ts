import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { authorServer } from '../../../src/cli/mcp/author-server.ts';
import { CallStore } from '../../../src/cli/mcp/call-tools.ts';
import { callRecordOf } from '../../support/call-records.ts';

const FLOW = `
name: shop
voice: Nisha
default: true
dialog:
  kind: flow
  flow:
    languages: [en]
    start: hello
    states:
      hello: { say: 'Hello, this is the shop.', next: bye }
      bye: { say: 'Goodbye.', hangup: done }
`;
const MODEL = `
name: model
voice: Nisha
tenant: other
dialog: { kind: llm, baseUrl: 'http://127.0.0.1:9/v1', model: m, instructions: Help. }
`;

let folder: string;
const store = new CallStore();
const before = { ...process.env };
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'offhook-author-'));
  mkdirSync(join(folder, 'bots'));
  mkdirSync(join(folder, 'evals'));
  writeFileSync(join(folder, 'bots', 'shop.yaml'), FLOW);
  writeFileSync(join(folder, 'bots', 'model.yaml'), MODEL);
  Object.assign(process.env, { OFFHOOK_DATA_DIR: join(folder, 'data'), OFFHOOK_BOTS__FOLDER: join(folder, 'bots') });
  const { calls } = (await store.open()).store;
  await calls.upsert(callRecordOf({ from: '+15550123456', notes: ['call +15550123456 back'] }));
});
afterAll(async () => {
  await store[Symbol.asyncDispose]();
  for (const name of ['OFFHOOK_DATA_DIR', 'OFFHOOK_BOTS__FOLDER']) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, before);
  rmSync(folder, { recursive: true, force: true });
});

async function clientOf(allowWrites: boolean): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await authorServer({ allowWrites, tenant: 'default', store }).connect(theirs);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(ours);
  return client;
}

async function call(client: Client, name: string, args: object = {}): Promise<{ text: string; isError: boolean }> {
  const result = await client.callTool({ name, arguments: { ...args } });
  const [part] = result.content as { text: string }[];
  return { text: part?.text ?? '', isError: result.isError === true };
}

it('shows bots, problems, calls with masked numbers, and what an error code means', async () => {
  await using client = closing(await clientOf(false));
  const bots = JSON.parse((await call(client, 'bots')).text) as { name: string; kind: string }[];
  expect(bots.map(({ name, kind }) => `${name}: ${kind}`).sort()).toEqual(['model: llm', 'shop: flow']);
  expect(JSON.parse((await call(client, 'config_check')).text)).toHaveProperty('problems');
  const { text: calls } = await call(client, 'calls', { bot: 'clinic' });
  expect(JSON.parse(calls)).toMatchObject([{ id: 'call_1', bot: 'clinic', ended: 'caller-hung-up', durationMs: 9_000 }]);
  const { text: one } = await call(client, 'call', { id: 'call_1' });
  expect(JSON.parse(one)).toMatchObject({ id: 'call_1', turns: expect.any(Array) as unknown });
  expect(calls + one).not.toContain('0123456');
  expect((await call(client, 'call', { id: 'call_2' })).text).toBe('there is no call call_2');
  expect((await call(client, 'explain', { code: 'OFFHOOK_FLOW_INVALID' })).text).toContain('has mistakes');
  expect((await call(client, 'explain', { code: 'OFFHOOK_NOTHING' })).isError).toBe(true);
});

it('rehearses lines and scripts, and says what was not as expected', async () => {
  await using client = closing(await clientOf(false));
  const { text } = await call(client, 'chat', { bot: 'shop', lines: [] });
  expect(text).toContain('Hello, this is the shop.');
  expect(JSON.parse(text)).toMatchObject({ ended: 'done', unmet: [] });
  const script = '@bot shop\n< this is the bakery\n';
  expect(JSON.parse((await call(client, 'chat', { script })).text)).toMatchObject({ unmet: [{ line: 2 }] });
  expect((await call(client, 'chat', { script: 'what' })).text).toMatch(/^line 1: /u);
});

it('writes nothing, and asks nothing outside, unless that is allowed', async () => {
  await using client = closing(await clientOf(false));
  expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('save_bot');
  const { text, isError } = await call(client, 'chat', { bot: 'model', lines: ['hello'] });
  expect([text, isError]).toEqual([expect.stringMatching(/these bots ask in a call: model.*--allow-writes/u), true]);
});

it('saves a sound bot where that is allowed, and refuses one with problems', async () => {
  await using client = closing(await clientOf(true));
  const { text } = await call(client, 'save_bot', { yaml: FLOW.replace('this is the shop', 'welcome') });
  expect(JSON.parse(text)).toMatchObject({ saved: join(folder, 'bots', 'shop.yaml'), new: false });
  expect(readFileSync(join(folder, 'bots', 'shop.yaml'), 'utf8')).toContain('welcome');
  const wrong = await call(client, 'save_bot', { yaml: 'name: ../evil\nvoice: Nisha\n' });
  expect(wrong.isError).toBe(true);
  expect(wrong.text).toContain('name');
  expect(existsSync(join(folder, 'evil.yaml'))).toBe(false);
  expect(readdirSync(join(folder, 'bots')).sort()).toEqual(['model.yaml', 'shop.yaml']);
});

it('runs suites, and gives their verdicts', async () => {
  const scenario = (hears: string): string =>
    `  - { name: hears ${hears}, caller: { turns: [{ when: never, say: hi }] }, expect: { end: done, hears: [${hears}] } }\n`;
  writeFileSync(join(folder, 'evals', 'shop.yaml'), `bot: shop\nscenarios:\n${scenario('Goodbye')}${scenario('Bakery')}`);
  await using client = closing(await clientOf(false));
  const report = JSON.parse((await call(client, 'eval', { suites: ['shop'], runs: 1 })).text) as { ok: boolean };
  expect(report.ok).toBe(false);
  expect(JSON.stringify(report)).toContain('Bakery');
  const one = JSON.parse((await call(client, 'eval', { suites: ['shop'], only: ['Goodbye'], runs: 1 })).text) as { ok: boolean };
  expect(one.ok).toBe(true);
});

/** Closes a client at the end of a block. */
function closing(client: Client): Client & AsyncDisposable {
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Bot, botSettings } from '../../../src/config/bots.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { loadBotDialog, type BotDialog } from '../../../src/dialog/bot-dialog.ts';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { EVERYTHING, EverythingServer } from '../../support/everything-server.ts';
import { type ModelAnswer, type ModelAsked, ScriptedModel } from '../../support/scripted-model.ts';
import { actionsOf, CALL, spoken, textOf, turnOf } from './bot-server.ts';

async function dialogOf(mcp: object, more: Partial<Bot> = {}, clock: Clock = systemClock): Promise<BotDialog> {
  const dialog = { kind: 'llm', baseUrl: 'http://model.test/v1', model: 'm', instructions: 'Help.', mcp };
  return loadBotDialog({ ...botSettings.parse({ name: 'desk', voice: 'Nisha', dialog }), folder: process.cwd(), ...more }, clock);
}

/** Calls one tool, and says what it answered. */
const calling =
  (name: string, args: object) =>
  (asked: ModelAsked): ModelAnswer => {
    const { role, content } = asked.messages.at(-1) ?? {};
    return role === 'tool' ? `It says: ${content}` : [{ name, args }];
  };

let http: EverythingServer;

beforeAll(async () => {
  http = await EverythingServer.start();
});
afterAll(() => http.stop());

it('uses a server over standard input and output: its schemas go to the model, and its answer comes back', async () => {
  using model = new ScriptedModel(calling('all_get-sum', { a: 2, b: 40 }));
  const tools = ['get-sum', 'echo', { name: 'missing', description: 'Not there' }];
  // A clock that stands still: however slowly the program starts, nothing gives up on it.
  const dialog = await dialogOf(
    { all: { command: process.execPath, args: [EVERYTHING, 'stdio'], tools } },
    {},
    new ManualClock(),
  );
  const release = dialog.hold?.();
  const first = dialog.hooks.create(CALL);
  expect(textOf(await actionsOf(first, turnOf(spoken('two and forty'), 1)))).toContain('42');
  const offered = model.asked[0]?.tools?.map(({ function: each }) => each) ?? [];
  expect(offered.find(({ name }) => name === 'all_get-sum')?.parameters).toMatchObject({ properties: { a: { type: 'number' } } });
  expect(offered.find(({ name }) => name === 'all_missing')?.description).toBe('Not there');
  // Tools that the file does not name are not offered.
  expect(offered.filter(({ name }) => name.startsWith('all_'))).toHaveLength(3);
  await first.dispose?.();
  await release?.();
});

it('is connected once for all calls, uses a restarted server again, and tells the model of a dead one', async () => {
  using model = new ScriptedModel(calling('web_echo', { message: 'hello' }));
  const clock = new ManualClock();
  const dialog = await dialogOf({ web: { url: http.url, tools: ['echo'] } }, {}, clock);
  const release = dialog.hold?.();
  const one = dialog.hooks.create(CALL);
  const two = dialog.hooks.create(CALL);
  expect(textOf(await actionsOf(one, turnOf(spoken('one'), 1)))).toContain('Echo: hello');
  await one.dispose?.();
  expect(textOf(await actionsOf(two, turnOf(spoken('two'), 1)))).toContain('Echo: hello');
  // The new process does not know the session.
  await http.stop();
  await http.start();
  expect(textOf(await actionsOf(two, turnOf(spoken('three'), 2)))).toContain('Echo: hello');
  await http.stop();
  expect(textOf(await actionsOf(two, turnOf(spoken('four'), 3)))).toMatch(
    /It says: error: the MCP server web cannot be used now/u,
  );
  const asked = model.asked.length;
  expect(textOf(await actionsOf(two, turnOf(spoken('five'), 4)))).toMatch(
    /It says: error: the MCP server web cannot be used now/u,
  );
  expect(model.asked.length).toBe(asked + 2);
  await http.start();
  clock.advance(60_000);
  expect(textOf(await actionsOf(two, turnOf(spoken('six'), 5)))).toContain('Echo: hello');
  await two.dispose?.();
  await release?.();
});

it('sends secrets as headers, and keeps them out of what the model is told', async () => {
  const seen: string[] = [];
  const refusing = createServer((request, response) => {
    const key = String(request.headers['x-api-key']);
    seen.push(key);
    response.writeHead(403).end(`no entry with ${key}`);
  }).listen(0, '127.0.0.1');
  await once(refusing, 'listening');
  using model = new ScriptedModel(calling('shop_price', {}));
  const url = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/mcp`;
  const mcp = { shop: { url, headers: { 'X-Api-Key': 'SHOP_KEY' }, tools: ['price'] } };
  const dialog = await dialogOf(mcp, { toolSecrets: { SHOP_KEY: new Secret('s3cret-value-of-shop') } });
  const hook = dialog.hooks.create(CALL);
  const said = textOf(await actionsOf(hook, turnOf(spoken('how much'), 1)));
  expect(seen[0]).toBe('s3cret-value-of-shop');
  expect(said).toContain('the MCP server shop cannot be used now');
  expect(JSON.stringify(model.asked)).not.toContain('s3cret');
  await hook.dispose?.();
  refusing.close();
});

it('ends a tool at its time limit, and cuts a long result', async () => {
  using _model = new ScriptedModel((asked) => {
    const answered = asked.messages.filter(({ role }) => role === 'tool');
    if (answered.length === 0) return [{ name: 'all_trigger-long-running-operation', args: { duration: 30, steps: 3 } }];
    if (answered.length === 1) return [{ name: 'all_echo', args: { message: 'x'.repeat(500) } }];
    return answered.map(({ content }) => content).join(' | ');
  });
  const dialog = await dialogOf({
    all: {
      url: http.url,
      maxCharacters: 100,
      tools: ['echo', { name: 'trigger-long-running-operation', timeoutMs: 300 }],
    },
  });
  const hook = dialog.hooks.create(CALL);
  const [late, long] = textOf(await actionsOf(hook, turnOf(spoken('go'), 1))).split(' | ');
  expect(late).toBe('error: the tool said nothing for 300 ms');
  expect(long).toHaveLength(100);
  await hook.dispose?.();
});

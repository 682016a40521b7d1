import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { API_KEYS_FILE, ApiKeys } from '../../../src/http/api/system/api-keys.ts';
import { type CallerStep, ScriptedCaller } from '../../../src/sim/caller/caller.ts';
import { BotServer } from '../dialog/bot-server.ts';
import { sayTones, type ToneWord } from '../platform/tone-engines.ts';
import { eventually } from '../../support/eventually.ts';
import { type GatewayBench, startGatewayBench } from './gateway-bench.ts';

const say = (word: ToneWord): CallerStep => ({ kind: 'say', text: word, pcm: sayTones([word], 8_000).subarray(1_600) });

/** A flow that needs no server and knows two words. */
const OFFLINE = {
  start: 'ask',
  slots: { word: { kind: 'choice', options: { first: { phrases: ['alpha'] }, second: { phrases: ['bravo'] } } } },
  states: {
    ask: { ask: { slot: 'word', prompt: 'Which word is it?' }, next: { first: 'one', second: 'two' } },
    one: { say: 'Goodbye.', hangup: 'offline-first' },
    two: { say: 'Goodbye.', hangup: 'offline-second' },
  },
};

async function problemsOf({ gateway, dataDir }: GatewayBench): Promise<string[]> {
  const keys = new ApiKeys(join(dataDir, API_KEYS_FILE));
  const { secret } = keys.create({ name: 'ops', tenantId: 'default', scopes: ['system:read'] }, 0);
  const answer = await fetch(`${gateway.url}/api/system`, { headers: { authorization: `Bearer ${secret}` } });
  const { problems } = (await answer.json()) as { problems: { code: string; what: string }[] };
  return problems.filter(({ code }) => code === 'bot-down').map(({ what }) => what);
}

it('takes a caller to the fallback flow when the bot’s server dies in mid-call, sends the next call there at once, and returns to the server', async () => {
  await using server = new BotServer((response, _asked, number) => {
    response.setHeader('content-type', 'text/plain');
    response.end(number === 0 ? 'Hello, say a word.' : 'And another one?');
    // It dies with the answer to the first word.
    if (number === 1) response.on('finish', () => server.server.close());
  });
  const url = await server.listen();
  const { port } = server.server.address() as AddressInfo;
  await using bench = await startGatewayBench({
    otherBots: {
      remote: `dialog: { kind: http, url: '${url}/turn', timeoutMs: 3000 }\nwhenDown: [{ bot: offline }, apologise]`,
      offline: `dialog: { kind: flow, flow: ${JSON.stringify(OFFLINE)} }`,
    },
  });
  const died = new Promise<void>((resolve) => server.server.once('close', () => resolve()));
  const call = await bench.dial(undefined, { bot: 'remote' });
  const session = bench.sessionOf(call);
  await new ScriptedCaller(call.stream, 25_000).run([say('alpha'), say('bravo'), say('alpha'), { kind: 'wait-for-end' }]);
  const { endReason, notes, timeline, turns } = await session.ended;
  await died;
  expect(endReason).toBe('offline-first');
  expect(notes).toContain('bot: offline');
  expect(timeline).toContainEqual(expect.objectContaining({ type: 'fail-over', turn: 2, step: 'bot', to: 'offline' }));
  expect(turns[2]?.botHeardText).toContain('I can still help you. Which word is it?');
  expect(server.asked).toHaveLength(2);
  expect(await problemsOf(bench)).toEqual([expect.stringContaining('The server of the bot remote does not answer')]);

  const next = await bench.dial(undefined, { bot: 'remote' });
  const straight = bench.sessionOf(next);
  await new ScriptedCaller(next.stream, 25_000).run([say('bravo'), { kind: 'wait-for-end' }]);
  const record = await straight.ended;
  expect(record.endReason).toBe('offline-second');
  expect(record.turns[0]?.botHeardText).toBe('Which word is it?');
  expect(record.timeline.filter(({ type }) => type === 'problem')).toEqual([]);

  const asked = server.asked.length;
  await new Promise<void>((resolve) => server.server.listen(port, '127.0.0.1', resolve));
  await eventually('the server to be probed', () => server.asked.length > asked);
  const back = await bench.dial(undefined, { bot: 'remote' });
  const served = bench.sessionOf(back);
  await eventually('a greeting', () => served.standing.botText !== '');
  expect(served.standing.botText).toBe('And another one?');
  expect(await problemsOf(bench)).toEqual([]);
  served.hangUp('done');
  await served.ended;
});

import { expect, it } from 'vitest';
import { defaultPhrases } from '../../../src/config/bot-phrases.ts';
import { CallRefused } from '../../../src/sim/twilio-carrier.ts';
import { eventually } from './eventually.ts';
import { startGatewayBench } from './gateway-bench.ts';

const { shutdown } = defaultPhrases('en');

it.concurrent('refuses calls during shutdown, says goodbye to live ones, and reports itself not ready', async () => {
  await using bench = await startGatewayBench();
  const call = await bench.dial();
  const session = bench.sessionOf(call);
  await eventually('the bot to speak', () => session.standing.phase === 'bot-speaking');
  const closing = bench.gateway.close();
  const [ready, second] = await Promise.allSettled([fetch(`${bench.gateway.url}/readyz`), bench.dial()]);
  expect(ready).toMatchObject({ status: 'fulfilled', value: { status: 503 } });
  expect(second).toMatchObject({ status: 'rejected', reason: expect.any(CallRefused) as unknown });
  const { endReason, sentences } = await session.ended;
  expect(endReason).toBe('shutdown');
  const said = sentences.map(({ text }) => text).join(' ');
  expect(said).toContain(shutdown.split('.')[0]);
  expect(said).not.toContain('went wrong');
  await closing;
});

it.concurrent('finishes live calls while draining, refuses new ones, and reports that it is draining', async () => {
  await using bench = await startGatewayBench();
  const call = await bench.dial();
  const session = bench.sessionOf(call);
  await eventually('the bot to listen', () => session.standing.phase === 'listening');
  let isDrained = false;
  const drained = bench.gateway.drain().then(() => (isDrained = true));
  const ready = await fetch(`${bench.gateway.url}/readyz`);
  expect([ready.status, await ready.json()]).toMatchObject([503, { parts: { calls: 'draining' } }]);
  expect((await fetch(`${bench.gateway.url}/healthz`)).status).toBe(200);
  await expect(bench.dial()).rejects.toThrow(CallRefused);
  call.stream.press('7');
  await eventually('the bot to answer', () => session.standing.turns > 1);
  expect(isDrained).toBe(false);
  await call.hangUp();
  expect(await session.ended).toMatchObject({ endReason: 'caller-hangup', turns: [{}, { botText: 'You pressed 7.' }] });
  await drained;
});

import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ScriptedCaller } from '../../../src/sim/caller/caller.ts';
import { SimulatedTwilioApi } from '../../../src/sim/twilio/api.ts';
import { type SimulatedCall, signedWebhook } from '../../../src/sim/twilio/carrier.ts';
import { eventually } from '../../support/eventually.ts';
import { startPatientClock } from '../../../src/kernel/patient-clock.ts';
import { type GatewayBench, startGatewayBench } from './gateway-bench.ts';

const ACCOUNT = `AC${'1'.repeat(32)}`;
let bench: GatewayBench;
const time = startPatientClock();
let api: SimulatedTwilioApi;

beforeAll(async () => {
  const authToken = 'control-test-token';
  api = await new SimulatedTwilioApi(ACCOUNT, authToken, { clock: time.clock }).listen();
  bench = await startGatewayBench({
    clock: time.clock,
    env: { OFFHOOK_TWILIO_ACCOUNT_SID: ACCOUNT, OFFHOOK_TWILIO_AUTH_TOKEN: authToken, OFFHOOK_TWILIO_API_URL: api.url },
  });
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
  time[Symbol.dispose]();
});

async function dial(): Promise<SimulatedCall> {
  const call = await bench.dial();
  api.register(call);
  return call;
}

it.concurrent('sends keys to the carrier, and continues the same call on another stream', async () => {
  const call = await dial();
  const session = bench.sessionOf(call);
  await new ScriptedCaller(call.stream, 15_000).run([{ kind: 'press', digits: '5' }]);
  await eventually('the second stream', () => call.streams.length === 2 && session.attached);
  expect(call.playedDigits).toEqual(['1w2']);
  call.stream.press('7');
  await eventually('the answer on the second stream', () =>
    bench.news.some((item) => item.type === 'reply' && item.callId === session.id && item.turn === 2),
  );
  session.hangUp('enough');
  const record = await session.ended;
  expect(record.attachments).toHaveLength(2);
  expect(record.turns.map(({ callerText }) => callerText)).toEqual(['', '5', '7']);
  expect(record.turns.at(-1)?.botText).toBe('You pressed 7.');
});

it.concurrent('keeps its call when a voice webhook is replayed, and follows the carrier through redirects of the same bytes', async () => {
  const call = await dial();
  const session = bench.sessionOf(call);
  const { callSid, accountSid } = call;
  const address = `${bench.gateway.url}/carriers/twilio/voice`;
  const facts = { callSid, accountSid, from: '+15550100001', to: '+15550100002' };
  const replay = (CallStatus: string) => fetch(address, signedWebhook(address, 'control-test-token', facts, { CallStatus }));
  expect((await replay('ringing')).status).toBe(409);
  expect([call.stream.open, session.attached]).toEqual([true, true]);
  for (const streams of [2, 3]) {
    await call.connect();
    await eventually(`stream ${streams}`, () => call.streams.length === streams && session.attached);
  }
  expect((await replay('in-progress')).status).toBe(409);
  expect(call.stream.open).toBe(true);
  session.hangUp('enough');
  expect((await session.ended).attachments).toHaveLength(3);
});

it.concurrent('ends a call at the carrier too, once, when an operator hangs up', async () => {
  const call = await dial();
  const session = bench.sessionOf(call);
  const updates = vi.spyOn(call, 'update');
  await session.order({ type: 'hang-up' }, 'key_1');
  await session.ended;
  await eventually('the order to end the call', () => updates.mock.calls.length > 0);
  session.hangUp('again');
  expect(updates.mock.calls).toEqual([[[{ verb: 'hang-up' }]]]);
});

it.concurrent('transfers the caller to another number', async () => {
  const call = await dial();
  const session = bench.sessionOf(call);
  await new ScriptedCaller(call.stream, 15_000).run([{ kind: 'press', digits: '6' }]);
  expect((await session.ended).endReason).toBe('transferred');
  expect(call.dialled).toBe('+15550100');
});

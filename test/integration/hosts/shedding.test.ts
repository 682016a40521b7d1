import { expect, it } from 'vitest';
import { CallRefused, type SimulatedCall } from '../../../src/sim/twilio/carrier.ts';
import { eventually } from '../../support/eventually.ts';
import { startGatewayBench } from './gateway-bench.ts';
import { shared } from '../../support/shared.ts';

const LIMIT = 4;
/** Lags that no machine shows by itself while this runs. */
const env = {
  OFFHOOK_CALL__MAXIMUM: String(LIMIT),
  OFFHOOK_CALL__REFUSE_LAG_MS: '700',
  OFFHOOK_CALL__ACCEPT_LAG_MS: '600',
};
const bench = shared(() => startGatewayBench({ env }));

const metrics = async (): Promise<string> => (await fetch(`${bench.gateway.url}/metrics`)).text();

it('refuses the calls above its limit politely, without disturbing the admitted ones', async () => {
  const calls: SimulatedCall[] = [];
  for (let call = 0; call < LIMIT; call += 1) calls.push(await bench.dial());
  await eventually('the greetings', () =>
    calls.every(({ stream }) => stream.buffer.heard.some((sample) => Math.abs(sample) > 1_000)),
  );
  // All at once, while the bot is talking to everybody.
  const excess = await Promise.allSettled(Array.from({ length: LIMIT / 2 }, () => bench.dial()));
  for (const refused of excess) {
    expect(refused).toMatchObject({ status: 'rejected', reason: { message: 'the answer document hangs up' } });
    const said = refused.status === 'rejected' && refused.reason instanceof CallRefused ? refused.reason.said : [];
    expect(said.join(' ')).toMatch(/busy|sorry/iu);
  }
  expect(bench.gateway.calls.active).toBe(LIMIT);
  const body = await metrics();
  expect(body).toContain(`offhook_calls_refused_total{carrier="twilio",cause="calls"} ${LIMIT / 2}`);
  expect(body).toContain(`offhook_calls_active{carrier="twilio"} ${LIMIT}`);
  // The sentence everybody was in the middle of was heard to its end, on the socket it began on.
  const sessions = bench.gateway.calls.calls;
  await eventually('the ends of the greetings', () => calls.every(({ stream }) => quietAtEnd(stream.buffer.heard)));

  // A place that becomes free is given away again.
  await calls[0]!.hangUp();
  await eventually('the free place', () => bench.gateway.calls.active === LIMIT - 1);
  calls[0] = await bench.dial();
  await expect(bench.dial()).rejects.toThrow(CallRefused);
  for (const call of calls) await call.hangUp();
  for (const record of await Promise.all(sessions.map(({ ended }) => ended))) {
    expect(record.turns).toMatchObject([{ botHeardText: 'Hello there, please say a word.', interrupted: false }]);
    expect(record.attachments).toHaveLength(1);
  }
});

it('refuses calls while the event loop is late, reports it as not ready, and accepts calls afterwards', async () => {
  await eventually('the ends of the calls before', () => bench.gateway.calls.active === 0);
  const status = async (): Promise<number> => (await fetch(`${bench.gateway.url}/readyz`)).status;
  await eventually('readiness', async () => (await status()) === 200);
  let said: readonly string[] = [];
  await eventually('a refusal for lateness', async () => {
    const untilMs = performance.now() + 800;
    while (performance.now() < untilMs);
    try {
      await (await bench.dial()).hangUp();
      await eventually('the end of a call that was taken', () => bench.gateway.calls.active === 0);
      return false;
    } catch (error) {
      said = error instanceof CallRefused ? error.said : [];
    }
    const body = await metrics();
    expect(body).toContain('offhook_calls_refused_total{carrier="twilio",cause="loop-lag"}');
    // A judgement that comes between the two would have taken it back.
    if (!body.includes('offhook_calls_shedding 1')) return false;
    expect(Number(/^offhook_event_loop_lag_seconds (\S+)$/mu.exec(body)?.[1])).toBeGreaterThan(0.6);
    return (await status()) === 503;
  });
  expect(said).toEqual([expect.stringMatching(/busy/u)]);
  await eventually('the loop to be in time', async () => (await status()) === 200);
  const call = await bench.dial();
  await call.hangUp();
});

/** Half a second of silence after some sound. */
function quietAtEnd(heard: Int16Array): boolean {
  return heard.length > 12_000 && heard.subarray(-4_000).every((sample) => Math.abs(sample) < 100);
}

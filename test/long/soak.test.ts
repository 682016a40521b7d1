import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { seededRandom } from '../../src/audio/tone.ts';
import { POST_CALL } from '../../src/records/queue/catalog.ts';
import { type CallerStep, ScriptedCaller } from '../../src/sim/caller/caller.ts';
import { cough } from '../../src/sim/caller/cough.ts';
import type { CallRecord } from '../../src/call/log/call-record.ts';
import type { SimulatedCall } from '../../src/sim/twilio/carrier.ts';
import { eventually } from '../support/eventually.ts';
import { type GatewayBench, startGatewayBench } from '../integration/hosts/gateway-bench.ts';
import { sayTones, type ToneWord } from '../integration/platform/tone-engines.ts';
import { liveBytes } from './memory-watch.ts';

const ROUNDS = Number(process.env.OFFHOOK_SOAK_ROUNDS ?? 10);
const CALLS_IN_A_ROUND = 8;
const seed = Number(process.env.OFFHOOK_TEST_SEED ?? 20_261);

/** What a process must not gather, counted when no call is on the line. */
interface Footprint {
  readonly liveMb: number;
  readonly descriptors: number;
  /** Timers, sockets and the like that keep the event loop busy. */
  readonly handles: number;
}

it(
  'carries call after call and keeps nothing of them but their records',
  async () => {
    console.log(`OFFHOOK_TEST_SEED=${seed}, ${ROUNDS} rounds of ${CALLS_IN_A_ROUND} calls`);
    const random = seededRandom(seed);
    await using bench = await startGatewayBench({ clock: systemClock, env: { OFFHOOK_CALL__REATTACH_MS: '3000' } });
    const footprints: Footprint[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const plans = Array.from({ length: CALLS_IN_A_ROUND }, () => Math.floor(random() * PLANS.length));
      await Promise.all(plans.map((plan) => PLANS[plan]!(bench)));
      await settled(bench, (round + 1) * CALLS_IN_A_ROUND);
      footprints.push(footprint());
    }
    console.log(footprints.map((one) => `${one.liveMb.toFixed(1)} MB ${one.descriptors} fds ${one.handles} handles`).join('\n'));
    // The first rounds fill caches and pools. What comes after is compared with what came then, by the least of each.
    const early = footprints.slice(1, 5);
    const late = footprints.slice(-4);
    const least = (of: readonly Footprint[], what: keyof Footprint): number => Math.min(...of.map((one) => one[what]));
    expect(least(late, 'liveMb')).toBeLessThan(least(early, 'liveMb') + 10);
    expect(least(late, 'descriptors')).toBeLessThanOrEqual(least(early, 'descriptors') + 3);
    expect(least(late, 'handles')).toBeLessThanOrEqual(least(early, 'handles') + 5);
  },
  Math.max(600_000, ROUNDS * 60_000),
);

const say = (...words: ToneWord[]): CallerStep => ({ kind: 'say', text: words.join(' '), pcm: speech(...words) });
const speech = (...words: ToneWord[]): Int16Array => sayTones(words, 8_000).subarray(1_600);
const end: CallerStep = { kind: 'wait-for-end' };

/** One call each, as calls are: to the end, interrupted, hung up, cut and attached again, lost. */
const PLANS: readonly ((bench: GatewayBench) => Promise<void>)[] = [
  (bench) => held(bench, [say('alpha'), say('charlie'), end], 'said-charlie'),
  (bench) =>
    held(
      bench,
      [
        say('alpha'),
        { kind: 'cough', pcm: cough(300, 3), afterMs: 600 },
        { kind: 'interrupt', text: 'bravo', pcm: speech('bravo', 'bravo'), afterMs: 1_600 },
        say('charlie'),
        end,
      ],
      'said-charlie',
    ),
  (bench) => held(bench, [{ kind: 'press', digits: '7' }, { kind: 'hang-up' }], 'caller-hangup'),
  async (bench) => {
    const call = await bench.dial();
    const session = bench.sessionOf(call);
    await eventually('some speech', () => call.stream.nowMs > 500);
    call.stream.drop();
    await eventually('the detachment', () => !session.attached);
    await call.connect();
    const record = await talk(bench, call, [say('charlie'), end], 'said-charlie');
    expect(record.attachments).toHaveLength(2);
  },
  async (bench) => {
    const call = await bench.dial();
    const { ended } = bench.sessionOf(call);
    await eventually('some speech', () => call.stream.nowMs > 500);
    call.stream.drop();
    expect((await ended).endReason).toBe('carrier-lost');
  },
];

async function held(bench: GatewayBench, steps: readonly CallerStep[], endReason: string): Promise<void> {
  await talk(bench, await bench.dial(), steps, endReason);
}

/** @throws Error with what was said when the call does not end for the reason it should */
async function talk(
  bench: GatewayBench,
  call: SimulatedCall,
  steps: readonly CallerStep[],
  endReason: string,
): Promise<CallRecord> {
  const { ended } = bench.sessionOf(call);
  const strayed = await new ScriptedCaller(call.stream, 30_000).run(steps).then(
    () => undefined,
    (error: unknown) => error,
  );
  await call.hangUp();
  const record = await ended;
  if (strayed === undefined && record.endReason === endReason) return record;
  const turns = record.turns.map(({ input, callerText, botHeardText }) => `${input.kind} ${callerText} -> ${botHeardText}`);
  throw new Error(`ended for ${record.endReason}: ${turns.join(' | ')}`, { cause: strayed });
}

/** Every call of the round is over, stored and analysed, and nothing of it waits anywhere. */
async function settled(bench: GatewayBench, calls: number): Promise<void> {
  const { gateway, speech: platform, dataDir } = bench;
  expect(gateway.calls.active).toBe(0);
  await eventually('the analyses', async () => {
    const { completed, failed } = await gateway.backlog.queue.counts(POST_CALL);
    expect(failed).toBe(0);
    return completed === calls;
  });
  await gateway.backlog.pump?.drained();
  await eventually('the journals to be cleared', () => readdirSync(join(dataDir, 'calls')).length === 0);
  await eventually('the recogniser to let go', () => platform.recognition.openStreams === 0);
  await eventually('the synthesizer to let go', () => platform.synthesis.running === 0);
}

function footprint(): Footprint {
  return {
    liveMb: liveBytes() / 1e6,
    descriptors: readdirSync('/proc/self/fd').length,
    handles: process.getActiveResourcesInfo().length,
  };
}

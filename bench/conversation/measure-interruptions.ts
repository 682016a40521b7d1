import { seededRandom } from '../../src/audio/tone.ts';
import type { Batches } from './batches.ts';
import type { BenchCall } from './bench-call.ts';
import { quantiles, shareOf } from '../document.ts';
import { interruptionsOf, lineNoise, SPEECH_LEVEL_DB, type Stimulus } from './stimuli.ts';

/** Where the caller speaks from. */
export type LineKind = 'clean' | 'noisy';

export interface InterruptionTrial {
  readonly kind: Stimulus['kind'];
  readonly line: LineKind;
  /** From the frame with the stimulus' first sample on the socket; undefined when it did not come at all. */
  readonly holdMs: number | undefined;
  readonly clearMs: number | undefined;
}

/** Long enough to tell whether an interruption was missed at 1,500 ms. */
const WATCHED_MS = 1_700;
const TRIALS_A_CALL = 10;

const SNR_DB = 20;
/** What a line of this kind adds to a call. */
export function lineOptions(line: LineKind, seed: number): { background?: Int16Array } {
  return line === 'noisy' ? { background: lineNoise(SPEECH_LEVEL_DB - SNR_DB, seed) } : {};
}

/** Callers talk over the bot at any time from 0.7 s into its answer. */
async function interruptOften(
  call: BenchCall,
  pool: readonly Stimulus[],
  count: number,
  line: LineKind,
  random: () => number,
): Promise<readonly InterruptionTrial[]> {
  const trials: InterruptionTrial[] = [];
  let before = 0;
  for (let trial = 0; trial < count; trial += 1) {
    if (!(await call.replyAfter(before, 12_000))) break;
    // A call's first seconds are those in which the line's noise is learnt.
    await call.pass((trial === 0 ? 3_000 : 700) + 1_800 * random());
    before = call.replies;
    trials.push(await interrupt(call, pool[Math.floor(random() * pool.length)]!, line, random));
  }
  return trials;
}

/** Talks over the bot once, and watches what it does. */
export async function interrupt(
  call: BenchCall,
  stimulus: Stimulus,
  line: LineKind,
  random: () => number,
): Promise<InterruptionTrial> {
  const said = call.say(stimulus, Math.floor(160 * random()));
  await call.pass(Math.max(WATCHED_MS, stimulus.pcm.length / 8));
  const onsetMs = said.onsetMs();
  const hold = call.news.find(
    ({ type, atMs, ...news }) => type === 'floor' && 'what' in news && news.what === 'hold' && atMs >= onsetMs,
  );
  const clearMs = call.clearsMs.find((atMs) => atMs >= onsetMs);
  return {
    kind: stimulus.kind,
    line,
    holdMs: hold === undefined ? undefined : hold.atMs - onsetMs,
    clearMs: clearMs === undefined ? undefined : clearMs - onsetMs,
  };
}

/** Every column of the set: synthesized and human voices, on a clean and on a noisy line. The first two are the goal's. */
export async function measureInterruptionSet(
  batches: Batches,
  stimuli: readonly Stimulus[],
  counts: { readonly speech: number; readonly human: number },
  seed: number,
) {
  const trials: InterruptionTrial[] = [];
  const human = stimuli.filter(({ kind }) => kind === 'human');
  const pools = [
    [interruptionsOf(stimuli), counts.speech],
    [human, human.length === 0 ? 0 : counts.human],
  ] as const;
  for (const line of ['clean', 'noisy'] as const)
    for (const [pool, count] of pools) {
      const made = await batches.collect('interruptions', count, TRIALS_A_CALL, async (index, trialCount) => {
        const call = await batches.harness.dial(lineOptions(line, seed + index));
        const random = seededRandom(seed + 7919 * index + (line === 'noisy' ? 1 : 0) + pool.length);
        const mine = await interruptOften(call, pool, trialCount, line, random);
        await call.hangUp();
        return mine;
      });
      trials.push(...made);
    }
  const column = (kind: Stimulus['kind'], line: LineKind) =>
    interruptionMeasures(trials.filter((trial) => trial.kind === kind && trial.line === line));
  const { onsetToHoldMs, onsetToClearMs, missedInterruption } = interruptionMeasures(
    trials.filter(({ kind }) => kind === 'speech'),
  );
  return {
    onsetToHoldMs,
    onsetToClearMs,
    missedInterruption,
    interruptionColumns: {
      clean: column('speech', 'clean'),
      noisy: column('speech', 'noisy'),
      humanClean: column('human', 'clean'),
      humanNoisy: column('human', 'noisy'),
    },
  };
}

/** The measures of a set of trials. */
function interruptionMeasures(trials: readonly InterruptionTrial[]) {
  const missed = (withinMs: number) => shareOf(trials, ({ clearMs = Infinity }) => clearMs > withinMs);
  const inTime = (value: number | undefined): number[] => (value === undefined || value > WATCHED_MS ? [] : [value]);
  return {
    onsetToHoldMs: quantiles(trials.flatMap(({ holdMs }) => inTime(holdMs))),
    onsetToClearMs: quantiles(trials.flatMap(({ clearMs }) => inTime(clearMs))),
    missedInterruption: { at500Ms: missed(500), at1500Ms: missed(1_500) },
  };
}

import { rmsLevelDb } from '../../src/audio/level.ts';
import { seededRandom } from '../../src/audio/tone.ts';
import type { Batches } from './batches.ts';
import type { BenchCall, Said } from './bench-call.ts';
import { type LineKind, lineOptions } from './measure-interruptions.ts';
import { quantiles, shareOf } from '../document.ts';
import { requestsOf, type Stimulus, type StimulusKind } from './stimuli.ts';

/** Sounds that ask for nothing. */
const KINDS = ['backchannel', 'cough', 'click', 'knock', 'breath'] as const satisfies readonly StimulusKind[];

interface FalseAlarmTrial {
  readonly kind: StimulusKind;
  readonly line: LineKind;
  /** Longest silence of the bot from the sound's first sample on. */
  readonly silentMs: number;
  readonly cleared: boolean;
  /** The sound was taken for a turn: the utterance never went on. */
  readonly ended: boolean;
}

/** How long after its first sample a sound may have an effect. */
const WATCHED_MS = 4_000;
/** The utterance counts as resumed when the bot was silent for no longer. */
const RESUMED_WITHIN_MS = 600;
/** Longer than any pause of the bot's own. */
const PAUSE_MS = 260;
const TRIALS_A_CALL = 9;
/** Answers of a minute leave time for this many sounds. */
const TRIALS_A_REPLY = 9;
const SAMPLES_PER_MS = 8;
const FINE_SAMPLES = 80;
/** Quieter than this is no speech of the bot's. */
const SOUND_DB = -50;

/** Coughs, "mm-hm", clicks, knocks and breath while the bot speaks. */
export async function measureFalseAlarmSet(batches: Batches, stimuli: readonly Stimulus[], count: number, seed: number) {
  const trials: FalseAlarmTrial[] = [];
  for (const line of ['clean', 'noisy'] as const) {
    const made = await batches.collect('false alarms', count / 2, TRIALS_A_CALL, async (index, trialCount) => {
      const call = await batches.harness.dial(lineOptions(line, seed + index));
      const mine = await makeSounds(
        call,
        stimuli,
        trialCount,
        line,
        seededRandom(seed + 104_729 * index + (line === 'noisy' ? 1 : 0)),
      );
      await call.hangUp();
      return mine;
    });
    trials.push(...made);
  }
  return {
    falseInterruption: falseRate(trials),
    falseInterruptionColumns: {
      ...Object.fromEntries(KINDS.map((kind) => [kind, falseRate(trials.filter((trial) => trial.kind === kind))])),
      clean: falseRate(trials.filter(({ line }) => line === 'clean')),
      noisy: falseRate(trials.filter(({ line }) => line === 'noisy')),
    },
    falseClear: shareOf(trials, ({ cleared }) => cleared),
    pausedForMs: quantiles(trials.map(({ silentMs }) => silentMs).filter((silentMs) => silentMs > PAUSE_MS)),
  };
}

function falseRate(trials: readonly FalseAlarmTrial[]) {
  return shareOf(trials, ({ ended, silentMs }) => ended || silentMs > RESUMED_WITHIN_MS);
}

async function makeSounds(
  call: BenchCall,
  stimuli: readonly Stimulus[],
  count: number,
  line: LineKind,
  random: () => number,
): Promise<readonly FalseAlarmTrial[]> {
  const trials: FalseAlarmTrial[] = [];
  const pools = KINDS.map((kind) => stimuli.filter((stimulus) => stimulus.kind === kind));
  while (trials.length < count) {
    if (!(await listenForAMinute(call, stimuli))) break;
    for (let sound = 0; sound < TRIALS_A_REPLY && trials.length < count; sound += 1) {
      await call.pass(800 + 900 * random());
      const pool = pools[trials.length % pools.length]!;
      const before = call.news.length;
      const said = call.say(pool[Math.floor(random() * pool.length)]!, Math.floor(160 * random()));
      await call.pass(WATCHED_MS);
      const trial = judge(call, said, before, line);
      trials.push(trial);
      if (trial.ended) break;
    }
  }
  return trials;
}

/** Has the bot begin to talk for a minute, whatever it was saying. */
async function listenForAMinute(call: BenchCall, stimuli: readonly Stimulus[]): Promise<boolean> {
  const [request] = requestsOf(stimuli, 1);
  if (call.replies === 0) {
    if (!(await call.replyAfter(0))) return false;
    // The first seconds are those in which the line's noise is learnt.
    await call.pass(3_000);
  }
  const before = call.replies;
  call.say(request!);
  return call.replyAfter(before, 12_000);
}

function judge(call: BenchCall, { stimulus, atSample, onsetMs }: Said, newsBefore: number, line: LineKind): FalseAlarmTrial {
  const { heard } = call.stream.buffer;
  const ear = heard.subarray(atSample, atSample + WATCHED_MS * SAMPLES_PER_MS);
  const onset = onsetMs();
  return {
    kind: stimulus.kind,
    line,
    silentMs: longestSilenceMs(ear),
    cleared: call.clearsMs.some((atMs) => atMs >= onset),
    ended: call.news.slice(newsBefore).some(({ type }) => type === 'turn') || longestSilenceMs(ear.subarray(-8_000)) >= 900,
  };
}

/** In steps of 10 ms. */
function longestSilenceMs(pcm: Int16Array): number {
  let [silentMs, longestMs] = [0, 0];
  for (let at = 0; at + FINE_SAMPLES <= pcm.length; at += FINE_SAMPLES) {
    silentMs = rmsLevelDb(pcm.subarray(at, at + FINE_SAMPLES)) < SOUND_DB ? silentMs + 10 : 0;
    longestMs = Math.max(longestMs, silentMs);
  }
  return longestMs;
}

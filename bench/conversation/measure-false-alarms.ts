import { rmsLevelDb } from '../../src/audio/level.ts';
import { seededRandom } from '../../src/audio/tone.ts';
import type { Batches } from './batches.ts';
import type { BenchCall, Said } from './bench-call.ts';
import { type LineKind, lineOptions } from './measure-interruptions.ts';
import type { Stretch } from './loop-watch.ts';
import { per10Min, rateOf, summarise } from './statistics.ts';
import { requestsOf, type Stimulus, type StimulusKind } from './stimuli.ts';

/** Sounds that ask for nothing. */
const KINDS = ['backchannel', 'cough', 'click', 'knock', 'breath'] as const satisfies readonly StimulusKind[];

interface FalseAlarmTrial extends Stretch {
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

/** Coughs, "mm-hm", clicks, knocks and breath while the bot speaks, and stretches in which nothing but the line is heard. */
export async function measureFalseAlarmSet(
  batches: Batches,
  stimuli: readonly Stimulus[],
  counts: { readonly trials: number; readonly quietCallSeconds: number },
  seed: number,
) {
  const trials: FalseAlarmTrial[] = [];
  for (const line of ['clean', 'noisy'] as const) {
    const made = await batches.collect('false alarms', counts.trials / 2, TRIALS_A_CALL, async (index, count) => {
      const call = await batches.harness.dial(lineOptions(line, seed + index));
      const mine = await makeSounds(
        call,
        stimuli,
        count,
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
    falseClear: rateOf(trials.filter(({ cleared }) => cleared).length, trials.length),
    pausedForMs: summarise(trials.map(({ silentMs }) => silentMs).filter((silentMs) => silentMs > PAUSE_MS)),
    falsePausePer10Min: await quietCalls(batches, stimuli, counts.quietCallSeconds, seed),
  };
}

function falseRate(trials: readonly FalseAlarmTrial[]) {
  return rateOf(trials.filter(({ ended, silentMs }) => ended || silentMs > RESUMED_WITHIN_MS).length, trials.length);
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
    fromMs: onset - 100,
    toMs: onset + WATCHED_MS,
    kind: stimulus.kind,
    line,
    silentMs: longestSilenceMs(ear),
    cleared: call.clearsMs.some((atMs) => atMs >= onset),
    ended: call.news.slice(newsBefore).some(({ type }) => type === 'turn') || longestSilenceMs(ear.subarray(-8_000)) >= 900,
  };
}

interface QuietStretch extends Stretch {
  readonly pauses: number;
  readonly holds: number;
  readonly minutes: number;
}

/** Nothing but the line, and a breath or a click now and then, while the bot talks: how often it falls silent for it. */
async function quietCalls(batches: Batches, stimuli: readonly Stimulus[], seconds: number, seed: number) {
  const pool = stimuli.filter(({ kind }) => kind === 'breath' || kind === 'click');
  const stretches = await batches.run('quiet', async (index) => {
    const call = await batches.harness.dial(lineOptions(index % 2 === 0 ? 'clean' : 'noisy', seed + 31 * index));
    const random = seededRandom(seed + 7 * index);
    const found: QuietStretch[] = [];
    while (call.stream.nowMs < seconds * 1_000 && (await listenForAMinute(call, stimuli))) {
      const fromMs = call.stream.nowMs;
      const before = call.news.length;
      // A stretch of a minute counts whatever happened to the machine in it: a pause that it causes is heard as well.
      const sinceMs = 0;
      while (call.stream.nowMs - fromMs < 50_000 && call.stream.nowMs < seconds * 1_000) {
        await call.pass(6_000 + 6_000 * random());
        call.say(pool[Math.floor(random() * pool.length)]!);
      }
      const ear = call.stream.buffer.heard.subarray(Math.round((fromMs + 300) * SAMPLES_PER_MS));
      const holds = call.news.slice(before).filter((news) => news.type === 'floor' && news.what === 'hold').length;
      const pauses = silencesMs(ear).filter((ms) => ms > PAUSE_MS).length;
      found.push({ fromMs: sinceMs, toMs: sinceMs, pauses, holds, minutes: ear.length / SAMPLES_PER_MS / 60_000 });
    }
    await call.hangUp();
    return found;
  });
  const total = (of: (stretch: (typeof stretches)[number]) => number): number =>
    stretches.reduce((sum, stretch) => sum + of(stretch), 0);
  const minutes = total((stretch) => stretch.minutes);
  return {
    ...per10Min(
      total(({ pauses }) => pauses),
      minutes,
    ),
    holds: per10Min(
      total(({ holds }) => holds),
      minutes,
    ),
  };
}

function longestSilenceMs(pcm: Int16Array): number {
  return Math.max(0, ...silencesMs(pcm));
}

/** Stretches without sound, in steps of 10 ms. */
function silencesMs(pcm: Int16Array): readonly number[] {
  const found: number[] = [];
  let silent = 0;
  for (let at = 0; at + FINE_SAMPLES <= pcm.length; at += FINE_SAMPLES) {
    if (rmsLevelDb(pcm.subarray(at, at + FINE_SAMPLES)) < SOUND_DB) silent += 1;
    else {
      if (silent > 0) found.push(10 * silent);
      silent = 0;
    }
  }
  if (silent > 0) found.push(10 * silent);
  return found;
}

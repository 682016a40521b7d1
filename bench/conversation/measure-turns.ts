import { readFileSync } from 'node:fs';
import type { CallRecord } from '../../src/call/log/call-record.ts';
import { rmsLevelDb } from '../../src/audio/level.ts';
import { seededRandom } from '../../src/audio/tone.ts';
import { parseWav } from '../../src/audio/wav.ts';
import type { Batches } from './batches.ts';
import type { Said } from './bench-call.ts';
import { locate } from './reference-audio.ts';
import { quantiles } from '../document.ts';
import { requestsOf, type Stimulus } from './stimuli.ts';

interface LongCall {
  readonly record: CallRecord;
  readonly asked: readonly Said[];
  readonly left: Int16Array;
  readonly right: Int16Array;
}

/** Of the carrier's clock, one way in every other call. */
const SKEW_PPM = 100;
/** Share of the caller's frames that never arrive. */
const LOST = 0.01;
/** Frames before anything is lost: the recording begins with the first that arrives. */
const KEPT_FRAMES = 100;
const SAMPLES_PER_MS = 8;
const FINE_SAMPLES = 40;
/** Louder than this is the caller's voice, or the bot's, to the simulated ear as well. */
const SOUND_DB = -45;
const REQUEST_REACH_MS = 60;

/**
 * Long calls of short exchanges, with a carrier whose clock is off and frames that are lost: where the recording puts what was
 * said, and whether the latencies reported are those on it.
 */
export async function measureTurnSet(
  batches: Batches,
  stimuli: readonly Stimulus[],
  size: { readonly turns: number; readonly callMinutes: number },
  seed: number,
) {
  const requests = [...requestsOf(stimuli, 2), ...requestsOf(stimuli, 3)];
  const [short] = requestsOf(stimuli, 0);
  const calls: LongCall[] = [];
  let turns = 0;
  for (let batch = 0; turns < size.turns && batch < 4; batch += 1) {
    const made = await batches.run('turns', async (index) => {
      const random = seededRandom(seed + 101 * (batch * batches.calls + index));
      let frames = 0;
      const loses = (): boolean => ++frames > KEPT_FRAMES && random() < LOST;
      const call = await batches.harness.dial({ skewPpm: index % 2 === 0 ? SKEW_PPM : -SKEW_PPM, loses });
      const asked: Said[] = [];
      await call.replyAfter(0);
      await call.pass(2_000);
      const before = call.replies;
      // The greeting is talked over, and short answers asked for.
      call.say(short!);
      await call.replyAfter(before, 10_000);
      while (call.stream.nowMs < size.callMinutes * 60_000) {
        const { said, answered } = await call.ask(requests[Math.floor(random() * requests.length)]!, 250 + 300 * random());
        if (!answered) break;
        asked.push(said);
      }
      const record = await call.hangUp();
      const { samples } = parseWav(readFileSync(record.recordingPath!));
      return [{ record, asked, left: samples[0]!, right: samples[1]! }];
    });
    calls.push(...made);
    turns += made.reduce((sum, { asked }) => sum + asked.length, 0);
  }
  return {
    recordingDriftMs: quantiles(calls.flatMap(callerDriftMs).map(Math.abs)),
    latencyAgreementMs: quantiles(calls.flatMap(latencyErrorsMs).map(Math.abs)),
    longCalls: { calls: calls.length, minutes: Math.round(calls.reduce((sum, { left }) => sum + left.length / 480_000, 0)) },
  };
}

/** Where what was said stands in the recording, against where the carrier's timestamps put it. */
function callerDriftMs({ asked, left }: LongCall): readonly number[] {
  return asked.flatMap(({ stimulus, atSample }) => {
    const piece = stimulus.pcm.subarray(800, 800 + 2_400);
    const fromMs = (atSample + 800) / SAMPLES_PER_MS;
    const foundMs = locate(left, piece, fromMs - REQUEST_REACH_MS, fromMs + piece.length / SAMPLES_PER_MS + REQUEST_REACH_MS);
    return foundMs === undefined ? [] : [foundMs - fromMs - piece.length / SAMPLES_PER_MS];
  });
}

/** Reported waiting against that which is on the recording: from the caller's last sound to the bot's first. */
function latencyErrorsMs({ asked, left, right, record }: LongCall): readonly number[] {
  const spoken = record.turns.filter(({ input }) => input.kind === 'spoken');
  return asked.flatMap(({ stimulus, atSample }) => {
    const lastSound = lastSoundBefore(left, atSample + stimulus.pcm.length + 400);
    const firstAnswer = firstSound(right, lastSound);
    if (firstAnswer === undefined) return [];
    const turn = spoken.find(({ startedAtWallMs }) => {
      const atMs = startedAtWallMs - record.startedAtWallMs;
      return Math.abs(atMs - firstAnswer / SAMPLES_PER_MS) < 1_500;
    });
    const { total } = turn?.latency ?? {};
    return total === undefined ? [] : [total - (firstAnswer - lastSound) / SAMPLES_PER_MS];
  });
}

function firstSound(pcm: Int16Array, from: number): number | undefined {
  for (let at = from; at + FINE_SAMPLES <= pcm.length && at < from + 24_000; at += SAMPLES_PER_MS)
    if (rmsLevelDb(pcm.subarray(at, at + FINE_SAMPLES)) > SOUND_DB) return at;
  return undefined;
}

/** End of the last 5 ms with sound. */
function lastSoundBefore(pcm: Int16Array, until: number): number {
  for (let at = until; at > FINE_SAMPLES; at -= SAMPLES_PER_MS)
    if (rmsLevelDb(pcm.subarray(at - FINE_SAMPLES, at)) > SOUND_DB) return at;
  return 0;
}

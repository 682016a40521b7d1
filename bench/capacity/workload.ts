import { joinSamples } from '../../src/audio/join-samples.ts';
import { activeLevelDb, amplify } from '../../src/audio/level.ts';
import type { CallerScript } from './carrier.ts';
import { numberFrame, quiet, type Sound, soundOf, speech } from './sounds.ts';

export type WorkloadName = 'W1' | 'W2';

export interface Workload extends CallerScript {
  readonly name: WorkloadName;
  pcm(call: number, frame: number): Buffer;
  /** What every sentence of the bot sounds like. */
  readonly voice: Sound;
}

const SPEECH_MS = 2_400;
const QUIET_MS = 4_600;
/** In one turn of ten the caller starts a second into the bot's answer. */
const SHORT_QUIET_MS = 1_900;
const TURNS = 10;

/**
 * What callers do. W1 is a conversation: speech, a pause in which the bot answers, one turn in ten talked over. W2 is saturation: the
 * same caller, and a bot that talks all the time.
 */
export function workload(name: WorkloadName): Workload {
  const parts: Int16Array[] = [];
  const begins = new Map<number, 'talks-over'>();
  const ends = new Set<number>();
  let frames = 0;
  const add = (pcm: Int16Array): void => {
    parts.push(pcm);
    frames += pcm.length / 160;
  };
  for (let turn = 0; turn < TURNS; turn += 1) {
    if (turn === TURNS - 1) begins.set(frames, 'talks-over');
    add(speech(SPEECH_MS, 11 + turn));
    ends.add(frames - 1);
    add(quiet(turn === TURNS - 2 ? SHORT_QUIET_MS : QUIET_MS, 71 + turn));
  }
  const loop = soundOf(joinSamples(parts));
  const lead = 50;
  const numbers = new Map<number, Sound>();
  const numberOf = (call: number): Sound => {
    let sound = numbers.get(call);
    if (sound === undefined) numbers.set(call, (sound = soundOf(numberFrame(call))));
    return sound;
  };
  // Callers do not all speak at once.
  const placeOf = (call: number, frame: number): number => (frame - lead + call * 37) % loop.frames.length;
  const silence = soundOf(quiet(20, 5));
  return {
    name,
    voice: soundOf(atTelephoneLevel(speech(name === 'W2' ? 20_000 : 3_000, 3))),
    base64: (call, frame) =>
      frame === 0 ? numberOf(call).base64[0]! : frame < lead ? silence.base64[0]! : loop.base64[placeOf(call, frame)]!,
    pcm: (call, frame) =>
      frame === 0 ? numberOf(call).pcm[0]! : frame < lead ? silence.pcm[0]! : loop.pcm[placeOf(call, frame)]!,
    event(call, frame) {
      if (name === 'W2' || frame < lead) return undefined;
      const place = placeOf(call, frame);
      return ends.has(place) ? 'speech-ends' : begins.get(place);
    },
  };
}

/** The level at which the gateway plays every voice, so that it changes no byte of this one. */
function atTelephoneLevel(pcm: Int16Array): Int16Array {
  return amplify(pcm, -20 - activeLevelDb(pcm, 8_000));
}

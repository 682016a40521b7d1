import { joinSamples } from '../../src/audio/samples.ts';
import { activeLevelDb, amplify } from '../../src/audio/level.ts';
import type { CallerScript } from '../../src/sim/load/load-sounds.ts';
import { numberFrame, quiet, type Sound, soundOf, speech } from './sounds.ts';

export interface Workload extends CallerScript {
  pcm(call: number, frame: number): Buffer;
  /** What every sentence of the bot sounds like. */
  readonly voice: Sound;
}

/** Where callers talk over the bot, its voice is not theirs: like voices would have the echo guard hesitate, which is not measured here. */
const BOT_LOWEST_HZ = 200;
/** The last turn of each round begins `shortQuietMs` after the one before it: about a second into the bot's answer. */
const CONVERSATION = { speechMs: 2_400, quietMs: 4_600, shortQuietMs: 1_900, turns: 10, voiceMs: 3_000 };
const SHAPES = {
  W1: CONVERSATION,
  W2: { ...CONVERSATION, voiceMs: 20_000 },
  exchange: { speechMs: 1_200, quietMs: 3_200, shortQuietMs: 1_700, turns: 2, voiceMs: 2_000 },
};
export type WorkloadName = keyof typeof SHAPES;

/** A second without speech. */
const LEAD_FRAMES = 50;

/**
 * What callers do. W1 is a conversation: speech, a pause in which the bot answers, one turn in ten talked over. W2 is saturation: the
 * same caller, and a bot that talks all the time. An exchange is a short conversation in which every other turn is talked over: more
 * to measure in less time.
 */
export function workload(name: WorkloadName): Workload {
  const { speechMs, quietMs, shortQuietMs, turns, voiceMs } = SHAPES[name];
  const parts: Int16Array[] = [];
  const begins = new Map<number, 'talks-over'>();
  const ends = new Set<number>();
  let frames = 0;
  const add = (pcm: Int16Array): void => {
    parts.push(pcm);
    frames += pcm.length / 160;
  };
  for (let turn = 0; turn < turns; turn += 1) {
    if (turn === turns - 1) begins.set(frames, 'talks-over');
    add(speech(speechMs, 11 + turn));
    ends.add(frames - 1);
    add(quiet(turn === turns - 2 ? shortQuietMs : quietMs, 71 + turn));
  }
  const loop = soundOf(joinSamples(parts));
  const numbers = new Map<number, Sound>();
  const numberOf = (call: number): Sound => {
    let sound = numbers.get(call);
    if (sound === undefined) numbers.set(call, (sound = soundOf(numberFrame(call))));
    return sound;
  };
  // Callers do not all speak at once.
  const placeOf = (call: number, frame: number): number => (frame - LEAD_FRAMES + call * 37) % loop.frames.length;
  const silence = soundOf(quiet(20, 5));
  const partOf = (call: number, frame: number): { sound: Sound; at: number } => {
    if (frame >= LEAD_FRAMES) return { sound: loop, at: placeOf(call, frame) };
    return { sound: frame === 0 ? numberOf(call) : silence, at: 0 };
  };
  return {
    voice: soundOf(atTelephoneLevel(speech(voiceMs, 3, name === 'W2' ? undefined : BOT_LOWEST_HZ))),
    frame: (call, frame) => partOf(call, frame).sound.base64[partOf(call, frame).at]!,
    pcm: (call, frame) => partOf(call, frame).sound.pcm[partOf(call, frame).at]!,
    event(call, frame) {
      if (name === 'W2' || frame < LEAD_FRAMES) return undefined;
      const place = placeOf(call, frame);
      return ends.has(place) ? 'speech-ends' : begins.get(place);
    },
  };
}

/** The level at which the gateway plays every voice, so that it changes no byte of this one. */
function atTelephoneLevel(pcm: Int16Array): Int16Array {
  return amplify(pcm, -20 - activeLevelDb(pcm, 8_000));
}

import { decodeMulaw } from '../../src/audio/g711.ts';
import { noise, seededRandom } from '../../src/audio/tone.ts';
import { mulawFrames } from '../../src/sim/load/load-sounds.ts';
import { hump, voicedSound } from '../conversation/speech-sound.ts';

const FRAME_SAMPLES = 160;

/** A stretch of mu-law in frames of 20 ms, with what each is on the wire and to the recogniser. */
export interface Sound {
  readonly frames: readonly Uint8Array[];
  readonly base64: readonly string[];
  readonly pcm: readonly Buffer[];
}

export function soundOf(samples: Int16Array): Sound {
  const frames = mulawFrames(samples);
  return {
    frames,
    base64: frames.map((frame) => Buffer.from(frame).toString('base64')),
    pcm: frames.map((frame) => Buffer.from(decodeMulaw(frame).buffer)),
  };
}

/** Syllables with short gaps, at the level of a voice on the telephone. @param lowestHz of a pitch that goes up to 60 Hz more */
export function speech(durationMs: number, seed: number, lowestHz = 110): Int16Array {
  const random = seededRandom(seed);
  const parts: number[] = [];
  while (parts.length < durationMs * 8) {
    const shape = {
      durationMs: 140 + 120 * random(),
      pitchHz: lowestHz + 60 * random(),
      levelDb: -16,
      breath: 0.1,
      seed: random() * 1e6,
    };
    parts.push(...voicedSound(shape, hump(0.2, 0.3)), ...noise(40, 8_000, 0.001, random));
  }
  return Int16Array.from(parts.slice(0, durationMs * 8));
}

/** The noise of a quiet line. */
export function quiet(durationMs: number, seed: number): Int16Array {
  return noise(durationMs, 8_000, 0.0008, seededRandom(seed));
}

/** One call's number as a frame of its own: 16 bits, each a code told apart from every other by its sign. */
export function numberFrame(call: number): Int16Array {
  return Int16Array.from({ length: FRAME_SAMPLES }, (_, at) => (at < 16 ? ((call >> at) & 1 ? 8_031 : -8_031) : 0));
}

/** The number in such a frame of PCM. */
export function numberIn(pcm: Buffer): number {
  let call = 0;
  for (let at = 0; at < 16; at += 1) if (pcm.readInt16LE(2 * at) > 0) call |= 1 << at;
  return call;
}

import { encodeMulaw } from '../../audio/g711.ts';
import { noise, seededRandom, sine } from '../../audio/tone.ts';

export const FRAME_MS = 20;
const RATE_HZ = 8_000;
const FRAME_SAMPLES = 160;

/** What callers say: a frame at a time. */
export interface CallerScript {
  /** 20 ms of mu-law in base64. @param frame counted from the call's first */
  frame(call: number, frame: number): string;
  /** Whether speech ends with this frame, or begins with it over the bot. */
  event(call: number, frame: number): 'speech-ends' | 'talks-over' | undefined;
}

const SENTENCE_MS = 2_400;
const PAUSE_MS = 4_600;

/** What callers say unless told otherwise: a sentence, then a pause in which the bot answers. Each begins at another place of it. */
export function callerRound(): CallerScript {
  const pcm = joined([syllables(SENTENCE_MS, 440), noise(PAUSE_MS, RATE_HZ, 0.0008, seededRandom(5))]);
  const frames = mulawFrames(pcm).map((frame) => Buffer.from(frame).toString('base64'));
  const lastVoiced = SENTENCE_MS / FRAME_MS - 1;
  const placeOf = (call: number, frame: number): number =>
    (lastVoiced + 1 + ((call * 37) % (frames.length - lastVoiced - 1)) + frame) % frames.length;
  return {
    frame: (call, frame) => frames[placeOf(call, frame)]!,
    event: (call, frame) => (placeOf(call, frame) === lastVoiced ? 'speech-ends' : undefined),
  };
}

/** Whole frames of 20 ms. */
export function mulawFrames(pcm: Int16Array): Uint8Array[] {
  const bytes = encodeMulaw(pcm);
  return Array.from({ length: Math.floor(bytes.length / FRAME_SAMPLES) }, (_, at) =>
    bytes.subarray(at * FRAME_SAMPLES, (at + 1) * FRAME_SAMPLES),
  );
}

/** What every sentence of the bot sounds like: mu-law, 8 kHz. */
export function botSentence(durationMs: number): Uint8Array {
  return encodeMulaw(syllables(durationMs, 300));
}

/** Sounds of 240 ms with gaps of 60 ms, which a detector takes for speech. */
function syllables(durationMs: number, frequencyHz: number): Int16Array {
  const syllable = joined([sine(frequencyHz, 240, RATE_HZ, 0.2), noise(60, RATE_HZ, 0.001, seededRandom(3))]);
  const all = new Int16Array((durationMs * RATE_HZ) / 1_000);
  for (let at = 0; at < all.length; at += syllable.length) all.set(syllable.subarray(0, all.length - at), at);
  return all;
}

function joined(parts: readonly Int16Array[]): Int16Array {
  return Int16Array.from(parts.flatMap((part) => [...part]));
}

import { encodeMulaw } from '../../audio/g711.ts';
import { noise, seededRandom, sine } from '../../audio/tone.ts';

export const FRAME_MS = 20;
const RATE_HZ = 8_000;
const FRAME_SAMPLES = 160;

/** One round of what every caller sends: a sentence, then a pause in which the bot answers. Frames of 20 ms, mu-law in base64. */
export interface CallerRound {
  readonly frames: readonly string[];
  /** The frame that ends the sentence. */
  readonly lastVoiced: number;
}

const SENTENCE_MS = 2_400;
const PAUSE_MS = 4_600;

export function callerRound(): CallerRound {
  const pcm = joined([syllables(SENTENCE_MS, 440), noise(PAUSE_MS, RATE_HZ, 0.0008, seededRandom(5))]);
  const bytes = encodeMulaw(pcm);
  const frames = Array.from({ length: Math.floor(bytes.length / FRAME_SAMPLES) }, (_, at) =>
    Buffer.from(bytes.subarray(at * FRAME_SAMPLES, (at + 1) * FRAME_SAMPLES)).toString('base64'),
  );
  return { frames, lastVoiced: SENTENCE_MS / FRAME_MS - 1 };
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

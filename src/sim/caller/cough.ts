import { seededRandom } from '../../audio/tone.ts';

/**
 * A cough as a telephone hears it: an explosive burst, a breathy tail, no pitch. 8 kHz, about −20 dBFS at its loudest.
 * @param seed the same seed is the same cough
 */
export function cough(durationMs = 300, seed = 1, rateHz = 8_000): Int16Array {
  const random = seededRandom(seed);
  const attack = Math.round(0.012 * rateHz);
  const length = Math.round((durationMs * rateHz) / 1000);
  let low = 0;
  return Int16Array.from({ length }, (_, index) => {
    const envelope = Math.min(1, index / attack) * Math.exp((-3.2 * index) / length);
    const white = random() * 2 - 1;
    // A throat passes the middle of the band best.
    low += 0.55 * (white - low);
    return Math.round(low * envelope * 14_000);
  });
}

/** A click of the line or a knock on the handset: a few milliseconds. */
export function click(seed = 1, rateHz = 8_000): Int16Array {
  const random = seededRandom(seed);
  return Int16Array.from({ length: Math.round(0.006 * rateHz) }, (_, index) =>
    Math.round((random() * 2 - 1) * 20_000 * Math.exp(-index / 12)),
  );
}

const FULL_SCALE = 32_768;
/** The end runs into the beginning for so long. */
const JOIN_SAMPLES = 4_000;

/**
 * Makes a sound one that can be repeated without a click, at a level.
 * @param sound 8 kHz, at any level
 * @param levelDb root mean square of the result, in dBFS
 * @returns shorter than the sound by its join; silence where the sound is
 */
export function ambientLoop(sound: ArrayLike<number>, levelDb: number): Int16Array {
  const join = Math.min(JOIN_SAMPLES, Math.floor(sound.length / 2));
  const loop = Float64Array.from({ length: sound.length - join }, (_, index) => {
    if (index >= join) return sound[index]!;
    // Two pieces of noise keep their power when the squares of their shares add up to one.
    const angle = ((index + 0.5) / join) * (Math.PI / 2);
    return Math.sin(angle) * sound[index]! + Math.cos(angle) * sound[sound.length - join + index]!;
  });
  const power = loop.reduce((sum, value) => sum + value * value, 0) / Math.max(1, loop.length);
  const gain = power === 0 ? 0 : (FULL_SCALE * 10 ** (levelDb / 20)) / Math.sqrt(power);
  return Int16Array.from(loop, (value) => Math.max(-FULL_SCALE, Math.min(FULL_SCALE - 1, Math.round(value * gain))));
}

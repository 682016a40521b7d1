import { encodeMulaw } from './g711.ts';

/** Level reported for digital silence, below the noise of 16-bit samples. */
export const SILENCE_DB = -96;

/** Root-mean-square level in dBFS (0 is a full-scale square wave), at least `SILENCE_DB`. */
export function rmsLevelDb(pcm: Int16Array): number {
  if (pcm.length === 0) return SILENCE_DB;
  const energy = energyOf(pcm);
  if (energy === 0) return SILENCE_DB;
  return Math.max(SILENCE_DB, 10 * Math.log10(energy / pcm.length / (32_768 * 32_768)));
}

/** Sum of squares. Four independent sums let the processor overlap them; whole numbers add up the same in any order. */
export function energyOf(pcm: Int16Array, from = 0, to = pcm.length): number {
  let sum0 = 0;
  let sum1 = 0;
  let sum2 = 0;
  let sum3 = 0;
  let at = from;
  for (; at + 3 < to; at += 4) {
    const sample0 = pcm[at] ?? 0;
    const sample1 = pcm[at + 1] ?? 0;
    const sample2 = pcm[at + 2] ?? 0;
    const sample3 = pcm[at + 3] ?? 0;
    sum0 += sample0 * sample0;
    sum1 += sample1 * sample1;
    sum2 += sample2 * sample2;
    sum3 += sample3 * sample3;
  }
  for (; at < to; at += 1) {
    const sample = pcm[at] ?? 0;
    sum0 += sample * sample;
  }
  return sum0 + sum1 + sum2 + sum3;
}

/** The largest magnitude, 0 to 32,768. */
export function peakLevel(pcm: Int16Array): number {
  let [least, most] = [0, 0];
  // Counted, and without Math.max: a long text is levelled sentence by sentence while its listener waits.
  for (let at = 0; at < pcm.length; at += 1) {
    const sample = pcm[at] ?? 0;
    if (sample > most) most = sample;
    else if (sample < least) least = sample;
  }
  return Math.max(most, -least);
}

/**
 * Active level: the RMS of the 20 ms frames within `rangeDb` of the loudest one. Unlike a plain RMS of speech, it ignores pauses.
 */
export function activeLevelDb(pcm: Int16Array, rateHz: number, rangeDb = 25): number {
  const frame = Math.max(1, Math.round(rateHz / 50));
  const levels: number[] = [];
  for (let at = 0; at + frame <= pcm.length; at += frame) levels.push(rmsLevelDb(pcm.subarray(at, at + frame)));
  const loudest = levels.reduce((most, level) => Math.max(most, level), SILENCE_DB);
  if (loudest === SILENCE_DB) return SILENCE_DB;
  const active = levels.filter((level) => level > loudest - rangeDb);
  const power = active.reduce((sum, level) => sum + 10 ** (level / 10), 0) / active.length;
  return 10 * Math.log10(power);
}

/** A copy that is `gainDb` louder, limited to 16 bits. */
export function amplify(pcm: Int16Array, gainDb: number): Int16Array {
  const gain = 10 ** (gainDb / 20);
  const louder = new Int16Array(pcm.length);
  for (let at = 0; at < pcm.length; at += 1) {
    louder[at] = Math.max(-32_768, Math.min(32_767, Math.round((pcm[at] ?? 0) * gain)));
  }
  return louder;
}

/** The magnitudes of mu-law codes are logarithms of samples: sixteen steps for 6 dB. */
const LOG_STEP_DB = 6 / 16;

/** Mean of the samples' own levels, above the faintest sound: unlike an RMS, no single loud sample decides it. For comparing frames. */
export function logLevelDb(pcm: Int16Array): number {
  let steps = 0;
  for (const code of encodeMulaw(pcm)) steps += ~code & 0x7f;
  return (LOG_STEP_DB * steps) / pcm.length;
}

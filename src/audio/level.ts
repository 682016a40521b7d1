import { encodeMulaw } from './g711.ts';

/** Level of digital silence, and of anything quieter: below the noise of 16-bit samples. */
export const SILENCE_DB = -96;

/** Root-mean-square level in dBFS (0 is a full-scale square wave), at least `SILENCE_DB`. */
export function rmsLevelDb(pcm: Int16Array): number {
  if (pcm.length === 0) return SILENCE_DB;
  const energy = energyOf(pcm);
  if (energy === 0) return SILENCE_DB;
  return Math.max(SILENCE_DB, 10 * Math.log10(energy / pcm.length / (32_768 * 32_768)));
}

/** Sum of squares. Four sums at a time, which do not wait for one another: of whole numbers the order does not matter. */
export function energyOf(pcm: Int16Array, from = 0, to = pcm.length): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let at = from;
  for (; at + 3 < to; at += 4) {
    a += pcm[at]! * pcm[at]!;
    b += pcm[at + 1]! * pcm[at + 1]!;
    c += pcm[at + 2]! * pcm[at + 2]!;
    d += pcm[at + 3]! * pcm[at + 3]!;
  }
  for (; at < to; at += 1) a += pcm[at]! * pcm[at]!;
  return a + b + c + d;
}

/** The largest magnitude, 0 to 32,768. */
export function peakLevel(pcm: Int16Array): number {
  let peak = 0;
  for (let index = 0; index < pcm.length; index += 1) peak = Math.max(peak, Math.abs(pcm[index]!));
  return peak;
}

/**
 * Level of the parts where there is sound: the RMS of the 20 ms frames within `rangeDb` of the loudest one. Pauses do not
 * pull it down, as they do a plain RMS of speech.
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

/** The same samples `gainDb` louder, in memory of their own, limited to 16 bits. */
export function amplify(pcm: Int16Array, gainDb: number): Int16Array {
  const gain = 10 ** (gainDb / 20);
  return Int16Array.from(pcm, (sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * gain))));
}

/** The magnitudes of mu-law codes are logarithms of samples: sixteen steps for 6 dB. */
const LOG_STEP_DB = 6 / 16;

/** Mean of the samples' own levels, above the faintest sound: unlike an RMS, no single loud sample decides it. For comparing frames. */
export function logLevelDb(pcm: Int16Array): number {
  let steps = 0;
  for (const code of encodeMulaw(pcm)) steps += ~code & 0x7f;
  return (LOG_STEP_DB * steps) / pcm.length;
}

import { rmsLevelDb } from '../../../src/audio/level.ts';

/** Level of one frequency in dBFS, by Goertzel's algorithm; a full-scale sine has -3. */
export function toneDb(pcm: Int16Array, hz: number, rateHz: number): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * hz) / rateHz);
  let [one, two] = [0, 0];
  for (const sample of pcm) [one, two] = [sample / 32_768 + coefficient * one - two, one];
  const power = (2 * (one * one + two * two - coefficient * one * two)) / pcm.length ** 2;
  return 10 * Math.log10(Math.max(power, 1e-12));
}

export interface MeasuredTone {
  readonly levelDb: number;
  /** How much of it is no tone of this frequency, in dB below it. */
  readonly restDb: number;
  readonly pcm: Int16Array;
}

/** The tenth of a second in which this tone is purest: a busy machine may tear a hole elsewhere, and no machine makes noise a tone. */
export function purest(pcm: Int16Array, hz: number, rateHz: number): MeasuredTone {
  const length = rateHz / 10;
  let best: MeasuredTone = { levelDb: -96, restDb: 0, pcm: pcm.subarray(0, length) };
  for (let at = 0; at + length <= pcm.length; at += length / 5) {
    const part = measuredTone(pcm.subarray(at, at + length), hz, rateHz);
    if (part.levelDb > -40 && part.restDb < best.restDb) best = part;
  }
  return best;
}

/** How much of a sound is a tone of this frequency. */
export function measuredTone(pcm: Int16Array, hz: number, rateHz: number): MeasuredTone {
  const levelDb = rmsLevelDb(pcm);
  const share = 10 ** ((toneDb(pcm, hz, rateHz) - levelDb) / 10);
  return { levelDb, restDb: 10 * Math.log10(Math.max(1e-9, 1 - share)), pcm };
}

/** A late frame leaves a hole before it: without the hole, its sound goes on where it stopped. */
export function withoutHoles(
  pcm: Int16Array,
  holes: readonly { readonly atMs: number; readonly durationMs: number }[],
  rateHz: number,
): Int16Array {
  const isInHole = (ms: number): boolean => holes.some(({ atMs, durationMs }) => ms >= atMs && ms < atMs + durationMs);
  return pcm.filter((_sample, at) => !isInHole((at * 1000) / rateHz));
}

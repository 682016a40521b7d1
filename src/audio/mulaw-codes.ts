import { decodeMulaw } from './g711.ts';

/** The sample that each mu-law code stands for. */
const SAMPLES = decodeMulaw(Uint8Array.from({ length: 256 }, (_, code) => code));
/**
 * The code of each sample that has one, by the upper 14 of its bits, which tell those apart; a sample has that code if it is the
 * one that the code stands for. Small enough to stay where the processor is quick to read.
 */
const CODES = new Uint8Array(16_384);
for (const [code, sample] of SAMPLES.entries()) CODES[(sample & 0xffff) >> 2] = code;

/** Of a sample of nothing. */
export const SILENCE_CODE = CODES[0]!;

/**
 * Writes the mu-law codes of samples that came out of mu-law, from `place` on.
 * @returns how many there are before the first that is no mu-law
 */
export function writeCodes(pcm: Int16Array, codes: Uint8Array, place: number): number {
  let at = 0;
  for (; at < pcm.length; at += 1) {
    const sample = pcm[at]!;
    const code = CODES[(sample & 0xffff) >> 2]!;
    if (SAMPLES[code] !== sample) break;
    codes[place + at] = code;
  }
  return at;
}

/** Writes the samples of `count` codes from `place` on to `target`, from `to` on. */
export function readCodes(codes: Uint8Array, place: number, count: number, target: Int16Array, to = 0): void {
  for (let at = 0; at < count; at += 1) target[to + at] = SAMPLES[codes[place + at]!]!;
}

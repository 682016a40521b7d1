import { encodeMulaw } from '../../src/audio/g711.ts';

/**
 * A number hidden in the lowest bits of mu-law codes. It survives whatever carries samples as they are, and nobody hears it:
 * a change of one quantisation step at most. By it the stand-in recogniser knows what is said, and when.
 */
const MAGIC_HIGH = 0x9e37_79b9;
const MAGIC_LOW = 0x7f4a_7c15;
const ID_BITS = 16;
/** Codes that a mark takes. */
export const WATERMARK_CODES = 64 + 2 * ID_BITS;

/** @param codes mu-law, changed in place. @throws RangeError for an id that is not 0 to 65,535, or too few codes */
export function stamp(codes: Uint8Array, id: number): void {
  if (!Number.isInteger(id) || id < 0 || id >= 2 ** ID_BITS) throw new RangeError(`an id is 0 to 65535, not ${id}`);
  if (codes.length < WATERMARK_CODES) throw new RangeError(`a mark takes ${WATERMARK_CODES} codes`);
  for (let index = 0; index < WATERMARK_CODES; index += 1) codes[index] = (codes[index]! & 0xfe) | bitAt(id, index);
}

/** The id twice, the second time inverted, so that no chance pattern is taken for one. */
function bitAt(id: number, index: number): number {
  if (index < 32) return (MAGIC_HIGH >>> (31 - index)) & 1;
  if (index < 64) return (MAGIC_LOW >>> (63 - index)) & 1;
  const place = index - 64;
  return place < ID_BITS ? (id >>> (ID_BITS - 1 - place)) & 1 : (~id >>> (2 * ID_BITS - 1 - place)) & 1;
}

/** Finds marks in a stream of samples that was mu-law once. */
export class WatermarkReader {
  readonly #onMark: (id: number, atSample: number) => void;
  /** The last 96 lowest bits, oldest first. */
  #high = 0;
  #low = 0;
  #ids = 0;
  #samples = 0;

  /** @param onMark `atSample`: the first sample of the mark, counted from the start of the stream */
  constructor(onMark: (id: number, atSample: number) => void) {
    this.#onMark = onMark;
  }

  get samples(): number {
    return this.#samples;
  }

  push(pcm: Int16Array): void {
    for (const code of encodeMulaw(pcm)) {
      this.#high = (this.#high << 1) | (this.#low >>> 31);
      this.#low = (this.#low << 1) | (this.#ids >>> 31);
      this.#ids = (this.#ids << 1) | (code & 1);
      this.#samples += 1;
      if (this.#high !== (MAGIC_HIGH | 0) || this.#low !== (MAGIC_LOW | 0)) continue;
      const id = this.#ids >>> ID_BITS;
      if ((id ^ (this.#ids & 0xffff)) === 0xffff) this.#onMark(id, this.#samples - WATERMARK_CODES);
    }
  }
}

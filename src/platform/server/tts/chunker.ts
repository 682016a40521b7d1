import { joinSamples } from '../../../audio/join-samples.ts';

/**
 * Gathers samples into chunks for the socket: a short first one so that playing can start, then longer ones (TTS doc,
 * events). Holds at most one chunk.
 */
export class Chunker {
  #wanted: number;
  readonly #later: number;
  #held: Int16Array[] = [];
  #heldSamples = 0;

  constructor(firstSamples: number, laterSamples: number) {
    this.#wanted = firstSamples;
    this.#later = laterSamples;
  }

  /** @returns full chunks, oldest first */
  push(pcm: Int16Array): Int16Array[] {
    const chunks: Int16Array[] = [];
    let rest = pcm;
    while (this.#heldSamples + rest.length >= this.#wanted) {
      const taken = this.#wanted - this.#heldSamples;
      this.#held.push(rest.subarray(0, taken));
      chunks.push(joinSamples(this.#held));
      rest = rest.subarray(taken);
      this.#held = [];
      this.#heldSamples = 0;
      this.#wanted = this.#later;
    }
    if (rest.length > 0) {
      this.#held.push(rest.slice());
      this.#heldSamples += rest.length;
    }
    return chunks;
  }

  /** The last, shorter chunk; undefined when nothing is held. */
  flush(): Int16Array | undefined {
    if (this.#heldSamples === 0) return undefined;
    const last = joinSamples(this.#held);
    this.#held = [];
    this.#heldSamples = 0;
    return last;
  }
}

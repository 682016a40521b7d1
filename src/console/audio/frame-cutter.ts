/** Cuts a microphone's sound into frames of 16-bit samples at another rate, or the same. */
export class FrameCutter {
  readonly #step: number;
  #frame: Int16Array;
  #filled = 0;
  /** The sample being made: the sum of what it covers, and how much that is. */
  #sum = 0;
  #covered = 0;

  /** @param inRateHz at least `rateHz`, or somewhat below */
  constructor(inRateHz: number, rateHz: number, frameMs = 20) {
    this.#step = inRateHz / rateHz;
    this.#frame = new Int16Array((rateHz * frameMs) / 1000);
  }

  /** @returns whole frames, oldest first, each with memory of its own */
  push(samples: Float32Array): Int16Array[] {
    const frames: Int16Array[] = [];
    for (const sample of samples) {
      // Each sample that goes out is the mean of what it covers: at the same rate that is the sample itself.
      let left = 1;
      while (this.#covered + left >= this.#step) {
        const part = this.#step - this.#covered;
        left -= part;
        this.#put((this.#sum + sample * part) / this.#step, frames);
        this.#sum = 0;
        this.#covered = 0;
      }
      this.#sum += sample * left;
      this.#covered += left;
    }
    return frames;
  }

  #put(value: number, frames: Int16Array[]): void {
    this.#frame[this.#filled] = Math.max(-32_768, Math.min(32_767, Math.round(value * 32_768)));
    this.#filled += 1;
    if (this.#filled < this.#frame.length) return;
    frames.push(this.#frame);
    this.#frame = new Int16Array(this.#frame.length);
    this.#filled = 0;
  }
}

/** Root mean square of samples between -1 and 1. */
export function levelOf(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return samples.length === 0 ? 0 : Math.sqrt(sum / samples.length);
}

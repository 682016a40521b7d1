/**
 * How far the engine's own pace is used. Further out its length strays from the speed by up to 8 % (its pauses do not
 * scale, measured with espeak-ng in English); within this range by 3 %.
 */
const slowestEngine = 0.8;
const fastestEngine = 1.25;

/** Splits a speed of 0.25 to 4 into the engine's pace and what has to be stretched afterwards: `stretch` 2 doubles the length. */
export function engineSpeed(speed: number): { engine: number; stretch: number } {
  const engine = Math.min(fastestEngine, Math.max(slowestEngine, speed));
  return { engine, stretch: engine / speed };
}

const windowMs = 30;
const searchMs = 8;

/**
 * Makes speech longer or shorter without changing its pitch: overlap-add of half-overlapping windows, each taken where it
 * fits the last one best (WSOLA, Verhelst and Roelands 1993). Streaming; holds less than 100 ms.
 */
export class TimeStretch {
  readonly #factor: number;
  readonly #step: number;
  readonly #half: number;
  readonly #search: number;
  /** Input that is still needed; its first sample stands at `#inputStart` of the stream. */
  #input: Float32Array = new Float32Array(0);
  #inputStart = 0;
  #received = 0;
  /** Windows made so far. */
  #windows = 0;
  /** Where the last window was taken from; its natural follower begins half a window later. */
  #lastFrom = 0;
  /** Second half of the last window, faded out, to be added to the next one. */
  #tail: Float32Array;
  #emitted = 0;
  /** Made, and not given out yet. */
  #held: Int16Array = new Int16Array(0);

  /**
   * @param factor     output length over input length
   * @param searchStep every n-th place is tried, and every n-th sample compared
   */
  constructor(factor: number, rateHz: number, searchStep = 2) {
    this.#step = searchStep;
    this.#factor = factor;
    this.#half = Math.round((windowMs * rateHz) / 2000);
    this.#search = Math.round((searchMs * rateHz) / 1000);
    this.#tail = new Float32Array(this.#half);
  }

  /** @returns what these samples complete, in memory of their own */
  push(pcm: Int16Array): Int16Array {
    this.#append(Float32Array.from(pcm));
    this.#received += pcm.length;
    return this.#release(this.#run());
  }

  /** @returns the rest: in all, round(inputs × factor) samples */
  flush(): Int16Array {
    // Silence behind the end lets the last windows be taken.
    this.#append(new Float32Array(4 * (this.#half + this.#search) + Math.ceil((2 * this.#half) / this.#factor)));
    return this.#release(this.#run());
  }

  /** Gives out no more than the input so far is worth: a window may reach beyond it, and the end may come there. */
  #release(made: Int16Array): Int16Array {
    const all = new Int16Array(this.#held.length + made.length);
    all.set(this.#held);
    all.set(made, this.#held.length);
    const due = Math.max(0, Math.round(this.#received * this.#factor) - this.#emitted);
    const given = all.slice(0, due);
    this.#held = all.slice(due);
    this.#emitted += given.length;
    return given;
  }

  #append(samples: Float32Array): void {
    const joined = new Float32Array(this.#input.length + samples.length);
    joined.set(this.#input);
    joined.set(samples, this.#input.length);
    this.#input = joined;
  }

  #run(): Int16Array {
    const parts: number[] = [];
    for (;;) {
      const ideal = Math.round((this.#windows * this.#half) / this.#factor);
      const follower = this.#lastFrom + this.#half;
      const need = Math.max(ideal, this.#windows === 0 ? 0 : follower) + this.#search + 2 * this.#half;
      if (need > this.#inputStart + this.#input.length) break;
      const from = this.#windows === 0 ? 0 : this.#bestNear(ideal, follower);
      this.#overlap(from, parts);
      this.#lastFrom = from;
      this.#windows += 1;
      this.#forget(Math.min(from, Math.round((this.#windows * this.#half) / this.#factor) - this.#search));
    }
    return Int16Array.from(parts, (sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample))));
  }

  /** The place near `ideal` whose audio goes on most like what would naturally have followed. */
  #bestNear(ideal: number, follower: number): number {
    let best = ideal;
    let bestScore = Number.NEGATIVE_INFINITY;
    const first = Math.max(this.#inputStart, ideal - this.#search);
    for (let from = first; from <= ideal + this.#search; from += this.#step) {
      let dot = 0;
      let energy = 1;
      for (let index = 0; index < this.#half; index += this.#step) {
        const candidate = this.#at(from + index);
        dot += candidate * this.#at(follower + index);
        energy += candidate * candidate;
      }
      const score = dot / Math.sqrt(energy);
      if (score > bestScore) {
        bestScore = score;
        best = from;
      }
    }
    return best;
  }

  #overlap(from: number, parts: number[]): void {
    for (let index = 0; index < this.#half; index += 1) {
      const rise = this.#windows === 0 ? 1 : 0.5 - 0.5 * Math.cos((Math.PI * index) / this.#half);
      parts.push((this.#tail[index] ?? 0) + this.#at(from + index) * rise);
      const fall = 0.5 + 0.5 * Math.cos((Math.PI * index) / this.#half);
      this.#tail[index] = this.#at(from + this.#half + index) * fall;
    }
  }

  #at(position: number): number {
    return this.#input[position - this.#inputStart] ?? 0;
  }

  #forget(before: number): void {
    const drop = Math.min(before - this.#inputStart, this.#input.length);
    if (drop < this.#half) return;
    this.#input = this.#input.slice(drop);
    this.#inputStart += drop;
  }
}

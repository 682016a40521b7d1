import { joinSamples } from '../../../audio/samples.ts';

/**
 * Range in which the engine's own speed is used. Inside it the length of speech is within 3 % of the speed, outside within 8 %: pauses do
 * not scale (measured with espeak-ng in English).
 */
const slowestEngine = 0.8;
const fastestEngine = 1.25;

/** Splits a speed of 0.25 to 4 into the engine's speed and a time stretch; `stretch` 2 doubles the length. */
export function engineSpeed(speed: number): { engine: number; stretch: number } {
  const engine = Math.min(fastestEngine, Math.max(slowestEngine, speed));
  return { engine, stretch: engine / speed };
}

const windowMs = 30;
const searchMs = 8;

/**
 * Changes the length of speech without changing its pitch: overlap-add of half-overlapping windows, each taken where it fits the last one
 * best (WSOLA, Verhelst and Roelands 1993). Streaming, with less than 100 ms of delay.
 */
export class TimeStretch {
  readonly #factor: number;
  readonly #step: number;
  readonly #half: number;
  readonly #search: number;
  /** Input still needed; its first sample is number `#inputStart` of the stream. */
  #input: Float32Array = new Float32Array(0);
  #inputStart = 0;
  #received = 0;
  /** Windows made so far. */
  #windows = 0;
  /** Position of the last window; its natural continuation starts half a window later. */
  #lastFrom = 0;
  /** Second half of the last window, faded out, to be added to the next window. */
  #tail: Float32Array;
  #emitted = 0;
  /** Output not returned yet. */
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

  /** @returns the output completed by these samples, in a new array */
  push(pcm: Int16Array): Int16Array {
    this.#append(Float32Array.from(pcm));
    this.#received += pcm.length;
    return this.#release(this.#run());
  }

  /** @returns the rest, so that the total is round(inputs × factor) samples */
  flush(): Int16Array {
    // Silence after the end completes the last windows.
    this.#append(new Float32Array(4 * (this.#half + this.#search) + Math.ceil((2 * this.#half) / this.#factor)));
    return this.#release(this.#run());
  }

  /** Returns no more than the length of the input so far times the factor: a window may reach beyond the end. */
  #release(made: Int16Array): Int16Array {
    const all = joinSamples([this.#held, made]);
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

  /** The position near `ideal` whose audio is most like the natural continuation. */
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

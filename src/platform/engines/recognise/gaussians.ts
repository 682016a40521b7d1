import type { GaussianSet } from './acoustic-model.ts';
import { FEATURES } from './features.ts';

/** The training frames of one state, as pairs of utterance and frame. */
export interface FramePool {
  readonly utterances: readonly Float32Array[];
  readonly utterance: number[];
  readonly frame: number[];
}

const NO_FRAMES = new Float32Array(0);
const EM_ROUNDS = 3;
/** A component needs at least this many frames. */
const MIN_FRAMES = 12;

/** Fits a mixture to each pool by splitting and reassigning (hard EM). Empty pools get the global Gaussian. */
export function fitGaussians(pools: readonly FramePool[], components: number, floorShare: number): GaussianSet {
  const size = pools.length * components;
  const set = {
    count: pools.length,
    components,
    means: new Float32Array(size * FEATURES),
    precisions: new Float32Array(size * FEATURES),
    constants: new Float32Array(size).fill(-1e30),
  };
  const global = globalVariance(pools);
  pools.forEach((pool, index) => fitPool(pool, set, index * components, global, floorShare));
  return set;
}

function globalVariance(pools: readonly FramePool[]): Float64Array {
  const mean = new Float64Array(FEATURES);
  const square = new Float64Array(FEATURES);
  let count = 0;
  for (const pool of pools) {
    for (let i = 0; i < pool.frame.length; i += 1) {
      const frames = pool.utterances[pool.utterance[i] ?? 0] ?? NO_FRAMES;
      const at = (pool.frame[i] ?? 0) * FEATURES;
      for (let d = 0; d < FEATURES; d += 1) {
        const value = frames[at + d] ?? 0;
        mean[d] = (mean[d] ?? 0) + value;
        square[d] = (square[d] ?? 0) + value * value;
      }
      count += 1;
    }
  }
  return square.map((sum, d) => Math.max(1e-3, sum / Math.max(1, count) - ((mean[d] ?? 0) / Math.max(1, count)) ** 2));
}

function fitPool(pool: FramePool, set: GaussianSet, first: number, global: Float64Array, floorShare: number): void {
  const total = pool.frame.length;
  const { means, precisions, constants } = set;
  const owner = new Uint16Array(total);
  let used = 1;
  estimate();
  while (used < set.components && total >= (used + 1) * MIN_FRAMES) {
    split(Math.min(used, set.components - used, Math.floor(total / MIN_FRAMES) - used));
    for (let round = 0; round < EM_ROUNDS; round += 1) {
      assign();
      estimate();
    }
  }

  /** Splits the components with the most frames into two, 0.8 deviations apart. */
  function split(howMany: number): void {
    const counts = new Uint32Array(used);
    for (let i = 0; i < total; i += 1) counts[owner[i] ?? 0] = (counts[owner[i] ?? 0] ?? 0) + 1;
    const widest = [...counts.keys()].sort((a, b) => (counts[b] ?? 0) - (counts[a] ?? 0)).slice(0, howMany);
    for (const component of widest) {
      const from = (first + component) * FEATURES;
      const to = (first + used) * FEATURES;
      for (let d = 0; d < FEATURES; d += 1) {
        const shift = (0.4 / Math.sqrt(2 * (precisions[from + d] ?? 0))) * (d % 2 === 0 ? 1 : -1);
        means[to + d] = (means[from + d] ?? 0) + shift;
        means[from + d] = (means[from + d] ?? 0) - shift;
        precisions[to + d] = precisions[from + d] ?? 0;
      }
      constants[first + used] = constants[first + component] ?? 0;
      used += 1;
    }
  }

  function assign(): void {
    for (let i = 0; i < total; i += 1) {
      const frames = pool.utterances[pool.utterance[i] ?? 0] ?? NO_FRAMES;
      const x = (pool.frame[i] ?? 0) * FEATURES;
      let best = -Infinity;
      for (let c = 0; c < used; c += 1) {
        let score = constants[first + c] ?? 0;
        const at = (first + c) * FEATURES;
        for (let d = 0; d < FEATURES; d += 1) {
          const off = (frames[x + d] ?? 0) - (means[at + d] ?? 0);
          score -= off * off * (precisions[at + d] ?? 0);
        }
        if (score > best) {
          best = score;
          owner[i] = c;
        }
      }
    }
  }

  function estimate(): void {
    const counts = new Float64Array(used);
    const sums = new Float64Array(used * FEATURES);
    const squares = new Float64Array(used * FEATURES);
    for (let i = 0; i < total; i += 1) {
      const frames = pool.utterances[pool.utterance[i] ?? 0] ?? NO_FRAMES;
      const x = (pool.frame[i] ?? 0) * FEATURES;
      const at = (owner[i] ?? 0) * FEATURES;
      counts[owner[i] ?? 0] = (counts[owner[i] ?? 0] ?? 0) + 1;
      for (let d = 0; d < FEATURES; d += 1) {
        const value = frames[x + d] ?? 0;
        sums[at + d] = (sums[at + d] ?? 0) + value;
        squares[at + d] = (squares[at + d] ?? 0) + value * value;
      }
    }
    for (let c = 0; c < used; c += 1) {
      const count = counts[c] ?? 0;
      const to = (first + c) * FEATURES;
      if (count === 0 && total > 0) continue;
      let logDeterminant = 0;
      for (let d = 0; d < FEATURES; d += 1) {
        const mean = count === 0 ? 0 : (sums[c * FEATURES + d] ?? 0) / count;
        const own = count === 0 ? (global[d] ?? 0) : Math.max(0, (squares[c * FEATURES + d] ?? 0) / count - mean * mean);
        // With few frames the global variance dominates.
        const smoothed = (own * count + (global[d] ?? 0) * 0.5 * MIN_FRAMES) / (count + MIN_FRAMES);
        const variance = Math.max((global[d] ?? 0) * floorShare, smoothed);
        means[to + d] = mean;
        precisions[to + d] = 0.5 / variance;
        logDeterminant += Math.log(variance);
      }
      const weight = Math.max(1, count) / Math.max(1, total);
      constants[first + c] = Math.log(weight) - 0.5 * logDeterminant;
    }
  }
}

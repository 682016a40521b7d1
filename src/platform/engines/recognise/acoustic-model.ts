import { FEATURES } from './features.ts';

/**
 * Left-to-right word models. Each word has a run of states, each state a few diagonal Gaussians; state 0 is silence.
 */
export interface AcousticModel {
  /** Vocabulary words (underscores kept), in the order of the network's word indexes. */
  readonly words: readonly string[];
  /** First state of each word, and how many it has. */
  readonly wordStates: readonly { readonly first: number; readonly count: number }[];
  readonly states: GaussianSet;
}

/** `count` mixtures of `components` diagonal Gaussians each. */
export interface GaussianSet {
  readonly count: number;
  readonly components: number;
  /** count × components × FEATURES */
  readonly means: Float32Array;
  /** As `means`: half the inverse variance. */
  readonly precisions: Float32Array;
  /** count × components: log weight and normalising constant. */
  readonly constants: Float32Array;
}

/**
 * Log likelihood of a frame under one mixture: that of its best component.
 * @param least what is below it need not be told apart: the answer is `least` then
 */
export function logLikelihood(set: GaussianSet, index: number, frames: Float32Array, frame: number, least = -Infinity): number {
  const { components, means, precisions, constants } = set;
  const x = frame * FEATURES;
  let best = least;
  for (let component = index * components; component < (index + 1) * components; component += 1) {
    let score = constants[component]!;
    const at = component * FEATURES;
    for (let d = 0; d < FEATURES && score > best; d += 3) {
      const a = frames[x + d]! - means[at + d]!;
      const b = frames[x + d + 1]! - means[at + d + 1]!;
      const c = frames[x + d + 2]! - means[at + d + 2]!;
      score -= a * a * precisions[at + d]! + b * b * precisions[at + d + 1]! + c * c * precisions[at + d + 2]!;
    }
    if (score > best) best = score;
  }
  return best;
}

export const SILENCE_STATE = 0;
/** Log probabilities of staying in a state, going on, and leaving one out. */
export const STAY = Math.log(0.5);
export const STEP = Math.log(0.45);
export const SKIP = Math.log(0.05);

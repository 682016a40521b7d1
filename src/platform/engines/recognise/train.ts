import { type AcousticModel, type GaussianSet, SILENCE_STATE } from './acoustic-model.ts';
import { alignFrames, placesOf } from './align.ts';
import { FEATURES } from './features.ts';
import { fitGaussians, type FramePool } from './gaussians.ts';

/** One spoken utterance: features and what was said (word indexes). */
export interface TrainingUtterance {
  readonly frames: Float32Array;
  /** The same sound, frame for frame, heard through noise or another throat: it shares the alignment. */
  readonly twins: readonly Float32Array[];
  readonly words: readonly number[];
  /** For single words: the first and last frame of the sound, for the first guess. */
  readonly active: { readonly from: number; readonly to: number };
}

/** Frames of speech for each state of a word: half of that is the fastest that can still be followed. */
const FRAMES_A_STATE = 2.5;
const STATES = { min: 3, max: 26 };
/** Components in each round of alignment and estimation. */
const ROUNDS = [1, 1, 2, 4];
const VARIANCE_FLOOR = 0.2;

/**
 * Trains word models from utterances whose words are known but not where they are. Every word must also be said alone
 * by at least one voice: that is the first guess.
 */
export function trainModel(words: readonly string[], utterances: readonly TrainingUtterance[]): AcousticModel {
  const wordStates = layStates(words, utterances);
  const count = wordStates.reduce((sum, word) => sum + word.count, 1);
  let states = fitGaussians(firstPools(count, wordStates, utterances), 1, VARIANCE_FLOOR);
  let pools: FramePool[] = [];
  for (const components of ROUNDS) {
    pools = alignedPools(count, wordStates, utterances, states);
    states = fitGaussians(pools, components, VARIANCE_FLOOR);
  }
  return { words, wordStates, states };
}

function layStates(words: readonly string[], utterances: readonly TrainingUtterance[]): { first: number; count: number }[] {
  let first = 1;
  return words.map((word, index) => {
    const alone = utterances.filter((utterance) => utterance.words.length === 1 && utterance.words[0] === index);
    if (alone.length === 0) throw new RangeError(`no voice says ${word} alone`);
    const frames = alone.reduce((sum, { active }) => sum + active.to - active.from, 0) / alone.length;
    const count = Math.max(STATES.min, Math.min(STATES.max, Math.round(frames / FRAMES_A_STATE)));
    const laid = { first, count };
    first += count;
    return laid;
  });
}

/** Puts frames into pools by state: those of an utterance and of its twins, which come right after it. */
class Pools {
  readonly pools: FramePool[];
  readonly #index: number[] = [];
  readonly #utterances: readonly TrainingUtterance[];

  constructor(count: number, utterances: readonly TrainingUtterance[]) {
    const all: Float32Array[] = [];
    for (const { frames, twins } of utterances) this.#index.push(all.push(frames, ...twins) - twins.length - 1);
    this.pools = Array.from({ length: count }, () => ({ utterances: all, utterance: [], frame: [] }));
    this.#utterances = utterances;
  }

  add(state: number, utterance: number, frame: number): void {
    const pool = this.pools[state]!;
    const first = this.#index[utterance]!;
    for (let twin = 0; twin <= this.#utterances[utterance]!.twins.length; twin += 1) {
      pool.utterance.push(first + twin);
      pool.frame.push(frame);
    }
  }
}

/** Single words cut into equal parts. */
function firstPools(
  count: number,
  wordStates: readonly { first: number; count: number }[],
  utterances: readonly TrainingUtterance[],
): FramePool[] {
  const pools = new Pools(count, utterances);
  utterances.forEach(({ frames, words, active }, index) => {
    if (words.length !== 1) return;
    const { first, count: states } = wordStates[words[0]!]!;
    for (let frame = 0; frame < frames.length / FEATURES; frame += 1) {
      const inside = frame >= active.from && frame < active.to;
      const share = (frame - active.from) / Math.max(1, active.to - active.from);
      const state = inside ? first + Math.min(states - 1, Math.floor(share * states)) : SILENCE_STATE;
      pools.add(state, index, frame);
    }
  });
  return pools.pools;
}

function alignedPools(
  count: number,
  wordStates: readonly { first: number; count: number }[],
  utterances: readonly TrainingUtterance[],
  states: GaussianSet,
): FramePool[] {
  const pools = new Pools(count, utterances);
  utterances.forEach(({ frames, words }, index) => {
    const aligned = alignFrames(frames, placesOf(words, wordStates), states);
    aligned?.forEach((state, frame) => {
      pools.add(state, index, frame);
    });
  });
  return pools.pools;
}

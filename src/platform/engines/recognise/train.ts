import {
  logLikelihood,
  type GaussianSet,
  SILENCE_STATE,
  SKIP,
  STAY,
  STEP,
  type AcousticModel,
  wordStatesOf,
} from './acoustic-model.ts';
import { FEATURES } from './features.ts';
import { fitGaussians, type FramePool } from './gaussians.ts';

/** One spoken utterance: features and what was said (word indexes). */
export interface TrainingUtterance {
  readonly frames: Float32Array;
  /** Variants of the same audio, frame for frame, with noise or another vocal tract length; they share its alignment. */
  readonly twins: readonly Float32Array[];
  readonly words: readonly number[];
  /** For single words: the frames with sound, for the first alignment. */
  readonly active: { readonly from: number; readonly to: number };
}

/** Frames of speech for each state of a word. Speech twice as fast can still be aligned. */
const FRAMES_A_STATE = 2.5;
const STATES = { min: 3, max: 26 };
/** Components in each round of alignment and estimation. */
const ROUNDS = [1, 1, 2, 4];
const VARIANCE_FLOOR = 0.2;

/**
 * Trains word models from utterances with known words but unknown times. At least one voice must say every word alone, for the first
 * alignment.
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

/** Collects frames by state: those of an utterance, and the same frames of its twins. */
class Pools {
  readonly pools: FramePool[];
  /** For each utterance, the indexes of its frames and of its twins' in the pools' `utterances`. */
  readonly #indexes: number[][] = [];

  constructor(count: number, utterances: readonly TrainingUtterance[]) {
    const all: Float32Array[] = [];
    for (const { frames, twins } of utterances) this.#indexes.push([frames, ...twins].map((each) => all.push(each) - 1));
    this.pools = Array.from({ length: count }, () => ({ utterances: all, utterance: [], frame: [] }));
  }

  add(state: number, utterance: number, frame: number): void {
    const pool = this.pools[state];
    for (const index of this.#indexes[utterance] ?? []) {
      pool?.utterance.push(index);
      pool?.frame.push(frame);
    }
  }
}

/** The first alignment: single words cut into equal parts. */
function firstPools(
  count: number,
  wordStates: readonly { first: number; count: number }[],
  utterances: readonly TrainingUtterance[],
): FramePool[] {
  const pools = new Pools(count, utterances);
  utterances.forEach(({ frames, words, active }, index) => {
    if (words.length !== 1) return;
    const { first, count: states } = wordStatesOf({ wordStates }, words[0] ?? -1);
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

/** Beam: alignments this far below the best of a frame are dropped. */
const BEAM = 300;

/** One place in the sequence of states of an utterance. */
interface Place {
  readonly state: number;
  /** May be skipped: silence between words and at the ends. */
  readonly optional: boolean;
  /** Third state of a word or later: the state before it may be skipped. */
  readonly inner: boolean;
}

function placesOf(words: readonly number[], wordStates: readonly { first: number; count: number }[]): Place[] {
  const silence = { state: SILENCE_STATE, optional: true, inner: false };
  const places: Place[] = [silence];
  for (const word of words) {
    const { first, count } = wordStatesOf({ wordStates }, word);
    for (let i = 0; i < count; i += 1) places.push({ state: first + i, optional: false, inner: i > 1 });
    places.push(silence);
  }
  return places;
}

/**
 * The most likely state of each frame, given the words that were said (Viterbi).
 * @returns undefined when there are too few frames for the words
 */
function alignFrames(frames: Float32Array, places: readonly Place[], set: GaussianSet): Uint16Array | undefined {
  const length = frames.length / FEATURES;
  const width = places.length;
  let scores = new Float64Array(width).fill(-Infinity);
  let next = new Float64Array(width);
  const from = new Int16Array(length * width);
  const stateAt = Uint16Array.from(places, ({ state }) => state);
  // Log probability of coming from two places back; -Infinity where that is not allowed.
  const leap = Float64Array.from(places, ({ inner }, at) =>
    inner ? SKIP : places[at - 1]?.optional === true && at > 1 ? STEP : -Infinity,
  );
  const emissions = new Float64Array(set.count);
  const known = new Int32Array(set.count).fill(-1);
  let leading = 0;
  for (let frame = 0; frame < length; frame += 1) {
    const threshold = leading - BEAM;
    leading = -Infinity;
    for (let place = 0; place < width; place += 1) {
      let best = frame === 0 ? (place === 0 ? 0 : place === 1 ? STEP : -Infinity) : (scores[place] ?? 0) + STAY;
      let source = place;
      if (frame > 0 && place > 0 && (scores[place - 1] ?? 0) + STEP > best) {
        best = (scores[place - 1] ?? 0) + STEP;
        source = place - 1;
      }
      if (frame > 0 && place > 1 && (scores[place - 2] ?? 0) + (leap[place] ?? 0) > best) {
        best = (scores[place - 2] ?? 0) + (leap[place] ?? 0);
        source = place - 2;
      }
      from[frame * width + place] = source;
      if (best < threshold) {
        next[place] = -Infinity;
        continue;
      }
      const state = stateAt[place] ?? 0;
      if (known[state] !== frame) {
        known[state] = frame;
        emissions[state] = logLikelihood(set, state, frames, frame);
      }
      const emission = emissions[state] ?? 0;
      next[place] = best + emission;
      if (best + emission > leading) leading = best + emission;
    }
    [scores, next] = [next, scores];
  }
  let place = (scores[width - 1] ?? 0) >= (scores[width - 2] ?? 0) ? width - 1 : width - 2;
  if (scores[place] === -Infinity || length === 0) return undefined;
  const states = new Uint16Array(length);
  for (let frame = length - 1; frame >= 0; frame -= 1) {
    states[frame] = stateAt[place] ?? SILENCE_STATE;
    place = from[frame * width + place] ?? 0;
  }
  return states;
}

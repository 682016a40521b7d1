import { logLikelihood, type GaussianSet, SILENCE_STATE, SKIP, STAY, STEP, type AcousticModel } from './acoustic-model.ts';
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
    const first = this.#index[utterance] ?? 0;
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
    const { first, count: states } = wordStates[words[0] ?? 0]!;
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

/** Alignments this far below the best of a frame are given up. */
const BEAM = 300;

/** One place on an utterance's line of states. */
interface Place {
  readonly state: number;
  /** May be left out entirely: silence between words and at the ends. */
  readonly optional: boolean;
  /** Second state of a word or later: the one before it may be jumped over. */
  readonly inner: boolean;
}

function placesOf(words: readonly number[], wordStates: readonly { first: number; count: number }[]): Place[] {
  const silence = { state: SILENCE_STATE, optional: true, inner: false };
  const places: Place[] = [silence];
  for (const word of words) {
    const { first, count } = wordStates[word]!;
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
  // What each place may be reached from besides itself and the one before it: one further back, at this cost.
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
    states[frame] = places[place]!.state;
    place = from[frame * width + place] ?? 0;
  }
  return states;
}

import { logLikelihood, type GaussianSet, SILENCE_STATE, SKIP, STAY, STEP } from './acoustic-model.ts';
import { FEATURES } from './features.ts';

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

export function placesOf(words: readonly number[], wordStates: readonly { first: number; count: number }[]): Place[] {
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
export function alignFrames(frames: Float32Array, places: readonly Place[], set: GaussianSet): Uint16Array | undefined {
  const length = frames.length / FEATURES;
  const width = places.length;
  let scores = new Float64Array(width).fill(-Infinity);
  let next = new Float64Array(width);
  const from = new Int16Array(length * width);
  let leading = 0;
  for (let frame = 0; frame < length; frame += 1) {
    const local = new Map<number, number>();
    const threshold = leading - BEAM;
    leading = -Infinity;
    for (let place = 0; place < width; place += 1) {
      let best = frame === 0 ? (place === 0 ? 0 : place === 1 ? STEP : -Infinity) : scores[place]! + STAY;
      let source = place;
      const consider = (at: number, cost: number): void => {
        if (at >= 0 && scores[at]! + cost > best) [best, source] = [scores[at]! + cost, at];
      };
      if (frame > 0) {
        consider(place - 1, STEP);
        if (places[place - 1]?.optional === true || places[place]!.inner) consider(place - 2, places[place]!.inner ? SKIP : STEP);
      }
      from[frame * width + place] = source;
      if (best < threshold) {
        next[place] = -Infinity;
        continue;
      }
      const state = places[place]!.state;
      let emission = local.get(state);
      if (emission === undefined) {
        emission = logLikelihood(set, state, frames, frame);
        local.set(state, emission);
      }
      next[place] = best + emission;
      if (best + emission > leading) leading = best + emission;
    }
    [scores, next] = [next, scores];
  }
  let place = scores[width - 1]! >= scores[width - 2]! ? width - 1 : width - 2;
  if (scores[place] === -Infinity || length === 0) return undefined;
  const states = new Uint16Array(length);
  for (let frame = length - 1; frame >= 0; frame -= 1) {
    states[frame] = places[place]!.state;
    place = from[frame * width + place]!;
  }
  return states;
}

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
      let best = frame === 0 ? (place === 0 ? 0 : place === 1 ? STEP : -Infinity) : scores[place]! + STAY;
      let source = place;
      if (frame > 0 && place > 0 && scores[place - 1]! + STEP > best) {
        best = scores[place - 1]! + STEP;
        source = place - 1;
      }
      if (frame > 0 && place > 1 && scores[place - 2]! + leap[place]! > best) {
        best = scores[place - 2]! + leap[place]!;
        source = place - 2;
      }
      from[frame * width + place] = source;
      if (best < threshold) {
        next[place] = -Infinity;
        continue;
      }
      const state = stateAt[place]!;
      if (known[state] !== frame) {
        known[state] = frame;
        emissions[state] = logLikelihood(set, state, frames, frame);
      }
      const emission = emissions[state]!;
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

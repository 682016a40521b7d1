import { FEATURES } from './features.ts';

/**
 * Left-to-right hidden Markov models of words. Each word has a run of states, each state a mixture of diagonal Gaussians; state 0 is
 * silence.
 */
export interface AcousticModel {
  /** Vocabulary words (underscores kept), in the order of the network's word indexes. */
  readonly words: readonly string[];
  /** First state of each word, and how many it has. */
  readonly wordStates: readonly { readonly first: number; readonly count: number }[];
  readonly states: GaussianSet;
}

/** The states of a word. @throws RangeError for an index that is no word of the model */
export function wordStatesOf({ wordStates }: Pick<AcousticModel, 'wordStates'>, word: number): { first: number; count: number } {
  const states = wordStates[word];
  if (states === undefined) throw new RangeError(`the model has no word ${word}`);
  return states;
}

/** `count` mixtures of `components` diagonal Gaussians each. */
export interface GaussianSet {
  readonly count: number;
  readonly components: number;
  /** count × components × FEATURES */
  readonly means: Float32Array;
  /** In the layout of `means`: half the inverse variances. */
  readonly precisions: Float32Array;
  /** count × components: log weight and normalising constant. */
  readonly constants: Float32Array;
}

/**
 * Log likelihood of a frame under one mixture, that of its best component.
 * @param least lower bound: any smaller likelihood is returned as `least`
 */
export function logLikelihood(set: GaussianSet, index: number, frames: Float32Array, frame: number, least = -Infinity): number {
  const { components, means, precisions, constants } = set;
  const x = frame * FEATURES;
  let best = least;
  for (let component = index * components; component < (index + 1) * components; component += 1) {
    let score = constants[component] ?? 0;
    const at = component * FEATURES;
    for (let d = 0; d < FEATURES && score > best; d += 3) {
      const a = (frames[x + d] ?? 0) - (means[at + d] ?? 0);
      const b = (frames[x + d + 1] ?? 0) - (means[at + d + 1] ?? 0);
      const c = (frames[x + d + 2] ?? 0) - (means[at + d + 2] ?? 0);
      score -= a * a * (precisions[at + d] ?? 0) + b * b * (precisions[at + d + 1] ?? 0) + c * c * (precisions[at + d + 2] ?? 0);
    }
    if (score > best) best = score;
  }
  return best;
}

export const SILENCE_STATE = 0;
/** Log probabilities of staying in a state, of going to the next one, and of skipping one. */
export const STAY = Math.log(0.5);
export const STEP = Math.log(0.45);
export const SKIP = Math.log(0.05);

const MAGIC = 0x4f_46_48_4d;

interface SetHeader {
  readonly count: number;
  readonly components: number;
}

interface Header {
  readonly words: readonly string[];
  readonly wordStates: readonly { readonly first: number; readonly count: number }[];
  readonly states: SetHeader;
}

/** A model as bytes: magic number, header length, JSON header (padded to 4), then the numbers as 32-bit floats. */
export function encodeModel(model: AcousticModel): Uint8Array {
  const { words, wordStates, states } = model;
  const sizes = ({ count, components }: GaussianSet): SetHeader => ({ count, components });
  const header = { words, wordStates, states: sizes(states) } satisfies Header;
  const json = Buffer.from(JSON.stringify(header));
  const padded = Buffer.alloc(Math.ceil(json.length / 4) * 4, ' ');
  json.copy(padded);
  const numbers = [states.means, states.precisions, states.constants];
  return Buffer.concat([
    new Uint8Array(Uint32Array.of(MAGIC, padded.length).buffer),
    padded,
    ...numbers.map((part) => new Uint8Array(part.buffer, part.byteOffset, part.byteLength)),
  ]);
}

/** @throws RangeError when the bytes are not a whole model */
export function decodeModel(bytes: Uint8Array, features: number): AcousticModel {
  const copy = Uint8Array.from(bytes);
  if (copy.length < 8) throw new RangeError('not a model file');
  const [magic, length] = new Uint32Array(copy.buffer, 0, 2);
  if (magic !== MAGIC || length === undefined || length % 4 !== 0 || copy.length < 8 + length) {
    throw new RangeError('not a model file');
  }
  // A file of ours, checked by its magic number, its length and the hash in its name.
  const header = JSON.parse(Buffer.from(copy.buffer, 8, length).toString()) as Header;
  let at = 8 + length;
  const take = (count: number): Float32Array => {
    if (at + count * 4 > copy.length) throw new RangeError('the model file is cut short');
    const part = new Float32Array(copy.buffer, at, count);
    at += count * 4;
    return part;
  };
  const set = ({ count, components }: SetHeader): GaussianSet => ({
    count,
    components,
    means: take(count * components * features),
    precisions: take(count * components * features),
    constants: take(count * components),
  });
  const { words, wordStates } = header;
  return { words, wordStates, states: set(header.states) };
}

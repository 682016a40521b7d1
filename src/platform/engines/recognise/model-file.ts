import type { AcousticModel, GaussianSet } from './acoustic-model.ts';

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
  // Our own file, checked by its magic number, its length and the hash in its name.
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

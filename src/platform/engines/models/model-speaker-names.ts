import type { Used, VoiceModel } from '../../../speech/models/model.ts';
import { type FileHandle, open } from 'node:fs/promises';

/** `ModelProto.metadata_props` in onnx.proto, and the key and value of its entries. */
const METADATA = 14;
const KEY = 1;
const VALUE = 2;
/** Types of fields on the wire of protocol buffers. */
const VARINT = 0;
const DELIMITED = 2;
/** A field's number, type and length. */
const HEADER_BYTES = 20;
const MOST_BYTES = 1024 * 1024;

/**
 * Reads a model's metadata, such as names of speakers, without the weights.
 * @returns an empty map for a file that is not an ONNX model
 * @throws when the file cannot be read
 */
export async function readOnnxMetadata(path: string): Promise<ReadonlyMap<string, string>> {
  const metadata = new Map<string, string>();
  const file = await open(path);
  try {
    const { size } = await file.stat();
    for (let at = 0; at < size;) {
      const header = fieldAt(await bytesAt(file, at, HEADER_BYTES), 0);
      if (header === undefined) return metadata;
      const { number, from, length } = header;
      if (number === METADATA && length <= MOST_BYTES) {
        const entry = entryOf(await bytesAt(file, at + from, length));
        if (entry !== undefined) metadata.set(...entry);
      }
      at += from + length;
    }
    return metadata;
  } finally {
    await file.close();
  }
}

function entryOf(bytes: Buffer): [key: string, value: string] | undefined {
  const fields = new Map<number, string>();
  for (let at = 0; at < bytes.length;) {
    const field = fieldAt(bytes, at);
    if (field === undefined) return undefined;
    fields.set(field.number, bytes.toString('utf8', field.from, field.from + field.length));
    at = field.from + field.length;
  }
  const key = fields.get(KEY);
  return key === undefined ? undefined : [key, fields.get(VALUE) ?? ''];
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

/** @returns where the field's value begins, and its length; undefined for what no ONNX model has */
function fieldAt(bytes: Buffer, at: number): { number: number; from: number; length: number } | undefined {
  const tag = varintAt(bytes, at);
  if (tag === undefined) return undefined;
  const number = Math.floor(tag.value / 8);
  const value = varintAt(bytes, tag.end);
  if (value === undefined || number === 0) return undefined;
  if (tag.value % 8 === DELIMITED) return { number, from: value.end, length: value.value };
  return tag.value % 8 === VARINT ? { number, from: value.end, length: 0 } : undefined;
}

function varintAt(bytes: Buffer, at: number): { value: number; end: number } | undefined {
  let value = 0;
  for (let end = at; end < Math.min(bytes.length, at + 10); end += 1) {
    const byte = bytes[end] ?? 0;
    value += (byte & 0x7f) * 2 ** (7 * (end - at));
    if (byte < 0x80) return { value, end: end + 1 };
  }
  return undefined;
}

/** A speaker of a voice model. */
export interface ModelSpeaker {
  /** The name to ask for. */
  readonly name: string;
  /** Place among the used models, and among the speakers of the model. */
  readonly model: number;
  readonly speaker: number;
  /** ISO 639 codes of the languages it is meant for, of those that the model is used for. */
  readonly languages: readonly string[];
  /** Undefined where the model does not say. */
  readonly gender: 'female' | 'male' | undefined;
}

/** Some models have hundreds of speakers, in no particular order. */
const MOST_SPEAKERS = 100;
/** First letters of Kokoro's names; the second one is the gender (`af_bella`: American, female). */
const KOKORO_LANGUAGES: Readonly<Record<string, string>> = {
  a: 'en',
  b: 'en',
  e: 'es',
  f: 'fr',
  h: 'hi',
  i: 'it',
  j: 'ja',
  p: 'pt',
  z: 'zh',
};

/**
 * Names the speakers of voice models: as the model does (Kokoro), with the model's name for a single speaker, and with that and a number
 * for several without names. A name that is taken gets the model's before it.
 * @param taken names in use, in lower case
 */
export async function namedSpeakers(used: readonly Used<VoiceModel>[], taken: ReadonlySet<string>): Promise<ModelSpeaker[]> {
  const speakers: ModelSpeaker[] = [];
  const names = new Set(taken);
  for (const [place, { model, languages }] of used.entries()) {
    const metadata = await readOnnxMetadata(model.kind === 'matcha' ? model.files.acousticModel : model.files.model);
    const count = Math.max(1, Math.trunc(Number(metadata.get('n_speakers') ?? 1)) || 1);
    const given = metadata
      .get('speaker_names')
      ?.split(',')
      .map((name) => name.trim());
    for (let speaker = 0; speaker < Math.min(count, MOST_SPEAKERS); speaker += 1) {
      const own = given?.length === count ? given[speaker] : undefined;
      const plain = own ?? (count === 1 ? model.name : `${model.name}-${speaker}`);
      const name = names.has(plain.toLowerCase()) ? `${model.name}-${plain}` : plain;
      names.add(name.toLowerCase());
      const [, home = '', gender] = (model.kind === 'kokoro' && /^([a-z])([fm])(?:_|$)/u.exec(plain)) || [];
      const language = KOKORO_LANGUAGES[home];
      speakers.push({
        name,
        model: place,
        speaker,
        languages: language !== undefined && languages.includes(language) ? [language] : languages,
        gender: gender === undefined ? undefined : gender === 'f' ? 'female' : 'male',
      });
    }
  }
  return speakers;
}

/** The speaker of a model that stands for a man's or a woman's voice in a language. */
export function speakerFor(
  speakers: readonly ModelSpeaker[],
  model: number,
  language: string,
  gender: 'female' | 'male',
): ModelSpeaker | undefined {
  const all = speakers.filter((each) => each.model === model);
  const home = all.filter((each) => each.languages.includes(language));
  const fitting = home.length === 0 ? all : home;
  // Models that do not name their speakers do not tell their gender: the first one serves for men, the second one for women.
  return fitting.find((each) => each.gender === gender) ?? fitting[(gender === 'male' ? 0 : 1) % Math.max(1, fitting.length)];
}

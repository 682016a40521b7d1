import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../kernel/json.ts';
import { ModelContentError } from './errors.ts';
import type { ModelDescription } from './model.ts';

/** How packages keep what sherpa-onnx reads from a `tokens.txt` of its own. */
export const CONVERSIONS = ['moonshine-tokenizer', 'piper-voice'] as const;
export type Conversion = (typeof CONVERSIONS)[number];

/**
 * Writes what sherpa-onnx needs and the package has in another form. What is read alone is removed.
 * @param folder of the model, with the files of the package in it
 * @throws ModelContentError when a file is missing or not what is expected
 */
export async function convert(conversion: Conversion, folder: string, { files, name }: ModelDescription): Promise<void> {
  if (!('tokens' in files)) throw new ModelContentError(`${name} has no tokens to convert`);
  const tokens = join(folder, files.tokens);
  switch (conversion) {
    case 'moonshine-tokenizer': {
      const source = join(folder, 'tokenizer.bin');
      await writeFile(tokens, moonshineTokens(await read(source)));
      return rm(source);
    }
    case 'piper-voice': {
      if (!('model' in files)) throw new ModelContentError(`${name} has no model to convert`);
      const source = join(folder, `${files.model}.json`);
      const voice = piperVoice.safeParse(parseJson((await read(source)).toString('utf8'))).data;
      if (voice === undefined) throw new ModelContentError(`${source} does not describe a Piper voice`);
      await writeFile(tokens, piperTokens(voice));
      await appendFile(join(folder, files.model), piperMetadata(voice));
      return rm(source);
    }
  }
}

/**
 * Tokens of a `tokenizer.bin` of Moonshine: each has its length before it, in one byte, or from 128 on in two, the lower seven bits first.
 * @returns lines of the token in base64, a tab and its number
 * @throws ModelContentError when it ends within a token
 */
export function moonshineTokens(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length;) {
    let length = bytes[at++] ?? 0;
    if (length >= 128) length += 128 * (bytes[at++] ?? 0) - 128;
    if (at + length > bytes.length) throw new ModelContentError('tokenizer.bin ends within a token');
    lines.push(`${Buffer.from(bytes.subarray(at, at + length)).toString('base64')}\t${lines.length}\n`);
    at += length;
  }
  return lines.join('');
}

/** What a voice of Piper says about itself, in the JSON beside its model. */
const piperVoice = z.object({
  audio: z.object({ sample_rate: z.int().positive() }),
  espeak: z.object({ voice: z.string() }),
  num_speakers: z.int().positive(),
  language: z.object({ name_english: z.string() }).optional(),
  phoneme_id_map: z.record(z.string(), z.array(z.int()).min(1)),
});
type PiperVoice = z.infer<typeof piperVoice>;

function piperTokens({ phoneme_id_map: ids }: PiperVoice): string {
  return Object.entries(ids)
    .map(([phoneme, [id]]) => `${phoneme} ${id}\n`)
    .join('');
}

/** `ModelProto.metadata_props` of onnx.proto, and the key and value of its entries. Fields may stand in any order, so these go to the end. */
const METADATA = 14;

function piperMetadata({ audio, espeak, num_speakers: speakers, language }: PiperVoice): Buffer {
  // Read by sherpa-onnx, in offline-tts-vits-model.cc.
  const entries = {
    model_type: 'vits',
    comment: 'piper',
    language: language?.name_english ?? espeak.voice,
    voice: espeak.voice,
    has_espeak: 1,
    n_speakers: speakers,
    sample_rate: audio.sample_rate,
  };
  return Buffer.concat(
    Object.entries(entries).map(([key, value]) =>
      field(METADATA, Buffer.concat([field(1, Buffer.from(key)), field(2, Buffer.from(String(value)))])),
    ),
  );
}

/** A field of protocol buffers with its length before it. */
function field(number: number, content: Buffer): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(content.length), content]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}

async function read(path: string): Promise<Buffer> {
  return readFile(path).catch((error: unknown) => {
    throw new ModelContentError(`${path} is missing: the package is another one than expected`, { cause: error });
  });
}

import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Refusal } from '../refusal.ts';
import { type AudioBytes, spoolToDisk } from './audio-bytes.ts';
import type { AudioIntake } from './open-audio.ts';
import type { FormFields } from './transcription-fields.ts';
import { decodeBase64, readUploadForm } from './upload-form.ts';

/** Whoever got it disposes of it. */
export interface TranscriptionForm extends AsyncDisposable {
  readonly fields: FormFields;
  readonly audio: AudioBytes;
}

/**
 * Reads a multipart body with exactly one of `file`, `audio_base64` and `url` (ASR doc, batch transcription); the last is
 * fetched.
 * @throws Refusal 400 for no audio or two, for base64 that is none, for a body of another type and for an address that
 * may not or cannot be fetched, 413 for too much
 */
export async function readTranscriptionForm(
  request: FastifyRequest,
  intake: AudioIntake,
  signal: AbortSignal,
): Promise<TranscriptionForm> {
  const form = await readUploadForm(request, intake.limits.audioBytes, intake.uploadFolder);
  try {
    const url = form.fields.get('url');
    const given = [form.file, form.base64, url].filter((source) => source !== undefined);
    if (given.length !== 1) throw new Refusal(400, 'Exactly one of file, audio_base64 and url is required');
    if (url === undefined)
      return { fields: form.fields, audio: form.file ?? form.base64!, [Symbol.asyncDispose]: form[Symbol.asyncDispose] };
    const audio = await intake.remote.fetch(url, signal);
    return { fields: form.fields, audio, [Symbol.asyncDispose]: () => audio[Symbol.asyncDispose]() };
  } catch (error) {
    await form[Symbol.asyncDispose]();
    throw error;
  }
}

const bodySchema = z.record(z.string(), z.unknown());

/**
 * Reads the JSON body of Variant B: `model` and `url` (ASR doc, batch transcription), or `audio_base64` (D), and every field
 * of the form by its name.
 * @throws Refusal as `readTranscriptionForm` does
 */
export async function readTranscriptionJson(
  request: FastifyRequest,
  intake: AudioIntake,
  signal: AbortSignal,
): Promise<TranscriptionForm> {
  const body = bodySchema.safeParse(request.body);
  if (!body.success) throw new Refusal(400, 'The body must be a JSON object');
  const fields = new Map(Object.entries(body.data).flatMap(([name, value]) => fieldOf(name, value)));
  const url = fields.get('url');
  const base64 = fields.get('audio_base64');
  if ((url === undefined) === (base64 === undefined)) {
    throw new Refusal(400, 'Exactly one of url and audio_base64 is required in a JSON body');
  }
  fields.delete('audio_base64');
  const audio =
    url === undefined
      ? await spoolToDisk(decodeBase64(once(base64 ?? '')), intake.uploadFolder, intake.limits.audioBytes)
      : await intake.remote.fetch(url, signal);
  return { fields, audio, [Symbol.asyncDispose]: () => audio[Symbol.asyncDispose]() };
}

/** As a form would carry it: text as it is, null as nothing, lists and the rest as JSON. */
function fieldOf(name: string, value: unknown): [string, string][] {
  if (value === null || value === undefined) return [];
  return [[name, typeof value === 'string' ? value : JSON.stringify(value)]];
}

async function* once(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text, 'latin1');
}

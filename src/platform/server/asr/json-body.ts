import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Refusal } from '../refusal.ts';
import { spoolToDisk } from './audio-bytes.ts';
import { decodeBase64 } from './base64-stream.ts';
import type { AudioIntake } from './open-audio.ts';
import type { TranscriptionForm } from './transcription-form.ts';

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

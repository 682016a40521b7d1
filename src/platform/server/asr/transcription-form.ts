import type { FastifyRequest } from 'fastify';
import { Refusal } from '../refusal.ts';
import type { AudioBytes } from './audio-bytes.ts';
import type { AudioIntake } from './open-audio.ts';
import type { FormFields } from './transcription-fields.ts';
import { readUploadForm } from './upload-form.ts';

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

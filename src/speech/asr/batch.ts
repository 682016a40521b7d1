import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { SpeechRequestError } from '../errors.ts';
import type { SpeechHttp } from '../requests.ts';
import { type TranscriptionOptions, transcriptionFields } from './transcription-options.ts';
import { readTranscription, type TranscriptionResult } from './transcription-result.ts';

export type { TranscriptionOptions } from './transcription-options.ts';
export type { TranscriptionResult } from './transcription-result.ts';

/** Exactly one source of audio. A file is streamed from disk; an address is fetched by the platform. */
export type TranscriptionSource =
  | { readonly path: string }
  | { readonly bytes: Uint8Array; readonly name: string }
  /** Sent as the bytes it stands for, as text would be a third longer. A `data:` prefix is tolerated. */
  | { readonly base64: string; readonly name: string }
  | { readonly url: string };

const MOST_BYTES = 500 * 1024 * 1024;

/**
 * Transcribes one recording: `POST {asr_url}/v1/audio/transcriptions`.
 * @throws SpeechRequestError before anything is sent for more or less than one source, one over 500 MB, an address that is
 * not public https, or options that contradict each other; SpeechError by status; SpeechProtocolError for an answer that cannot
 * be read; the signal's reason when aborted
 */
export async function transcribe(
  http: SpeechHttp,
  asrUrl: string,
  source: TranscriptionSource,
  options: TranscriptionOptions,
  signal: AbortSignal,
): Promise<TranscriptionResult> {
  const fields = transcriptionFields(options);
  const audio = await audioField(source);
  const answer = await http.send(
    {
      what: 'transcription',
      url: new URL('/v1/audio/transcriptions', asrUrl),
      method: 'POST',
      body: () => {
        const form = new FormData();
        if (typeof audio === 'string') form.set('url', audio);
        else form.set('file', audio.blob, audio.name);
        for (const [name, value] of fields) form.set(name, value);
        return form;
      },
    },
    signal,
  );
  return readTranscription(answer.text, answer.requestId);
}

async function audioField(source: TranscriptionSource): Promise<string | { readonly blob: Blob; readonly name: string }> {
  const given = ['path', 'bytes', 'base64', 'url'].filter((key) => key in source);
  if (given.length !== 1) throw new SpeechRequestError(`audio comes from one source, not from ${given.join(' and ') || 'none'}`);
  if ('url' in source) return publicAddress(source.url);
  const audio =
    'path' in source
      ? { blob: await openAsBlob(source.path), name: basename(source.path) }
      : { blob: new Blob([Uint8Array.from('bytes' in source ? source.bytes : decode(source.base64))]), name: source.name };
  if (audio.blob.size > MOST_BYTES)
    throw new SpeechRequestError(`a recording of ${audio.blob.size} bytes is over the platform's 500 MB`);
  return audio;
}

/** What stands in the address goes into the platform's logs, so a password must not. */
function publicAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '')
    throw new SpeechRequestError('the address of a recording is public https, without a user name or password');
  return url.href;
}

function decode(base64: string): Uint8Array {
  const text = base64.replace(/^data:[^,]{0,200},/u, '').replaceAll(/\s/gu, '');
  // Checked by its letters alone: a pattern with a repeated group would need a stack as deep as the recording is long.
  if (text === '' || text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/u.test(text))
    throw new SpeechRequestError('the recording is not base64');
  return Buffer.from(text, 'base64');
}

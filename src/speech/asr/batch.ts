import type { SpeechHttp, SpeechRequest } from '../client/requests.ts';
import { openSource, type TranscriptionSource, isLargeUpload, PacedFile } from './audio-source.ts';
import { type TranscriptionOptions, transcriptionFields } from './transcription-options.ts';
import { readTranscription, type TranscriptionResult } from './transcription-result.ts';
import { serviceUrl } from '../client/settings.ts';

export type { TranscriptionSource } from './audio-source.ts';
export type { TranscriptionOptions } from './transcription-options.ts';
export type { TranscriptionResult } from './transcription-result.ts';

/** Options that do not go to the platform. */
export interface TranscriptionWatch {
  /** Gets the bytes of audio sent so far, and all; starts at 0 again with a retry. */
  readonly onProgress?: (sentBytes: number, totalBytes: number) => void;
}

/** Which variant of the service answers (ASR doc): Variant B has another field name and takes JSON. */
export type RecognitionVariant = 'primary' | 'alt';

const MOST_BYTES = 500 * 1024 * 1024;
/** At least 120 s (ASR doc, limits); more for large files, with four hours in 500 MB on a slow line. */
const LEAST_TIMEOUT_MS = 120_000;
const BYTES_PER_TIMEOUT_SECOND = 256 * 1024;
/** For a recording behind an address, whose length is unknown. */
const ADDRESS_TIMEOUT_MS = 30 * 60_000;

/**
 * Transcribes one recording: `POST /v1/audio/transcriptions` of either variant.
 * @param baseUrl `asr_url`, or `asr_alt_url` with the variant `alt`
 * @throws SpeechRequestError before anything is sent for more or less than one source, one over 500 MB, an address that is
 * not public https, or options that contradict each other; SpeechError by status; SpeechProtocolError for an answer that cannot
 * be read; the signal's reason when aborted
 */
export async function transcribe(
  http: SpeechHttp,
  baseUrl: string,
  source: TranscriptionSource,
  options: TranscriptionOptions,
  signal: AbortSignal,
  { variant = 'primary', onProgress }: TranscriptionWatch & { readonly variant?: RecognitionVariant } = {},
): Promise<TranscriptionResult> {
  const fields = transcriptionFields(options, variant);
  const audio = await openSource(source, MOST_BYTES);
  const timeoutMs =
    typeof audio === 'string' ? ADDRESS_TIMEOUT_MS : LEAST_TIMEOUT_MS + (audio.blob.size / BYTES_PER_TIMEOUT_SECOND) * 1_000;
  const isPlainAddress = variant === 'alt' && typeof audio === 'string' && Object.keys(options).length === 0;
  const answer = await http.send(
    {
      what: 'transcription',
      url: serviceUrl(baseUrl, '/v1/audio/transcriptions'),
      method: 'POST',
      isLarge: typeof audio !== 'string' && isLargeUpload(audio),
      timeoutMs: Math.round(timeoutMs),
      ...(isPlainAddress ? addressBody(audio) : { body: () => formOf(audio, fields, onProgress) }),
    },
    signal,
  );
  return readTranscription(answer);
}

/** The JSON body of a request without options: only these two fields are documented. */
function addressBody(url: string): Pick<SpeechRequest, 'body' | 'headers'> {
  const body = JSON.stringify({ model: 'zero-indic', url });
  return { body: () => body, headers: { 'content-type': 'application/json' } };
}

function formOf(
  audio: Awaited<ReturnType<typeof openSource>>,
  fields: readonly [string, string][],
  onProgress: TranscriptionWatch['onProgress'],
): FormData {
  const form = new FormData();
  if (typeof audio === 'string') form.set('url', audio);
  else form.set('file', new PacedFile(audio, onProgress));
  for (const [name, value] of fields) form.set(name, value);
  return form;
}

import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { z } from 'zod';
import { SpeechProtocolError, SpeechRequestError } from '../errors.ts';
import type { SpeechHttp } from '../requests.ts';

/** Exactly one source of audio; a file is streamed from disk. */
export type TranscriptionSource = { readonly path: string } | { readonly bytes: Uint8Array; readonly name: string };

/** Parameters of the batch endpoint that the gateway uses (ASR doc, parameter table). */
export interface TranscriptionOptions {
  /** ISO code; `auto` when absent, which is about ten times slower (ASR doc). */
  readonly language?: string;
  /** Segments, words and confidence, not just the text. */
  readonly verbose?: boolean;
  /** Turns diarization on; answers are then verbose, as text alone would not tell the speakers. */
  readonly numSpeakers?: number;
  readonly boostPhrases?: readonly string[];
  readonly profanity?: boolean;
  /** Terms replaced with four asterisks. */
  readonly hashKeywords?: readonly string[];
}

export interface TranscriptionSegment {
  readonly startS: number;
  readonly endS: number;
  readonly text: string;
  readonly speaker: string | undefined;
  readonly confidence: number | undefined;
}

export interface TranscribedWord {
  readonly word: string;
  readonly startS: number;
  readonly endS: number;
  readonly confidence: number | undefined;
}

export interface TranscriptionResult {
  readonly text: string;
  readonly requestId: string | undefined;
  /** Empty when not asked for. */
  readonly segments: readonly TranscriptionSegment[];
  readonly words: readonly TranscribedWord[];
  readonly detectedLanguage: string | undefined;
  readonly durationS: number | undefined;
}

const MOST_BYTES = 500 * 1024 * 1024;
const seconds = z.number().nonnegative();
const result = z.looseObject({
  text: z.string(),
  request_id: z.string().optional(),
  detected_language: z.string().nullish(),
  audio_duration: seconds.nullish(),
  segments: z
    .array(
      z.looseObject({
        start: seconds,
        end: seconds,
        text: z.string(),
        speaker: z.string().nullish(),
        confidence: z.number().nullish(),
      }),
    )
    .nullish(),
  words: z
    .array(
      z.looseObject({
        word: z.string(),
        start: seconds,
        end: seconds,
        confidence: z.number().nullish(),
        score: z.number().nullish(),
      }),
    )
    .nullish(),
});

/**
 * Transcribes one file: `POST {asr_url}/v1/audio/transcriptions`.
 * @throws SpeechRequestError before anything is sent when the file is over 500 MB; SpeechError by status
 */
export async function transcribe(
  http: SpeechHttp,
  asrUrl: string,
  source: TranscriptionSource,
  options: TranscriptionOptions,
  signal: AbortSignal,
): Promise<TranscriptionResult> {
  const blob = 'path' in source ? await openAsBlob(source.path) : new Blob([Uint8Array.from(source.bytes)]);
  if (blob.size > MOST_BYTES) throw new SpeechRequestError(`a file of ${blob.size} bytes is over the platform's 500 MB`);
  const name = 'path' in source ? basename(source.path) : source.name;
  const answer = await http.send(
    {
      what: 'transcription',
      url: new URL('/v1/audio/transcriptions', asrUrl),
      method: 'POST',
      body: () => form(blob, name, options),
    },
    signal,
  );
  return readResult(answer.text, answer.requestId);
}

function form(blob: Blob, name: string, options: TranscriptionOptions): FormData {
  const fields = new FormData();
  fields.set('file', blob, name);
  const verbose = options.verbose === true || options.numSpeakers !== undefined;
  fields.set('response_format', verbose ? 'verbose_json' : 'json');
  if (options.language !== undefined) fields.set('language_code', options.language);
  if (options.numSpeakers !== undefined) fields.set('num_speakers', String(options.numSpeakers));
  if (options.boostPhrases !== undefined) fields.set('boost_phrases', options.boostPhrases.join('||'));
  if (options.profanity !== undefined) fields.set('profanity', String(options.profanity));
  if (options.hashKeywords !== undefined) fields.set('hash_keywords', JSON.stringify(options.hashKeywords));
  return fields;
}

function readResult(text: string, requestId: string | undefined): TranscriptionResult {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new SpeechProtocolError('the transcription is not JSON', { requestId, body: text, cause });
  }
  const parsed = result.safeParse(value);
  if (!parsed.success)
    throw new SpeechProtocolError(`the transcription cannot be read: ${z.prettifyError(parsed.error)}`, {
      requestId,
      body: text,
    });
  const { data } = parsed;
  return {
    text: data.text,
    requestId: requestId ?? data.request_id,
    segments: (data.segments ?? []).map(({ start, end, text, speaker, confidence }) => ({
      startS: start,
      endS: end,
      text,
      speaker: speaker ?? undefined,
      confidence: confidence ?? undefined,
    })),
    words: (data.words ?? []).map(({ word, start, end, confidence, score }) => ({
      word,
      startS: start,
      endS: end,
      confidence: confidence ?? score ?? undefined,
    })),
    detectedLanguage: data.detected_language ?? undefined,
    durationS: data.audio_duration ?? undefined,
  };
}

import { z } from 'zod';
import { parseJson } from '../../../kernel/json.ts';
import type { DialectSocket, RecognitionDialect } from '../../asr/recognition-dialect.ts';
import type { RealtimeEvent } from '../../asr/realtime-events.ts';
import type { SocketQuery } from '../../client/socket.ts';
import type { RecognitionOptions } from '../../port.ts';

/** What the listen socket is opened with besides the options of a session. */
export interface ListenSettings {
  readonly model: string;
  /** Silence after which an utterance ends; 0 for never. */
  readonly endpointingMs: number;
  readonly smartFormat: boolean;
  readonly mipOptOut: boolean;
  /** Whether keyterms can be replaced while the stream is open. */
  readonly changesHints: boolean;
}

/** Keyterms of one stream. @see https://developers.deepgram.com/docs/keyterm (100 of them, 500 tokens in all) */
export const MOST_KEYTERMS = 100;
const MOST_KEYTERM_TOKENS = 500;
/** The tokenizer is not published: a token is at least this long in the scripts of Europe, and a character in those of Asia. */
const TOKEN_BYTES = 3;
/** Within the 3 to 5 s of https://developers.deepgram.com/docs/audio-keep-alive: after 10 s without any the stream is closed. */
const KEEP_ALIVE_MS = 4_000;
/** `Finalize` is not answered where little audio was left (https://developers.deepgram.com/docs/finalize). */
export const SILENT_COMMIT_MS = 1_000;
/** Times real time. How much faster a stream may be is not published: a careful guess. */
const REPLAY_SPEED = 1.25;

/**
 * `WS /v1/listen`: raw audio in, `Results` out, `Finalize` as the commit. Written from
 * https://developers.deepgram.com/reference/speech-to-text/listen-streaming
 */
export function listenDialect(settings: ListenSettings, keyAdvice: string): RecognitionDialect {
  return {
    title: 'Deepgram',
    keyAdvice,
    path: '/v1/listen',
    canRenew: false,
    answersSilence: false,
    silentCommitMs: SILENT_COMMIT_MS,
    replaySpeed: REPLAY_SPEED,
    changesHints: settings.changesHints,
    headers: (key) => ({ authorization: `Token ${key}` }),
    query: (options) => listenQuery(settings, options),
    connect: () => listenSocket,
  };
}

function listenQuery(settings: ListenSettings, { language, sampleRateHz, boostPhrases = [] }: RecognitionOptions): SocketQuery {
  const { model, endpointingMs, smartFormat, mipOptOut } = settings;
  // Nova-3 has keyterms; older models have keywords of one word, which bias differently.
  const keyterms = model.startsWith('nova-3') ? keytermsOf(boostPhrases) : [];
  return {
    model,
    language: language === 'auto' ? 'multi' : language,
    encoding: 'linear16',
    sample_rate: String(sampleRateHz),
    channels: '1',
    interim_results: 'true',
    punctuate: 'true',
    endpointing: endpointingMs === 0 ? 'false' : String(endpointingMs),
    ...(smartFormat ? { smart_format: 'true' } : {}),
    ...(mipOptOut ? { mip_opt_out: 'true' } : {}),
    ...(keyterms.length === 0 ? {} : { keyterm: keyterms }),
  };
}

/** As many of the phrases as one stream takes: more of them end it (changelog of 2026-10-08). */
export function keytermsOf(phrases: readonly string[]): string[] {
  const kept: string[] = [];
  let tokens = 0;
  for (const phrase of new Set(phrases.map((each) => each.trim()))) {
    tokens += Math.ceil(Buffer.byteLength(phrase) / TOKEN_BYTES);
    if (kept.length >= MOST_KEYTERMS || tokens > MOST_KEYTERM_TOKENS) break;
    if (phrase !== '') kept.push(phrase);
  }
  return kept;
}

const listenSocket: DialectSocket = {
  isReadyAtOnce: true,
  opening: () => undefined,
  audio: (pcm) => pcm,
  commit: () => JSON.stringify({ type: 'Finalize' }),
  hints: (phrases) => JSON.stringify({ type: 'Configure', keyterms: keytermsOf(phrases) }),
  end: JSON.stringify({ type: 'CloseStream' }),
  keepAlive: { everyMs: KEEP_ALIVE_MS, message: JSON.stringify({ type: 'KeepAlive' }) },
  read: readListenMessage,
};

const seconds = z.number().nonnegative().optional().catch(undefined);
const flag = z.boolean().optional().catch(undefined);
const words = z.string().optional().catch(undefined);
const alternative = z.looseObject({
  transcript: z.string(),
  languages: z.array(z.string()).optional().catch(undefined),
});
// Each field is read by itself: a malformed one counts as missing, and the others stay.
const message = z.looseObject({
  type: z.string(),
  start: seconds,
  duration: seconds,
  is_final: flag,
  speech_final: flag,
  from_finalize: flag,
  channel: z
    .looseObject({ alternatives: z.array(alternative) })
    .optional()
    .catch(undefined),
  description: words,
  message: words,
  code: words,
});

/** @returns undefined for a frame that is not JSON */
export function readListenMessage(frame: string): RealtimeEvent | undefined {
  const value = parseJson(frame);
  if (value === undefined) return undefined;
  const parsed = message.safeParse(value);
  if (!parsed.success) return { type: 'unknown', name: 'no type' };
  const told = parsed.data;
  switch (told.type) {
    case 'Results':
      return readResults(told);
    // The summary after `CloseStream`.
    case 'Metadata':
      return { type: 'done' };
    // What cannot go on is closed with a code; a refused `Configure` leaves the stream as it was.
    case 'Error':
    case 'Warning':
      return { type: 'warning', text: (told.description ?? told.message ?? told.code ?? told.type).slice(0, 500) };
    default:
      return { type: 'unknown', name: told.type.slice(0, 40) };
  }
}

function readResults({
  start,
  duration,
  is_final: isFinal = false,
  speech_final: speechFinal = false,
  from_finalize: fromFinalize = false,
  channel,
}: z.output<typeof message>): RealtimeEvent {
  const best = channel?.alternatives[0];
  if (best === undefined) return { type: 'unknown', name: 'Results without a transcript' };
  const text = best.transcript;
  if (!isFinal) return { type: 'partial', seg: undefined, text };
  return {
    type: 'final',
    seg: undefined,
    text,
    endOfUtterance: speechFinal || fromFinalize,
    language: best.languages?.[0]?.slice(0, 35),
    endS: start === undefined || duration === undefined ? undefined : start + duration,
    isAnswer: fromFinalize,
  };
}

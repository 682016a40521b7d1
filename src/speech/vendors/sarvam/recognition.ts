import { z } from 'zod';
import { decodeAudio, encodeAudio } from '../../../audio/codec.ts';
import { Resampler } from '../../../audio/resample.ts';
import { parseJson } from '../../../kernel/json.ts';
import type { RealtimeEvent } from '../../asr/realtime-events.ts';
import type { DialectSocket, RecognitionDialect } from '../../asr/recognition-dialect.ts';
import { type FailureKind, failureOf } from '../../client/errors.ts';
import type { RecognitionOptions } from '../../port.ts';
import { isoCode, recognisedCode } from './languages.ts';

export interface ListenOptions {
  readonly model: string;
  /** When interim texts come: `fast` at low latency, `balanced` with better accuracy. */
  readonly streamType: 'fast' | 'balanced';
  /** How finals are written. */
  readonly mode: 'transcribe' | 'verbatim' | 'translit' | 'codemix';
  readonly keyAdvice: string;
}

/** Phrases in the prompt of one session; the documentation names no limit. */
export const MOST_HINTS = 50;
/** Rates of `linear16`. */
const RATES_HZ = new Set([8_000, 16_000]);
const OTHER_RATE_HZ = 16_000;
/** The service closes a socket that says nothing (close code 1008). */
const PING_MS = 15_000;
const PING = '{"event":"ping"}';
/** Whether an utterance without words gets a final is not documented. */
export const SILENT_COMMIT_MS = 2_000;

/**
 * `WS /speech-to-text-realtime/ws`, with `endpointing=manual`: the call says where an utterance begins and ends. Written from the
 * official client's types (sarvamai 1.1.10 on npm) and
 * https://docs.sarvam.ai/api-reference/speech-to-text/transcribe/realtime/ws
 */
export function listenDialect({ model, streamType, mode, keyAdvice }: ListenOptions): RecognitionDialect {
  return {
    title: 'Sarvam',
    keyAdvice,
    path: '/speech-to-text-realtime/ws',
    canRenew: false,
    answersSilence: true,
    silentCommitMs: SILENT_COMMIT_MS,
    confirmsCommits: true,
    changesHints: true,
    headers: (key) => ({ 'api-subscription-key': key }),
    query: ({ language, sampleRateHz }) => ({
      language_code: recognisedCode(language),
      model,
      stream_type: streamType,
      mode,
      endpointing: 'manual',
      encoding: 'linear16',
      sample_rate: String(RATES_HZ.has(sampleRateHz) ? sampleRateHz : OTHER_RATE_HZ),
    }),
    connect: (options) => new ListenSocket(options),
  };
}

const words = z.string().nullish().catch(undefined);
const wireEvent = z.looseObject({
  event: z.string(),
  text: words,
  utterance_idx: z.number().int().nonnegative().optional().catch(undefined),
  language: words,
  code: words,
  message: words,
  is_fatal: z.boolean().optional().catch(undefined),
  status_code: z.number().optional().catch(undefined),
});
type WireEvent = z.output<typeof wireEvent>;

/** Events that are known and need nothing. */
const NEEDLESS = new Set(['vad.speech_start', 'vad.speech_end', 'config.updated', 'session.end', 'pong']);

/** The messages of one socket. */
class ListenSocket implements DialectSocket {
  readonly end = '{"event":"end"}';
  readonly keepAlive = { everyMs: PING_MS, message: PING };
  readonly #options: RecognitionOptions;
  readonly #resampler: Resampler | undefined;
  /** An utterance has begun and has not been ended. */
  #isSpeaking = false;
  /** Ended utterances without a final. */
  #ended = 0;

  constructor(options: RecognitionOptions) {
    this.#options = options;
    const { sampleRateHz } = options;
    if (!RATES_HZ.has(sampleRateHz)) this.#resampler = new Resampler(sampleRateHz, OTHER_RATE_HZ);
  }

  /** Phrases are not in the address, which proxies log: a caller's name may be among them. */
  opening(): string | undefined {
    const { boostPhrases = [] } = this.#options;
    return boostPhrases.length === 0 ? undefined : this.hints(boostPhrases);
  }

  hints(phrases: readonly string[]): string {
    const prompt = phrases
      .map((phrase) => phrase.trim())
      .filter((phrase) => phrase !== '')
      .slice(0, MOST_HINTS)
      .join(', ');
    return JSON.stringify({ event: 'config.update', prompt });
  }

  audio(pcm: Uint8Array): readonly string[] {
    const bytes = this.#resampler === undefined ? pcm : encodeAudio('pcm16', this.#resampler.process(decodeAudio('pcm16', pcm)));
    const audio = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
    const message = `{"event":"audio_input","audio":"${audio}"}`;
    if (this.#isSpeaking) return [message];
    this.#isSpeaking = true;
    return ['{"event":"speech_start"}', message];
  }

  commit(): readonly string[] {
    if (!this.#isSpeaking) return [PING];
    this.#isSpeaking = false;
    this.#ended += 1;
    // The pong tells that the socket lives, should there be no final.
    return ['{"event":"speech_end"}', PING];
  }

  read(frame: string): RealtimeEvent | undefined {
    const value = parseJson(frame);
    if (value === undefined) return undefined;
    const parsed = wireEvent.safeParse(value);
    if (!parsed.success) return { type: 'unknown', name: 'no event' };
    const event = parsed.data;
    const seg = event.utterance_idx;
    const text = (event.text ?? '').trim();
    switch (event.event) {
      case 'session.begin':
        return { type: 'ready', warnings: [] };
      case 'transcript.partial':
        return { type: 'partial', seg, text };
      case 'transcript.final': {
        const language = event.language === undefined || event.language === null ? undefined : isoCode(event.language);
        const isAnswer = this.#ended > 0;
        this.#ended = Math.max(0, this.#ended - 1);
        return { type: 'final', seg, text, endOfUtterance: undefined, language, endS: undefined, isAnswer };
      }
      case 'error':
        return errorOf(event);
      default:
        return NEEDLESS.has(event.event) ? { type: 'done' } : { type: 'unknown', name: event.event.slice(0, 60) };
    }
  }

  /** @see sarvamai 1.1.10, RealtimeError (close codes) */
  closeError(code: number, reason: string): ReturnType<typeof failureOf> | undefined {
    const error = reason === '' ? `the socket closed (${code})` : reason;
    const failed = (kind: FailureKind) => failureOf('Sarvam recognition', { error, code: undefined, kind });
    switch (code) {
      case 1003:
        return failed(/rate|limit|concurren/iu.test(reason) ? 'busy' : 'auth');
      case 1008:
        return failed('unavailable');
      case 4000:
        return failed(/unavailable/iu.test(reason) ? 'unavailable' : 'request');
      default:
        return undefined;
    }
  }
}

function errorOf({ code, message, is_fatal: isFatal, status_code: status }: WireEvent): RealtimeEvent {
  const error = (message ?? code ?? 'it failed without a reason').slice(0, 500);
  if (isFatal !== true) return { type: 'warning', text: error };
  const kind = status === undefined ? (code === 'model_unavailable' ? 'unavailable' : 'failed') : kindOf(status);
  return { type: 'error', error, code: code?.slice(0, 80) ?? undefined, kind };
}

/** What an HTTP status means in an error event. */
export function kindOf(status: number): FailureKind {
  if (status === 401 || status === 402 || status === 403) return 'auth';
  if (status === 429) return 'busy';
  return status >= 500 || status === 408 ? 'unavailable' : 'request';
}

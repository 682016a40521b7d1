import { z } from 'zod';
import { decodeAudio, encodeAudio } from '../../../audio/codec.ts';
import { Resampler } from '../../../audio/resample.ts';
import { parseJson } from '../../../kernel/json.ts';
import type { DialectSocket, RecognitionDialect } from '../../asr/recognition-dialect.ts';
import type { RealtimeEvent } from '../../asr/realtime-events.ts';
import { type FailureKind, type SpeechError, SpeechUnavailableError } from '../../client/errors.ts';
import type { SocketQuery } from '../../client/socket.ts';
import type { RecognitionOptions } from '../../port.ts';

export interface ScribeSettings {
  readonly model: string;
  /** Whether hints are sent, which ElevenLabs charges for. */
  readonly keyterms: boolean;
  /** Whether ElevenLabs may keep audio and text. */
  readonly logging: boolean;
}

/** Limits of Scribe v2 Realtime as its resellers state them. @see https://docs.vapi.ai/whats-new/2026/11/16 */
export const MOST_KEYTERMS = 50;
const LONGEST_KEYTERM = 20;
const MOST_KEYTERM_WORDS = 5;
/** Rates that are taken as they are. @see https://elevenlabs.io/docs/api-reference/speech-to-text/v-1-speech-to-text-realtime */
export const RATES_HZ: readonly number[] = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000];
/** Whether silence is answered is not documented. */
export const SILENT_COMMIT_MS = 1_500;
/** An empty chunk, as often as the LiveKit plugin sends one. The time after which a quiet session ends is not published. */
const KEEP_ALIVE_MS = 10_000;

/**
 * `WS /v1/speech-to-text/realtime` with manual commits: base64 chunks in, `partial_transcript` and `committed_transcript` out. Written
 * from https://elevenlabs.io/docs/api-reference/speech-to-text/v-1-speech-to-text-realtime
 */
export function scribeDialect(settings: ScribeSettings, keyAdvice: string): RecognitionDialect {
  return {
    title: 'ElevenLabs',
    keyAdvice,
    path: '/v1/speech-to-text/realtime',
    canRenew: false,
    answersSilence: false,
    silentCommitMs: SILENT_COMMIT_MS,
    headers: (key) => ({ 'xi-api-key': key }),
    query: (options) => scribeQuery(settings, options),
    connect: (options) => new ScribeSocket(options),
  };
}

function scribeQuery({ model, keyterms, logging }: ScribeSettings, options: RecognitionOptions): SocketQuery {
  const { language, sampleRateHz, boostPhrases = [] } = options;
  const terms = keyterms ? keytermsOf(boostPhrases) : [];
  return {
    model_id: model,
    audio_format: `pcm_${rateOf(sampleRateHz)}`,
    commit_strategy: 'manual',
    // The detected language is only reported with time stamps.
    ...(language === 'auto' ? { include_timestamps: 'true', include_language_detection: 'true' } : { language_code: language }),
    ...(terms.length === 0 ? {} : { keyterms: terms }),
    ...(logging ? {} : { enable_logging: 'false' }),
  };
}

/** The rate that audio is sent at: its own, or the next higher one. */
function rateOf(sampleRateHz: number): number {
  return RATES_HZ.find((rate) => rate >= sampleRateHz) ?? Math.max(...RATES_HZ);
}

/** The phrases that keyterms can be: a longer one is not cut, since a part of it is another phrase. */
export function keytermsOf(phrases: readonly string[]): string[] {
  return [...new Set(phrases.map((phrase) => phrase.trim()))]
    .filter((phrase) => phrase !== '' && phrase.length <= LONGEST_KEYTERM && phrase.split(/\s+/u).length <= MOST_KEYTERM_WORDS)
    .slice(0, MOST_KEYTERMS);
}

/** What ends a session, and whether another one may go on. */
const FAILURES: Readonly<Record<string, FailureKind>> = {
  auth_error: 'auth',
  quota_exceeded: 'auth',
  unaccepted_terms: 'auth',
  rate_limited: 'busy',
  queue_overflow: 'busy',
  resource_exhausted: 'busy',
  session_time_limit_exceeded: 'unavailable',
  transcriber_error: 'unavailable',
  error: 'unavailable',
  input_error: 'request',
  invalid_request: 'request',
  chunk_size_exceeded: 'request',
};
/** A commit is refused, since it has next to no audio. The session goes on. */
const NOTHING_TO_COMMIT: ReadonlySet<string> = new Set(['commit_throttled', 'insufficient_audio_activity']);

const words = z.string().optional().catch(undefined);
// Each field is read by itself: a malformed one counts as missing, and the others stay.
const message = z.looseObject({ message_type: z.string(), text: words, language_code: words, error: words });

/** One session, which counts the commits that wait for their transcript. */
export class ScribeSocket implements DialectSocket {
  readonly end = undefined;
  readonly keepAlive: NonNullable<DialectSocket['keepAlive']>;
  /** Rate of the audio sent. */
  readonly #rateHz: number;
  readonly #resampler: Resampler | undefined;
  /** The message that has the final words: with a detected language there are two for each commit. */
  readonly #finalType: string;
  #commits = 0;

  constructor({ language, sampleRateHz }: RecognitionOptions) {
    this.#rateHz = rateOf(sampleRateHz);
    this.#resampler = this.#rateHz === sampleRateHz ? undefined : new Resampler(sampleRateHz, this.#rateHz);
    this.#finalType = language === 'auto' ? 'committed_transcript_with_timestamps' : 'committed_transcript';
    this.keepAlive = { everyMs: KEEP_ALIVE_MS, message: this.#chunk('', false) };
  }

  opening(): undefined {
    return undefined;
  }

  audio(pcm: Uint8Array): string {
    const sent = this.#resampler === undefined ? pcm : encodeAudio('pcm16', this.#resampler.process(decodeAudio('pcm16', pcm)));
    return this.#chunk(Buffer.from(sent.buffer, sent.byteOffset, sent.byteLength).toString('base64'), false);
  }

  commit(): string {
    this.#commits += 1;
    return this.#chunk('', true);
  }

  read(frame: string): RealtimeEvent | undefined {
    const value = parseJson(frame);
    if (value === undefined) return undefined;
    const parsed = message.safeParse(value);
    if (!parsed.success) return { type: 'unknown', name: 'no message type' };
    const { message_type: type, text = '', error, language_code: language } = parsed.data;
    const kind = FAILURES[type];
    if (kind !== undefined) return { type: 'error', error: (error ?? type).slice(0, 500), code: type, kind };
    if (NOTHING_TO_COMMIT.has(type)) return this.#final('', undefined);
    switch (type) {
      case 'session_started':
        return { type: 'ready', warnings: [] };
      case 'partial_transcript':
        return { type: 'partial', seg: undefined, text };
      case this.#finalType:
        return this.#final(text, language?.slice(0, 35));
      default:
        return { type: 'unknown', name: type.slice(0, 40) };
    }
  }

  closeError(code: number, reason: string): SpeechError | undefined {
    // Closed by the service: the session was too long, or quiet for too long.
    if (code !== 1000) return undefined;
    return new SpeechUnavailableError(`ElevenLabs recognition: the session was closed${reason === '' ? '' : `: ${reason}`}`);
  }

  /** Long speech is committed by ElevenLabs itself, too. */
  #final(text: string, language: string | undefined): RealtimeEvent {
    const isAnswer = this.#commits > 0;
    this.#commits = Math.max(0, this.#commits - 1);
    return { type: 'final', seg: undefined, text, endOfUtterance: isAnswer, language, endS: undefined, isAnswer };
  }

  #chunk(audio: string, commit: boolean): string {
    return JSON.stringify({ message_type: 'input_audio_chunk', audio_base_64: audio, commit, sample_rate: this.#rateHz });
  }
}

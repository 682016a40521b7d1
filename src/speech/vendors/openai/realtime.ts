import { z } from 'zod';
import { decodeAudio, encodeAudio } from '../../../audio/codec.ts';
import { Resampler } from '../../../audio/resample.ts';
import { parseJson } from '../../../kernel/json.ts';
import type { RealtimeEvent } from '../../asr/realtime-events.ts';
import type { DialectSocket, RecognitionDialect } from '../../asr/recognition-dialect.ts';
import { bearerHeader } from '../../client/credentials.ts';
import { type FailureKind, failureOf } from '../../client/errors.ts';
import type { RecognitionOptions } from '../../port.ts';
import { hintsField, hintsOf } from './transcription.ts';

/** "Only a 24kHz sample rate is supported" (openai-node 6.49, RealtimeAudioFormats.AudioPCM). */
const PCM_RATE_HZ = 24_000;
const G711_RATE_HZ = 8_000;

export interface RealtimeDialectOptions {
  readonly model: string;
  readonly apiKey: string | undefined;
  readonly keyAdvice: string;
  /** Sends a line of 8 kHz as G.711, in a sixth of the bytes. */
  readonly usesG711: boolean;
  /** Other servers want the model in the address, and the session in the words of the first version too (speaches). */
  readonly isOpenAi: boolean;
}

/**
 * `WS {base}/realtime?intent=transcription` with turn detection off: the call commits its turns. The session is configured by
 * `session.update`; its `session.updated` is the ready mark.
 * @see https://developers.openai.com/api/docs/guides/realtime-transcription
 */
export function realtimeDialect(options: RealtimeDialectOptions): RecognitionDialect {
  const { model, apiKey, keyAdvice, isOpenAi } = options;
  return {
    title: 'openai',
    keyAdvice,
    path: '/realtime',
    canRenew: false,
    answersSilence: true,
    // One message may carry 15 MiB of audio (InputAudioBufferAppendEvent): the service is not bound to real time.
    replaySpeed: 8,
    headers: apiKey === undefined ? () => ({}) : bearerHeader,
    query: ({ language }) => ({
      intent: 'transcription',
      ...(isOpenAi ? {} : { model, ...(language === 'auto' ? {} : { language }) }),
    }),
    connect: (session) => new RealtimeSocket(options, session),
  };
}

const words = z.string().nullish().catch(undefined);
const wireError = z.looseObject({ type: words, code: words, message: words });
const wireEvent = z.looseObject({
  type: z.string(),
  item_id: words,
  delta: words,
  transcript: words,
  // OpenAI sends an object; others (vLLM, LocalAI) a text.
  error: z
    .union([wireError, z.string().transform((message) => ({ type: undefined, code: undefined, message }))])
    .optional()
    .catch(undefined),
});
type WireError = z.output<typeof wireEvent>['error'];

/** Events that are known and need nothing. */
const NEEDLESS =
  /^(?:session\.created|transcription_session\.created|conversation\.(?:created|item\.(?:created|added|done))|input_audio_buffer\.(?:cleared|speech_started|speech_stopped)|rate_limits\.updated)$/u;
/** A commit of less than 100 ms; its audio stays in the buffer. Other servers say it without the code. */
const EMPTY_COMMIT = /buffer (?:is empty|too small)/iu;

interface Item {
  readonly seg: number;
  /** Interim text so far. */
  text: string;
  isCommitted: boolean;
  /** Committed by us: its final is the answer. */
  isAnswer: boolean;
  /** The final text; undefined before it came. */
  transcript: string | undefined;
}

/** The messages of one socket. An item is what was said between two commits; texts of several items may come in any order. */
class RealtimeSocket implements DialectSocket {
  readonly end = undefined;
  readonly #options: RealtimeDialectOptions;
  readonly #session: RecognitionOptions;
  readonly #isG711: boolean;
  readonly #resampler: Resampler | undefined;
  #isReady = false;
  #segs = 0;
  /** Commits that the server has not confirmed. */
  #commits = 0;
  /** Items without a reported final, by id, in order of their beginning. */
  readonly #items = new Map<string, Item>();

  constructor(options: RealtimeDialectOptions, session: RecognitionOptions) {
    this.#options = options;
    this.#session = session;
    this.#isG711 = options.usesG711 && session.sampleRateHz === G711_RATE_HZ;
    if (!this.#isG711 && session.sampleRateHz !== PCM_RATE_HZ) this.#resampler = new Resampler(session.sampleRateHz, PCM_RATE_HZ);
  }

  opening(): string {
    const { model, isOpenAi } = this.#options;
    const { language } = this.#session;
    const hints = hintsOf(this.#session);
    const field = hints.length === 0 ? undefined : hintsField(model);
    const transcription = {
      model,
      ...(language === 'auto' ? {} : { language }),
      ...(field === 'keywords' ? { keywords: hints } : {}),
      ...(field === 'prompt' ? { prompt: hints.join(', ') } : {}),
    };
    const format = this.#isG711 ? { type: 'audio/pcmu' } : { type: 'audio/pcm', rate: PCM_RATE_HZ };
    const input = { format, transcription, turn_detection: null };
    const first = isOpenAi ? {} : { input_audio_transcription: transcription, turn_detection: null };
    return JSON.stringify({ type: 'session.update', session: { type: 'transcription', audio: { input }, ...first } });
  }

  audio(pcm: Uint8Array): string {
    const bytes = this.#isG711 || this.#resampler !== undefined ? this.#converted(decodeAudio('pcm16', pcm)) : pcm;
    const audio = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
    return `{"type":"input_audio_buffer.append","audio":"${audio}"}`;
  }

  commit(): string {
    this.#commits += 1;
    return '{"type":"input_audio_buffer.commit"}';
  }

  read(frame: string): RealtimeEvent | readonly RealtimeEvent[] | undefined {
    const value = parseJson(frame);
    if (value === undefined) return undefined;
    const parsed = wireEvent.safeParse(value);
    if (!parsed.success) return { type: 'unknown', name: 'no type' };
    const { type, item_id: id, delta, transcript, error } = parsed.data;
    switch (type) {
      case 'session.updated':
      case 'transcription_session.updated':
        this.#isReady = true;
        return { type: 'ready', warnings: [] };
      case 'input_audio_buffer.committed': {
        this.#committed(this.#item(id));
        return { type: 'done' };
      }
      case 'conversation.item.input_audio_transcription.delta': {
        const item = this.#item(id);
        item.text += delta ?? '';
        return { type: 'partial', seg: item.seg, text: item.text.trim() };
      }
      case 'conversation.item.input_audio_transcription.completed':
        return this.#completed(id, transcript ?? '');
      case 'conversation.item.input_audio_transcription.failed':
        // The documented code for audio without words that it can tell.
        if (error?.code === 'audio_unintelligible') return this.#completed(id, '');
        return failed(error, 'unavailable');
      case 'error':
        return this.#error(error);
      default:
        return NEEDLESS.test(type) ? { type: 'done' } : { type: 'unknown', name: type.slice(0, 60) };
    }
  }

  closeError(code: number, reason: string): ReturnType<typeof failureOf> | undefined {
    const kind = kindOf(reason);
    const isRefusal = code === 1008 || (code >= 3000 && code < 5000);
    return kind === undefined || !isRefusal
      ? undefined
      : failureOf('openai recognition', { error: reason, code: undefined, kind });
  }

  #converted(pcm: Int16Array): Uint8Array {
    return this.#isG711 ? encodeAudio('mulaw', pcm) : encodeAudio('pcm16', this.#resampler?.process(pcm) ?? pcm);
  }

  #item(id: string | null | undefined): Item {
    const known = this.#items.get(id ?? '');
    if (known !== undefined) return known;
    const item = { seg: this.#segs, text: '', isCommitted: false, isAnswer: false, transcript: undefined };
    this.#segs += 1;
    this.#items.set(id ?? '', item);
    return item;
  }

  #committed(item: Item): void {
    if (item.isCommitted) return;
    item.isCommitted = true;
    item.isAnswer = this.#commits > 0;
    this.#commits = Math.max(0, this.#commits - 1);
  }

  /** Finals of this item and of those waiting behind it; empty while an earlier committed item has no text. */
  #completed(id: string | null | undefined, transcript: string): readonly RealtimeEvent[] {
    const item = this.#item(id);
    this.#committed(item);
    item.transcript = transcript.trim();
    const finals: RealtimeEvent[] = [];
    for (const [key, { seg, transcript: text, isAnswer, isCommitted }] of this.#items) {
      if (text === undefined && isCommitted) break;
      if (text === undefined) continue;
      this.#items.delete(key);
      finals.push({ type: 'final', seg, text, endOfUtterance: undefined, language: undefined, endS: undefined, isAnswer });
    }
    return finals;
  }

  #error(error: WireError): RealtimeEvent | readonly RealtimeEvent[] {
    const code = error?.code ?? undefined;
    if (code === 'input_audio_buffer_commit_empty' || EMPTY_COMMIT.test(error?.message ?? '')) {
      return this.#completed(`empty ${this.#segs}`, '');
    }
    const kind = kindOf(`${code ?? ''} ${error?.type ?? ''}`);
    // "Most errors are recoverable and the session will stay open" (RealtimeErrorEvent).
    if (this.#isReady && (kind === undefined || kind === 'request'))
      return { type: 'warning', text: error?.message ?? 'no reason given' };
    return failed(error, kind ?? 'failed');
  }
}

function failed(error: WireError, byDefault: FailureKind): RealtimeEvent {
  const code = error?.code ?? error?.type ?? undefined;
  const said = error?.message ?? 'it failed without a reason';
  return { type: 'error', error: said.slice(0, 500), code: code?.slice(0, 80), kind: kindOf(code ?? '') ?? byDefault };
}

/** What a code, a type or a close reason means; undefined for one that says nothing of it. */
function kindOf(text: string): FailureKind | undefined {
  if (/session_expired|server_error|server_overloaded|internal_error/u.test(text)) return 'unavailable';
  if (/invalid_api_key|authentication|insufficient_quota|permission/iu.test(text)) return 'auth';
  if (/rate_limit/u.test(text)) return 'busy';
  return /invalid_request|invalid_value|model_not_found|not_found/u.test(text) ? 'request' : undefined;
}

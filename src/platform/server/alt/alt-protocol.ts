import { z } from 'zod';
import { parseJson } from '../../../kernel/json.ts';
import { encodeAudio } from '../../../audio/codec.ts';
import { Resampler } from '../../../audio/resample.ts';
import { decodeWavSamples, readWavLayout, WavError, type WavSampleFormat, wavSampleBytes } from '../../../audio/wav.ts';
import { chooseLanguage, type LanguageChoice, unsupportedLanguage } from '../../languages.ts';
import { mixDownInterleaved } from '../../../audio/samples.ts';
import { firstProblem } from '../listener/refusal.ts';
import type { ClientMessage, RecognitionProtocol, SocketProblem } from '../asr/recognition-socket.ts';
import type { RecognitionResult } from '../../engines/recognise/port.ts';
import { maxWaitingTurns, type SessionTimes, type TurnRules } from '../asr/recognition-session.ts';
import { count, time } from '../asr/realtime-protocol.ts';
import type { ApiKeys } from '../../keys/api-keys.ts';

/** Sample formats of a Variant B socket. */
type AltSampleType = 'int16' | 'float32' | 'ulaw' | 'alaw';

/** The first message of a Variant B socket (reference, fact 11). */
interface AltHandshake {
  readonly apiKey: string | undefined;
  readonly language: LanguageChoice;
  readonly sampleRateHz: number;
  readonly sampleType: AltSampleType;
  /** Silence that ends a segment. */
  readonly silenceMs: number;
  readonly sessionId: string | undefined;
}

type AltHandshakeResult =
  | { readonly type: 'handshake'; readonly handshake: AltHandshake }
  /** The reason contains no key. */
  | { readonly type: 'refused'; readonly reason: string };

const defaultSilenceMs = 700;

const sampleType = z.enum(['int16', 'float32', 'ulaw', 'mulaw', 'alaw']);
export const altHandshakeSchema = z.object({
  type: z.literal('init').nullish(),
  api_key: z.string().nullish(),
  language: z.string().nullish(),
  language_code: z.string().nullish(),
  sample_rate: z.int().min(8000).max(48_000).nullish(),
  dtype: sampleType.nullish(),
  silence_threshold_sec: z.number().min(0.1).max(10).nullish(),
  session_id: z.string().max(200).nullish(),
});

/** @param text the first text frame, as received. `dtype` defaults to int16 (D) */
function readAltHandshake(text: string): AltHandshakeResult {
  const result = altHandshakeSchema.safeParse(parseJson(text));
  if (!result.success) {
    return { type: 'refused', reason: firstProblem(result.error, 'The first message must be a JSON object') };
  }
  const frame = result.data;
  const word = frame.language ?? frame.language_code ?? undefined;
  const language = chooseLanguage(word);
  if (language === undefined) return { type: 'refused', reason: unsupportedLanguage(word ?? '') };
  return {
    type: 'handshake',
    handshake: {
      apiKey: frame.api_key ?? undefined,
      language,
      sampleRateHz: frame.sample_rate ?? 16_000,
      sampleType: sampleTypeOf(frame.dtype ?? 'int16'),
      silenceMs: Math.round((frame.silence_threshold_sec ?? defaultSilenceMs / 1000) * 1000),
      sessionId: frame.session_id ?? undefined,
    },
  };
}

export const altCommandSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('end') }),
  z.object({ type: z.literal('frame'), audio: z.base64(), dtype: sampleType.nullish() }),
]);

const formats: Readonly<Record<AltSampleType, WavSampleFormat>> = {
  int16: 'pcm16',
  float32: 'float32',
  ulaw: 'mulaw',
  alaw: 'alaw',
};

/** Reads the messages after the handshake. A WAV header at the start overrides the sample format of the handshake. */
class AltReader {
  readonly #rateHz: number;
  #format: WavSampleFormat;
  #channels = 1;
  #resampler: Resampler | undefined;
  #pending: Uint8Array = new Uint8Array(0);
  #begun = false;

  constructor({ sampleType: type, sampleRateHz }: AltHandshake) {
    this.#format = formats[type];
    this.#rateHz = sampleRateHz;
  }

  /** Samples, split anywhere; an empty message is the end. */
  readBytes(bytes: Uint8Array): ClientMessage {
    return bytes.length === 0 ? { type: 'end' } : this.#audio(bytes);
  }

  /** Bare `END`, `{"type":"end"}`, or a frame of audio in base64. */
  readText(text: string): ClientMessage {
    if (text.trim() === 'END') return { type: 'end' };
    const result = altCommandSchema.safeParse(parseJson(text));
    if (!result.success) return { type: 'refused', reason: 'Messages after ready are audio, END, or JSON of type frame or end' };
    if (result.data.type === 'end') return { type: 'end' };
    const { audio, dtype } = result.data;
    if (dtype != null) this.#format = formats[sampleTypeOf(dtype)];
    return this.#audio(Buffer.from(audio, 'base64'));
  }

  #audio(bytes: Uint8Array): ClientMessage {
    try {
      return { type: 'audio', bytes: encodeAudio('pcm16', this.#samples(bytes)) };
    } catch (error) {
      // An invalid WAV header, or one that is not complete in the first message.
      if (error instanceof WavError) return { type: 'refused', reason: error.message };
      throw error;
    }
  }

  #samples(bytes: Uint8Array): Int16Array {
    let data = bytes;
    if (!this.#begun && bytes.length >= 12 && Buffer.from(bytes.subarray(0, 4)).toString('latin1') === 'RIFF') {
      // Only the start of the file is here: its length is unknown.
      const layout = readWavLayout(bytes, Number.MAX_SAFE_INTEGER);
      this.#format = layout.format;
      this.#channels = layout.channels;
      if (layout.rateHz !== this.#rateHz) this.#resampler = new Resampler(layout.rateHz, this.#rateHz);
      data = bytes.subarray(layout.dataOffset);
    }
    this.#begun = true;
    const width = wavSampleBytes(this.#format) * this.#channels;
    const joined = Buffer.concat([this.#pending, data]);
    const whole = joined.length - (joined.length % width);
    this.#pending = joined.subarray(whole);
    const pcm = mixDownInterleaved(decodeWavSamples(this.#format, joined.subarray(0, whole)), this.#channels);
    return this.#resampler === undefined ? pcm : this.#resampler.process(pcm);
  }
}

function sampleTypeOf(word: z.infer<typeof sampleType>): AltSampleType {
  return word === 'mulaw' ? 'ulaw' : word;
}

const altText = { text: z.string(), language: z.string(), segment_id: count, audio_duration_sec: time };
const altTimes = { latency_ms: time, offset_ms: time, duration_ms: time };
/** Events of a Variant B socket (reference, 1.2, generation 1), as sent and as described. Times are of the session's audio. */
export const altEvents = {
  ready: z.strictObject({ type: z.literal('ready'), session_id: z.string(), warnings: z.array(z.string()).exactOptional() }),
  speech: z.strictObject({ type: z.enum(['speech_start', 'speech_end']), segment_id: count, offset_ms: time }),
  partial: z.strictObject({ type: z.literal('partial'), ...altText, is_final: z.literal(false), ...altTimes }),
  final_segment: z.strictObject({
    type: z.literal('final_segment'),
    ...altText,
    is_final: z.literal(true),
    ...altTimes,
    silence_duration_ms: time,
  }),
  /** The text of the whole connection, sent once. */
  final: z.strictObject({
    type: z.literal('final'),
    text: z.string(),
    language: z.string(),
    is_final: z.literal(true),
    audio_duration_sec: time,
    inference_time_ms: time,
    connection_duration_sec: time,
  }),
  end_of_transcript: z.strictObject({ type: z.literal('end_of_transcript') }),
  done: z.strictObject({
    type: z.literal('done'),
    total_segments: count,
    total_audio_duration_sec: time,
    connection_duration_sec: time,
  }),
  error: z.strictObject({
    type: z.literal('error'),
    code: z.enum(['CAPACITY_FULL', 'PROTOCOL_ERROR', 'AUTH_FAILED', 'TIMEOUT', 'INTERNAL_ERROR']),
    message: z.string(),
  }),
};

export type AltEvent = z.infer<(typeof altEvents)[keyof typeof altEvents]>;

type AltErrorCode = z.infer<typeof altEvents.error>['code'];

/** Turns are segments, which the platform ends at silences; the session ends with its whole text. */
function altRules(handshake: AltHandshake): TurnRules<AltEvent> {
  const texts: string[] = [];
  let language = handshake.language.type === 'language' ? handshake.language.language.code : 'en';
  let segment = 0;
  let segmentAtMs = 0;
  let inferenceMs = 0;
  const speech = (type: 'speech_start' | 'speech_end', atMs: number): AltEvent => ({
    type,
    segment_id: segment,
    offset_ms: atMs,
  });
  return {
    endpointSilenceMs: handshake.silenceMs,
    emptyFinalEveryMs: undefined,
    partialEveryMs: 0,
    repeatPartialMs: undefined,
    crowded: { text: `More than ${maxWaitingTurns} segments are waiting to be recognised`, countsUnsent: false },
    fault: { text: 'Injected fault: this segment fails', on: ['silence', 'end'] },
    speechStarted: ({ audioMs }) => {
      segmentAtMs = audioMs;
      return speech('speech_start', audioMs);
    },
    speechEnded: (atMs) => speech('speech_end', atMs),
    partial: (text, _before, { audioMs }) => ({
      type: 'partial',
      text,
      language,
      segment_id: segment,
      is_final: false,
      audio_duration_sec: audioMs / 1000,
      latency_ms: 0,
      offset_ms: segmentAtMs,
      duration_ms: Math.max(0, audioMs - segmentAtMs),
    }),
    endTurn: (_by, times) => {
      const [number, atMs, silentMs, askedMs] = [segment++, segmentAtMs, times.silentMs, times.elapsedMs];
      return (utterances) => {
        const latencyMs = times.elapsedMs - askedMs;
        inferenceMs += latencyMs;
        const segmentText = joined(utterances);
        if (segmentText === undefined) return [];
        const { text, durationMs } = segmentText;
        language = segmentText.language;
        texts.push(text);
        const event: AltEvent = {
          type: 'final_segment',
          text,
          language,
          segment_id: number,
          is_final: true,
          audio_duration_sec: times.audioMs / 1000,
          latency_ms: Math.round(latencyMs),
          offset_ms: atMs,
          duration_ms: durationMs,
          silence_duration_ms: silentMs,
        };
        return [{ text, delayMs: 0, events: () => [event] }];
      };
    },
    end: (times) => lastEvents(texts, language, inferenceMs, times),
  };
}

/** The utterances of a segment as one; undefined when nothing was recognised. */
function joined(utterances: readonly RecognitionResult[]) {
  const [first, last] = [utterances[0], utterances.at(-1)];
  if (first === undefined || last === undefined || last.text === '') return undefined;
  const durationMs = Math.max(0, Math.round((last.endS - first.startS) * 1000));
  return { text: utterances.map(({ text }) => text).join(' '), language: last.language, durationMs };
}

/** The whole text of a connection, and its end. */
function lastEvents(
  texts: readonly string[],
  language: string,
  inferenceMs: number,
  { audioMs, elapsedMs }: SessionTimes,
): readonly AltEvent[] {
  const connectionSeconds = Math.round(elapsedMs) / 1000;
  return [
    {
      type: 'final',
      text: texts.join(' '),
      language: texts.length === 0 ? 'und' : language,
      is_final: true,
      audio_duration_sec: audioMs / 1000,
      inference_time_ms: Math.round(inferenceMs),
      connection_duration_sec: connectionSeconds,
    },
    { type: 'end_of_transcript' },
    {
      type: 'done',
      total_segments: texts.length,
      total_audio_duration_sec: audioMs / 1000,
      connection_duration_sec: connectionSeconds,
    },
  ];
}

/** The error code and close code of each problem (reference, fact 15: keys have close codes of their own). */
const errors: Readonly<Record<SocketProblem['type'], { readonly code: AltErrorCode; readonly closeCode: number }>> = {
  protocol: { code: 'PROTOCOL_ERROR', closeCode: 1008 },
  'key-refused': { code: 'AUTH_FAILED', closeCode: 4001 },
  'no-balance': { code: 'AUTH_FAILED', closeCode: 4002 },
  capacity: { code: 'CAPACITY_FULL', closeCode: 1008 },
  timeout: { code: 'TIMEOUT', closeCode: 1008 },
  internal: { code: 'INTERNAL_ERROR', closeCode: 1008 },
};

interface AltProtocolOptions {
  readonly keys: ApiKeys;
  /** The key of the upgrade's Authorization header. */
  readonly headerKey: string | undefined;
}

/** Variant B (ASR doc, /ws; handshake and events from reference, facts 11 and 1.2). */
export function altProtocol({ keys, headerKey }: AltProtocolOptions): RecognitionProtocol<AltEvent> {
  return {
    words: { message: 'message', opening: 'handshake' },
    open: (text) => {
      const read = readAltHandshake(text);
      if (read.type === 'refused') return { type: 'protocol', text: read.reason };
      const { handshake } = read;
      const reader = new AltReader(handshake);
      return {
        recognition: { language: handshake.language, rateHz: handshake.sampleRateHz, boostPhrases: [], boostWeight: 0 },
        rules: () => altRules(handshake),
        owner: () => {
          const key = keys.find(headerKey ?? handshake.apiKey ?? '');
          if (key?.status === 'active') return key.id;
          const type = key?.status === 'no-balance' ? 'no-balance' : 'key-refused';
          return { type, text: 'An active API key is required' };
        },
        ready: (sessionId, warnings) => ({
          type: 'ready',
          session_id: handshake.sessionId ?? sessionId,
          ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
        }),
        readBytes: (bytes) => reader.readBytes(bytes),
        readText: (message) => reader.readText(message),
      };
    },
    error: ({ type, text: message }) => {
      const { code, closeCode } = errors[type];
      return { event: { type: 'error', code, message }, closeCode };
    },
  };
}

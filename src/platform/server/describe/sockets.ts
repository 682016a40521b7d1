import { z } from 'zod';
import { altCommandSchema, altHandshakeSchema, type AltEvent } from '../alt/alt-protocol.ts';
import { initFrameSchema, type RealtimeEvent } from '../asr/realtime-protocol.ts';
import { speechFormats } from '../tts/encode-speech.ts';
import { type SocketInterface, type JsonSchema, withFields } from './descriptions.ts';
import { speechSchema } from './services.ts';

const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const time = z.number().min(0);

const finalFields = {
  seg: count,
  text: z.string(),
  elapsed_ms: time,
  language: z.string().exactOptional(),
  start: time,
  end: time,
  speaker: z.string().nullable().exactOptional(),
  end_of_utterance: z.boolean().exactOptional(),
};

/** Events of a recognition socket; the compiler checks the code's events against them. */
const realtimeEvents = {
  ready: z.strictObject({
    type: z.literal('ready'),
    session_id: z.string(),
    language: z.string(),
    sample_rate: count,
    diarize: z.boolean(),
    num_speakers: count.exactOptional(),
    codeswitch: z.boolean(),
    endpoint_silence_ms: count.exactOptional(),
    warnings: z.array(z.string()).exactOptional(),
  }),
  partial: z.strictObject({
    type: z.literal('partial'),
    seg: count,
    text: z.string(),
    delta: z.string(),
    elapsed_ms: time,
    language: z.string().exactOptional(),
  }),
  final: z.strictObject({ type: z.literal('final'), ...finalFields }),
  final_refined: z.strictObject({ type: z.literal('final_refined'), ...finalFields }),
  utterance_end: z.strictObject({ type: z.literal('utterance_end'), seg: count }),
  error: z.strictObject({ type: z.literal('error'), error: z.string(), message: z.string().exactOptional() }),
} satisfies { [Type in RealtimeEvent['type']]: z.ZodType<Extract<RealtimeEvent, { type: Type }>> };

export const recognitionSocket = (): SocketInterface => ({
  title: 'Realtime recognition',
  description:
    'The init frame first, with the token, unless it came as a bearer token with the handshake; audio after ready. A failure is an error event and close code 1008. The batch interface is described at /openapi.json.',
  paths: ['/v1/realtime'],
  fromClient: {
    init: { summary: 'The first frame', json: initFrameSchema },
    audio: { summary: '16-bit little-endian mono PCM at the rate declared', bytes: true },
    commit: { summary: 'Ends a turn; one final or more follow', text: 'commit' },
    end: { summary: 'Ends the last turn; the socket closes after its finals', text: 'end' },
  },
  fromServer: {
    ready: { summary: 'Audio may be sent', json: realtimeEvents.ready },
    partial: { summary: 'What has been understood so far', json: realtimeEvents.partial },
    final: { summary: 'A finished transcript; those of a turn belong together', json: realtimeEvents.final },
    final_refined: { summary: 'The same after codeswitch, when that is on', json: realtimeEvents.final_refined },
    utterance_end: { summary: 'A turn is over; only in compat mode', json: realtimeEvents.utterance_end },
    error: { summary: 'A failure; the socket closes', json: realtimeEvents.error },
  },
});

const altText = { text: z.string(), language: z.string(), segment_id: count, audio_duration_sec: time };
const altTimes = { latency_ms: time, offset_ms: time, duration_ms: time };
const altEvents = {
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
} satisfies Record<string, z.ZodType<AltEvent>>;

export const altSocket = (): SocketInterface => ({
  title: 'Realtime recognition, Variant B',
  description:
    'The key comes in the Authorization header or in the handshake. The batch interface is described at /openapi.json.',
  paths: ['/ws'],
  fromClient: {
    handshake: { summary: 'The first message', json: altHandshakeSchema },
    audio: { summary: 'Mono samples as the handshake says; an empty frame ends', bytes: true },
    command: { summary: 'Audio in base64, or the end', json: altCommandSchema },
    end: { summary: 'Ends the session', text: 'END' },
  },
  fromServer: {
    ready: { summary: 'Audio may be sent', json: altEvents.ready },
    speech: { summary: 'Speech begins or ends', json: altEvents.speech },
    partial: { summary: 'What has been understood so far', json: altEvents.partial },
    final_segment: { summary: 'A finished segment', json: altEvents.final_segment },
    final: { summary: "The whole connection's text", json: altEvents.final },
    end_of_transcript: { summary: 'No more text follows', json: altEvents.end_of_transcript },
    done: { summary: 'The totals; the socket closes', json: altEvents.done },
    error: { summary: 'A failure; the socket closes', json: altEvents.error },
  },
});

const about = {
  request_id: z.string(),
  format: z.enum(Object.values(speechFormats).map(({ name }) => name)),
  sample_rate: count,
};
const speechEvents = {
  chunk: z.strictObject({ type: z.literal('chunk'), chunk_index: count, is_final: z.boolean(), ...about }),
  completion: z.strictObject({
    type: z.literal('completion'),
    status: z.literal('complete'),
    total_chunks: count,
    total_duration_seconds: time,
    warnings: z.array(z.string()).optional(),
    ...about,
  }),
  error: z.strictObject({ type: z.literal('error'), request_id: z.string(), error: z.string() }),
};

/** The fields without their requirements: settings may come before the text. */
function settingsSchema(): JsonSchema {
  const { required: _required, allOf: _allOf, ...rest } = speechSchema('pcm');
  return rest;
}

export function synthesisSocket(): SocketInterface {
  const settings = settingsSchema();
  return {
    title: 'Realtime synthesis',
    description:
      'Settings may come in the query, in a config message and with the text, later ones over earlier ones. Each chunk message is followed by one binary frame. The batch interface is described at /openapi.json.',
    paths: ['/v1/realtime', '/ws'],
    credential: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    query: withFields(settings, { token: { type: 'string', description: 'The access token, where no header can be set' } }),
    fromClient: {
      config: {
        summary: 'Settings for the syntheses that follow',
        json: withFields(settings, { type: { const: 'config' } }, { required: ['type'] }),
      },
      synthesis: { summary: 'A text to speak', json: settings },
    },
    fromServer: {
      chunk: { summary: 'Announces the binary frame that follows', json: speechEvents.chunk },
      audio: { summary: 'The audio just announced', bytes: true },
      completion: { summary: 'All audio was sent', json: speechEvents.completion },
      error: { summary: 'A failure; the socket closes', json: speechEvents.error },
    },
  };
}

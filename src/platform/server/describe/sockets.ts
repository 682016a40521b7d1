import { z } from 'zod';
import { altCommandSchema, altEvents, altHandshakeSchema } from '../alt/alt-protocol.ts';
import { count, initFrameSchema, realtimeEvents, time } from '../asr/realtime-protocol.ts';
import { speechFormats } from '../tts/encode-speech.ts';
import { type SocketInterface, type JsonSchema, withFields } from './descriptions.ts';
import { speechSchema } from './services.ts';

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

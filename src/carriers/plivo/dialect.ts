import { type AudioFormat, linearSpeech, MULAW_8K, type WireFormat } from '../../audio/format.ts';
import type { JsonDialect } from '../json-dialect.ts';

/** Formats that a call's media stream can be requested in. */
export const AUDIO = ['mulaw-8k', 'l16-8k', 'l16-16k'] as const;
export type StreamAudio = (typeof AUDIO)[number];

const CONTENT_TYPES: Readonly<Record<StreamAudio, string>> = {
  'mulaw-8k': 'audio/x-mulaw;rate=8000',
  'l16-8k': 'audio/x-l16;rate=8000',
  'l16-16k': 'audio/x-l16;rate=16000',
};
/** Synthesis format for such a stream. */
export function speechOf(audio: StreamAudio): AudioFormat {
  return { 'mulaw-8k': MULAW_8K, 'l16-8k': linearSpeech(8000), 'l16-16k': linearSpeech(16_000) }[audio];
}

/** The attribute of `<Stream>`; messages give the rate separately. */
export const contentTypeOf = (audio: StreamAudio): string => CONTENT_TYPES[audio];

export interface PlivoMessages {
  /** Byte order of the caller's linear samples; ours are little-endian. */
  readonly l16ByteOrder: 'little' | 'big';
  /** Presses keys by a message. */
  readonly pressesKeys: boolean;
  /** Has a message that ends the stream; the carrier closes the socket and continues its document. */
  readonly stops: boolean;
}

/**
 * Plivo's bidirectional audio streams (plivo.com/docs/voice-agents/audio-streaming), also spoken by Vobiz (docs.vobiz.ai/xml/stream/stream-events).
 * Numbers are numbers, but timestamps are epoch milliseconds as text. There is no `connected`, and the first message has ids only inside `start`.
 */
export function plivoDialect({ l16ByteOrder, pressesKeys, stops }: PlivoMessages): JsonDialect {
  return {
    eventKey: 'event',
    events: {
      start: 'start',
      media: 'audio',
      dtmf: 'digit',
      playedStream: 'mark',
      clearedAudio: 'alive',
      // In Plivo's Java SDK and guides, but not on its protocol page; Vobiz never sends it.
      stop: 'stop',
    },
    start: {
      streamId: [['start', 'streamId'], ['streamId']],
      callId: [['start', 'callId']],
      parameters: [],
      encoding: [['start', 'mediaFormat', 'encoding']],
      rateHz: [['start', 'mediaFormat', 'sampleRate']],
      channels: [['start', 'mediaFormat', 'channels']],
      encodings: { 'audio/x-mulaw': 'mulaw', 'audio/x-l16': l16ByteOrder === 'big' ? 'pcm16be' : 'pcm16' },
      ratesHz: [8000, 16_000],
      format: { encoding: 'mulaw', rateHz: 8000 },
      outbound: ({ encoding, rateHz }) => ({ encoding: encoding === 'mulaw' ? 'mulaw' : 'pcm16', rateHz }),
    },
    audio: {
      payload: ['media', 'payload'],
      timestampMs: ['media', 'timestamp'],
      track: ['media', 'track'],
      callerTracks: ['inbound'],
      otherTracks: ['outbound'],
    },
    digit: ['dtmf', 'digit'],
    markName: ['name'],
    stopReason: ['reason'],
    send: {
      audio: (streamId, format) => [
        `{"event":"playAudio","streamId":${JSON.stringify(streamId)},"media":{"contentType":"${codecOf(format)}","sampleRate":${format.rateHz},"payload":"`,
        '"}}',
      ],
      // Comes back as `playedStream` when all audio before it was played.
      mark: (streamId, name) => JSON.stringify({ event: 'checkpoint', streamId, name }),
      clear: (streamId) => JSON.stringify({ event: 'clearAudio', streamId }),
      ...(pressesKeys ? { digits: (_streamId: string, dtmf: string) => JSON.stringify({ event: 'sendDTMF', dtmf }) } : {}),
      ...(stops ? { goodbye: (streamId: string) => JSON.stringify({ event: 'stop', streamId }) } : {}),
    },
  };
}

function codecOf({ encoding }: WireFormat): string {
  return encoding === 'mulaw' ? 'audio/x-mulaw' : 'audio/x-l16';
}

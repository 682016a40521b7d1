import { type AudioFormat, linearSpeech, MULAW_8K, type WireFormat } from '../../audio/format.ts';
import type { JsonDialect } from '../json-dialect.ts';

/** Audio we send to a stream; inbound audio is always mu-law at 8 kHz. */
export const AUDIO = ['mulaw-8k', 'pcm-8k', 'pcm-16k', 'pcm-24k'] as const;
export type StreamAudio = (typeof AUDIO)[number];

const OUTBOUND: Readonly<Record<StreamAudio, WireFormat>> = {
  'mulaw-8k': MULAW_8K,
  'pcm-8k': { encoding: 'pcm16', rateHz: 8000 },
  'pcm-16k': { encoding: 'pcm16', rateHz: 16_000 },
  'pcm-24k': { encoding: 'pcm16', rateHz: 24_000 },
};

/** Synthesis format for such a stream: inbound mu-law makes it an 8 kHz call, whatever may be sent. */
export function speechOf(audio: StreamAudio): AudioFormat {
  return audio === 'mulaw-8k' ? MULAW_8K : linearSpeech(MULAW_8K.rateHz);
}

/**
 * Bandwidth's bidirectional streams (dev.bandwidth.com/docs/voice/programmable-voice/bxml/startStream): `eventType` names the event, and audio
 * is at the top level of its message, without a time. There are no marks, and keys come by webhooks.
 */
export function bandwidthDialect(audio: StreamAudio): JsonDialect {
  return {
    eventKey: 'eventType',
    events: { start: 'start', media: 'audio', stop: 'stop' },
    start: {
      streamId: [['metadata', 'streamId']],
      callId: [['metadata', 'callId']],
      parameters: [['streamParams'], ['metadata', 'streamParams']],
      // As documented; the start message gives no known format.
      encoding: [],
      rateHz: [],
      channels: [],
      encodings: {},
      ratesHz: [8000],
      format: MULAW_8K,
      outbound: () => OUTBOUND[audio],
    },
    audio: { payload: ['payload'], timestampMs: ['timestamp'], track: ['track'], callerTracks: ['inbound'] },
    digit: ['dtmf', 'digit'],
    markName: ['name'],
    stopReason: ['reason'],
    send: {
      audio: (_streamId, format) => [
        `{"eventType":"playAudio","media":{"contentType":"${contentTypeOf(format)}","payload":"`,
        '"}}',
      ],
      clear: () => '{"eventType":"clear"}',
    },
  };
}

function contentTypeOf({ encoding, rateHz }: WireFormat): string {
  if (encoding === 'mulaw') return 'audio/pcmu';
  return `audio/pcm;rate=${rateHz};channels=1;bit-depth=16;endian=little;encoding=signed`;
}

import { ALAW_8K, MULAW_8K, type WireFormat } from '../../audio/format.ts';
import type { JsonDialect } from '../json-dialect.ts';
import type { CarrierCapabilities } from '../port.ts';
import type { TelnyxMedia } from './media.ts';

export const telnyxCapabilities: CarrierCapabilities = {
  clear: 'native',
  marks: 'native',
  // `clear` returns the waiting marks.
  marksReturnOnClear: 'yes',
  pacing: 'burst',
  // A message holds 20 ms to 30 s.
  frameMs: 20,
  dtmfOut: 'rest',
  // Reported by `streaming.stopped` or `streaming.failed`, and answered with `streaming_start`.
  comesBack: true,
};

/**
 * Telnyx media streaming in `rtp` mode (developers.telnyx.com/api-reference/websockets/stream-call-media-over-websocket). Each direction has its own
 * codec: the start names the caller's, negotiated by the telephone leg; we have declared ours.
 */
export function telnyxDialect({ codec, rateHz, byteOrder }: TelnyxMedia): JsonDialect {
  const linear = byteOrder === 'big' ? 'pcm16be' : 'pcm16';
  const encodings = { pcmu: 'mulaw', pcma: 'alaw', l16: linear } as const;
  const ours: WireFormat = { PCMU: MULAW_8K, PCMA: ALAW_8K, L16: { encoding: linear, rateHz } as const }[codec];
  return {
    eventKey: 'event',
    events: {
      connected: 'connected',
      start: 'start',
      media: 'audio',
      dtmf: 'digit',
      mark: 'mark',
      error: 'error',
      stop: 'stop',
    },
    start: {
      streamId: [['stream_id']],
      callId: [['start', 'call_control_id']],
      parameters: [['start', 'custom_parameters']],
      // The direction of the call is not in the message.
      call: { from: [['start', 'from']], to: [['start', 'to']], direction: [] },
      encoding: [['start', 'media_format', 'encoding']],
      rateHz: [['start', 'media_format', 'sample_rate']],
      channels: [['start', 'media_format', 'channels']],
      encodings,
      ratesHz: [8000, 16_000, 24_000],
      format: MULAW_8K,
      outbound: () => ours,
    },
    audio: {
      payload: ['media', 'payload'],
      timestampMs: ['media', 'timestamp'],
      // "Media frame order is not guaranteed": reordered by `chunk`, which counts a track's frames.
      order: ['media', 'chunk'],
      track: ['media', 'track'],
      callerTracks: ['inbound', 'inbound_track'],
      otherTracks: ['outbound', 'outbound_track'],
    },
    digit: ['dtmf', 'digit'],
    markName: ['mark', 'name'],
    stopReason: ['stop', 'reason'],
    errorText: [
      ['payload', 'code'],
      ['payload', 'title'],
      ['payload', 'detail'],
    ],
    send: {
      audio: () => ['{"event":"media","media":{"payload":"', '"}}'],
      mark: (_streamId, name) => JSON.stringify({ event: 'mark', mark: { name } }),
      clear: () => '{"event":"clear"}',
    },
  };
}

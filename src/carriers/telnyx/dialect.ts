import { ALAW_8K, MULAW_8K, type WireFormat } from '../../audio/format.ts';
import type { Secret } from '../../config/secrets.ts';
import { addressProof } from '../proofs.ts';
import type { JsonDialect } from '../json-dialect.ts';
import type { CarrierCapabilities } from '../port.ts';

/** Declared format of our audio. */
export interface TelnyxMedia {
  readonly codec: 'PCMU' | 'PCMA' | 'L16';
  /** Rate of `L16`; the others have 8 kHz. */
  readonly rateHz: number;
  readonly byteOrder: 'big' | 'little';
}

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

/** The `stream_*` fields of `answer` and of a dial order. @param url of the media socket */
export function streamFields(url: string, { codec, rateHz }: TelnyxMedia, apiKey: Secret): object {
  const isWide = codec === 'L16';
  return {
    stream_url: url,
    stream_track: 'inbound_track',
    // The default is `mp3`, and raw audio would be dropped silently.
    stream_bidirectional_mode: 'rtp',
    stream_bidirectional_codec: codec,
    ...(isWide ? { stream_bidirectional_sampling_rate: rateHz, stream_codec: codec } : {}),
    // Other codecs (OPUS, AMR-WB) would be streamed as they are, and cannot be decoded here.
    preferred_codecs: isWide ? 'G722,PCMU,PCMA' : 'PCMU,PCMA',
    stream_auth_token: streamAuthToken(url, apiKey),
  };
}

/** Fields of `streaming_start` for a copy of both sides of a call. @param url of the media socket */
export function forkFields(url: string, { codec }: TelnyxMedia, apiKey: Secret): object {
  return {
    stream_url: url,
    stream_track: 'both_tracks',
    // These legs' codecs are not our choice: the leg's own is used where Telnyx cannot convert it.
    stream_codec: codec,
    stream_auth_token: streamAuthToken(url, apiKey),
  };
}

/** Value of `x-telnyx-streaming-auth-token` on a media socket. @param url of the socket */
export function streamAuthToken(url: string, apiKey: Secret): string {
  return addressProof(apiKey, `telnyx-stream:${new URL(url).pathname}`);
}

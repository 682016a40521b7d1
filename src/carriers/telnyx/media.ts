import { createHmac } from 'node:crypto';
import type { Secret } from '../../config/secrets.ts';

/** Declared format of our audio. */
export interface TelnyxMedia {
  readonly codec: 'PCMU' | 'PCMA' | 'L16';
  /** Rate of `L16`; the others have 8 kHz. */
  readonly rateHz: number;
  readonly byteOrder: 'big' | 'little';
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

/** Value of `x-telnyx-streaming-auth-token` on a media socket: derived from its address and the API key, so that any process can check it. */
export function streamAuthToken(url: string, apiKey: Secret): string {
  const path = new URL(url).pathname;
  return createHmac('sha256', apiKey.reveal()).update(`telnyx-stream:${path}`).digest('base64url');
}

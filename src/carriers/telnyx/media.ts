import { createHmac } from 'node:crypto';
import type { Secret } from '../../config/secrets.ts';

/** What we declare of the audio that we send. */
export interface TelnyxMedia {
  readonly codec: 'PCMU' | 'PCMA' | 'L16';
  /** Of `L16`; the others have 8 kHz. */
  readonly rateHz: number;
  readonly byteOrder: 'big' | 'little';
}

/** The `stream_*` fields of `answer` and of an order for a call. @param url of the media socket */
export function streamFields(url: string, { codec, rateHz }: TelnyxMedia, apiKey: Secret): object {
  const isWide = codec === 'L16';
  return {
    stream_url: url,
    stream_track: 'inbound_track',
    // Without this it is `mp3`, and raw audio is dropped without a word.
    stream_bidirectional_mode: 'rtp',
    stream_bidirectional_codec: codec,
    ...(isWide ? { stream_bidirectional_sampling_rate: rateHz, stream_codec: codec } : {}),
    // Legs of other codecs (OPUS, AMR-WB) would be streamed as they are, and those are not decoded here.
    preferred_codecs: isWide ? 'G722,PCMU,PCMA' : 'PCMU,PCMA',
    stream_auth_token: streamAuthToken(url, apiKey),
  };
}

/** The fields of `streaming_start` that have a copy of both sides of a call sent. @param url of the media socket */
export function forkFields(url: string, { codec }: TelnyxMedia, apiKey: Secret): object {
  return {
    stream_url: url,
    stream_track: 'both_tracks',
    // We did not choose the codecs of these legs: the leg's own comes where Telnyx cannot turn it into this.
    stream_codec: codec,
    stream_auth_token: streamAuthToken(url, apiKey),
  };
}

/**
 * What Telnyx presents as `x-telnyx-streaming-auth-token` when it opens a media socket: follows from the socket's address and the API key, so
 * that any process can check it.
 */
export function streamAuthToken(url: string, apiKey: Secret): string {
  const path = new URL(url).pathname;
  return createHmac('sha256', apiKey.reveal()).update(`telnyx-stream:${path}`).digest('base64url');
}

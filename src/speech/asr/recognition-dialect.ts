import { bearerHeader } from '../client/credentials.ts';
import type { RecognitionOptions } from '../port.ts';
import { readRealtimeEvent, type RealtimeEvent } from './realtime-events.ts';

/** How one description of the service speaks on its socket; the session around it is the same. */
export interface RecognitionDialect {
  readonly path: string;
  /** Whether a refused credential may be replaced by a fresh one. */
  readonly canRenew: boolean;
  /** Whether a commit without speech before it is answered too. */
  readonly answersSilence: boolean;
  /** Of the upgrade. */
  headers(credential: string): Readonly<Record<string, string>>;
  /** The first message. */
  opening(credential: string, options: RecognitionOptions): string;
  /** What finalises a turn. */
  commit(sampleRateHz: number): string | Uint8Array;
  /** What finalises and closes. */
  readonly end: string;
  /** @returns undefined for a frame that is not JSON */
  read(frame: string): RealtimeEvent | undefined;
}

const MOST_BOOST_PHRASES = 10;

/** `WS {asr_url}/v1/realtime`: the token is in the first message alone (document 1, rule 3; ASR doc, "WebSocket"). */
export const primaryDialect: RecognitionDialect = {
  path: '/v1/realtime',
  canRenew: true,
  answersSilence: true,
  headers: () => ({}),
  opening(token, { language, sampleRateHz, boostPhrases = [] }) {
    const phrases = boostPhrases.slice(0, MOST_BOOST_PHRASES).join('||');
    const init = { token, language_code: language, sample_rate: sampleRateHz };
    return JSON.stringify(phrases === '' ? init : { ...init, boost_phrases: phrases });
  },
  commit: () => 'commit',
  end: 'end',
  read: (frame) => readRealtimeEvent(frame),
};

/** Asked for in the handshake; long enough for a breath. */
const SILENCE_S = 0.7;
/** More of it than the platform waits for. */
const COMMIT_SILENCE_S = 1;

/**
 * Variant B, `WS {asr_alt_url}/ws`. The documents leave its handshake open; this is the publicly known one. The key is in the
 * header. It has no commit: silence of our own after the turn makes the platform end the segment, and it says nothing where
 * there was no speech. Its `final` repeats the whole connection's text, which was told by segments already.
 */
export const altDialect: RecognitionDialect = {
  path: '/ws',
  canRenew: false,
  answersSilence: false,
  headers: bearerHeader,
  opening: (_key, { language, sampleRateHz }) =>
    JSON.stringify({ language, sample_rate: sampleRateHz, dtype: 'int16', silence_threshold_sec: SILENCE_S }),
  commit: (sampleRateHz) => new Uint8Array(2 * Math.round(COMMIT_SILENCE_S * sampleRateHz)),
  end: 'END',
  read: (frame) => readRealtimeEvent(frame, true),
};

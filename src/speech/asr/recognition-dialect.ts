import { bearerHeader } from '../client/credentials.ts';
import type { RecognitionOptions } from '../port.ts';
import { readRealtimeEvent, type RealtimeEvent } from './realtime-events.ts';

/** The socket messages of one variant of the service. */
export interface RecognitionDialect {
  readonly path: string;
  /** Whether a refused credential can be replaced by a new one. */
  readonly canRenew: boolean;
  /** Whether a commit without speech before it is answered too. */
  readonly answersSilence: boolean;
  /** Headers of the upgrade. */
  headers(credential: string): Readonly<Record<string, string>>;
  /** The first message. */
  opening(credential: string, options: RecognitionOptions): string;
  /** Finalises a turn. */
  commit(sampleRateHz: number): string | Uint8Array;
  /** Finalises and closes. */
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

/** Silence that ends a segment, requested in the handshake; longer than a breath. */
const SILENCE_S = 0.7;
/** Silence sent for a commit; longer than the platform waits for. */
const COMMIT_SILENCE_S = 1;

/**
 * Variant B, `WS {asr_alt_url}/ws`. The documents leave its handshake open; this is the publicly known one. The key is in the
 * header. It has no commit: silence sent after the turn ends the segment, and a turn without speech has no answer. Its `final`
 * repeats the text of the whole connection, which came in segments before.
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

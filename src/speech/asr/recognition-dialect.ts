import { bearerHeader } from '../client/credentials.ts';
import type { SpeechError } from '../client/errors.ts';
import type { SocketQuery } from '../client/socket.ts';
import type { RecognitionOptions } from '../port.ts';
import { readRealtimeEvent, type RealtimeEvent } from './realtime-events.ts';

/** What a recognition session over sockets (`RealtimeProtocol`) is made with. */
export interface RealtimeProtocolOptions extends RecognitionOptions {
  readonly readyTimeoutMs?: number | undefined;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** The primary one when absent. */
  readonly dialect?: RecognitionDialect | undefined;
}

/** How the sockets of one recogniser are opened and spoken to: a variant of the platform's service, or another vendor. */
export interface RecognitionDialect {
  /** Name of the service in errors; the speech platform when absent. */
  readonly title?: string;
  /** What to do about a refused credential; the platform's advice when absent. */
  readonly keyAdvice?: string;
  readonly path: string;
  /** Whether a refused credential can be replaced by a new one. */
  readonly canRenew: boolean;
  /** Whether a commit without speech before it is answered too. */
  readonly answersSilence: boolean;
  /**
   * A commit before which nothing was recognised (no interim text since the last final) is answered by an empty final after this
   * long; absent where the recogniser answers every commit.
   */
  readonly silentCommitMs?: number;
  /** A commit is followed by some message at once, also after silence: an answer to a ping is no sign of life then. */
  readonly confirmsCommits?: boolean;
  /** Repeated audio is sent at most this much faster than real time; 1.5 when absent. */
  readonly replaySpeed?: number;
  /** Whether an open session takes other hints (`DialectSocket.hints`). */
  readonly changesHints?: boolean;
  /** Headers of the upgrade. */
  headers(credential: string): Readonly<Record<string, string>>;
  query?(options: RecognitionOptions): SocketQuery;
  /** The messages of a new socket; they may hold state of it. */
  connect(options: RecognitionOptions): DialectSocket;
}

/** The messages of one socket. */
export interface DialectSocket {
  /** Listens as soon as it is open, without a `ready` event. */
  readonly isReadyAtOnce?: boolean;
  /** The first message; undefined for none. */
  opening(credential: string): string | undefined;
  /** A message with audio, or several. @param pcm 16-bit little-endian samples at the session's rate; the bytes may be kept */
  audio(pcm: Uint8Array): string | Uint8Array | readonly string[];
  /** Finalises a turn. */
  commit(): string | Uint8Array | readonly string[];
  /** Biases the open session toward other phrases; absent where they are fixed when it opens. */
  hints?(phrases: readonly string[]): string;
  /** Finalises and closes; undefined where a commit and its answer come before a plain close. */
  readonly end: string | undefined;
  /** Sent when nothing else was for this long. */
  readonly keepAlive?: { readonly everyMs: number; readonly message: string };
  /** @returns several events where one frame says several things; undefined for a frame that is not JSON */
  read(frame: string): RealtimeEvent | readonly RealtimeEvent[] | undefined;
  /** What a close code of the service means; undefined where the code says it (`closeError` in client/socket). */
  closeError?(code: number, reason: string): SpeechError | undefined;
}

const MOST_BOOST_PHRASES = 10;

/** `WS {asr_url}/v1/realtime`: the token is in the first message alone (document 1, rule 3; ASR doc, "WebSocket"). */
export const primaryDialect: RecognitionDialect = {
  path: '/v1/realtime',
  canRenew: true,
  answersSilence: true,
  headers: () => ({}),
  connect: ({ language, sampleRateHz, boostPhrases = [] }) => ({
    opening(token) {
      const phrases = boostPhrases.slice(0, MOST_BOOST_PHRASES).join('||');
      const init = { token, language_code: language, sample_rate: sampleRateHz };
      return JSON.stringify(phrases === '' ? init : { ...init, boost_phrases: phrases });
    },
    audio: (pcm) => pcm,
    commit: () => 'commit',
    end: 'end',
    read: (frame) => readRealtimeEvent(frame),
  }),
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
  connect: ({ language, sampleRateHz }) => ({
    opening: () => JSON.stringify({ language, sample_rate: sampleRateHz, dtype: 'int16', silence_threshold_sec: SILENCE_S }),
    audio: (pcm) => pcm,
    commit: () => new Uint8Array(2 * Math.round(COMMIT_SILENCE_S * sampleRateHz)),
    end: 'END',
    read: (frame) => readRealtimeEvent(frame, true),
  }),
};

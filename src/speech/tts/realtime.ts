import { setMaxListeners } from 'node:events';
import { TELEPHONE_FORMAT } from '../../audio/format.ts';
import { sleep } from '../../kernel/waiting.ts';
import { backoffDelayMs } from '../../kernel/backoff.ts';
import { type Clock, stayAwake } from '../../kernel/clock.ts';
import type { CircuitBreaker } from '../client/circuit-breaker.ts';
import type { Tokens } from '../client/credentials.ts';
import { eitherSignal } from '../client/deadline.ts';
import { SpeechAuthError, SpeechError, SpeechUnavailableError } from '../client/errors.ts';
import type { SynthesisRequest, Synthesizer } from '../port.ts';
import { PLATFORM_SYNTHESIS } from '../platform-capabilities.ts';
import type { Slots } from '../client/slots.ts';
import { IdleSockets, SynthesisSocket } from './synthesis-socket.ts';
import { type StreamedSpeechOptions, type WireRequest, wireRequest } from './realtime-request.ts';

export interface RealtimeSynthesizerOptions {
  readonly ttsUrl: string;
  /** One source of tokens for each lane of the slots. */
  readonly tokens: Tokens | readonly Tokens[];
  readonly clock: Clock;
  readonly slots: Slots;
  readonly breaker?: CircuitBreaker;
  /** Time limit for opening a socket. */
  readonly connectTimeoutMs?: number | undefined;
  readonly random?: () => number;
}

interface Attempt {
  /** Whether an idle socket may be used again. */
  readonly mayReuse: boolean;
  heard: boolean;
  reused: boolean;
}

const BACKOFF = { firstMs: 150, factor: 2, maxMs: 1_000, jitter: 0.2 } as const;
const MOST_REPEATS = 2;
/** Share of a key's slots that idle sockets may take. */
const MOST_IDLE_SHARE = 0.25;

/** The realtime synthesizer of the platform's documents: `WS {tts_url}/v1/realtime`. */
export class RealtimeSynthesizer implements Synthesizer, AsyncDisposable {
  readonly capabilities = PLATFORM_SYNTHESIS;
  readonly #options: RealtimeSynthesizerOptions;
  readonly #tokens: readonly Tokens[];
  readonly #closing = new AbortController();
  readonly #idle: IdleSockets;
  #warming: Promise<void> | undefined;

  constructor(options: RealtimeSynthesizerOptions) {
    this.#options = options;
    this.#tokens = 'get' in options.tokens ? [options.tokens] : options.tokens;
    this.#idle = new IdleSockets(options.clock);
    // One listener for each text that is being spoken.
    setMaxListeners(0, this.#closing.signal);
  }

  /**
   * One full message a sentence.
   * @throws as `stream`
   */
  speak(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const { text, voice, language, speed, priority, format: wanted = TELEPHONE_FORMAT } = request;
    const format = wanted.encoding === 'pcm16' ? 'pcm' : wanted.encoding;
    return this.stream({ text, voice, language, speed, priority, format, sampleRateHz: wanted.rateHz }, signal);
  }

  /**
   * Speaks a text in the requested format and rate; yields audio as it is made.
   * @throws SpeechRequestError for what the socket does not take, SpeechAuthError, SpeechUnavailableError, SpeechFailedError,
   * SpeechProtocolError; the signal's reason when aborted
   */
  async *stream(options: StreamedSpeechOptions, outer: AbortSignal): AsyncIterable<Uint8Array> {
    const request = wireRequest(options);
    const { clock, slots, breaker, random = Math.random } = this.#options;
    using either = eitherSignal(outer, this.#closing.signal);
    const { signal } = either;
    const slot = await stayAwake(slots.acquire(request.priority, signal));
    try {
      let mayReuse = true;
      for (let repeats = 0; ;) {
        breaker?.check();
        const attempt: Attempt = { mayReuse, heard: false, reused: false };
        try {
          yield* this.#attempt(request, slot.lane, signal, attempt);
          breaker?.succeeded();
          return;
        } catch (error) {
          if (signal.aborted) throw error;
          if (error instanceof SpeechUnavailableError && !attempt.reused) breaker?.failed();
          // No retry after the first audio: it would be spoken twice.
          if (!(error instanceof SpeechError) || !error.retryable || attempt.heard) throw error;
          // A dead idle socket says nothing about the platform, but the other idle ones may be dead too: use a new one.
          mayReuse = false;
          if (attempt.reused) continue;
          if (repeats >= MOST_REPEATS) throw error;
          await stayAwake(sleep(clock, backoffDelayMs(BACKOFF, repeats, random()), signal));
          repeats += 1;
        }
      }
    } finally {
      slot.release();
    }
  }

  /** Opens a socket ahead of the next text if a slot is free. Never rejects. */
  async warm(): Promise<void> {
    const { signal } = this.#closing;
    const { slots } = this.#options;
    if (signal.aborted || slots.free <= 0) return;
    const slot = slots.tryReserve();
    const lane = slot?.lane ?? 0;
    // The slot only tells which key the next text will use.
    slot?.release();
    if (this.#idle.has(lane)) return;
    this.#warming ??= this.#open(lane, undefined, signal)
      .then(
        (socket) => this.#keep(lane, socket),
        // The next text tries again and reports the error.
        () => undefined,
      )
      .finally(() => (this.#warming = undefined));
    await this.#warming;
  }

  /** Stops all syntheses and closes all sockets. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the speech client was closed'));
    this.#idle.close();
  }

  async *#attempt(request: WireRequest, lane: number, signal: AbortSignal, attempt: Attempt): AsyncIterable<Uint8Array> {
    const { wanted, query, messages } = request;
    const idle = query === undefined && attempt.mayReuse ? this.#idle.take(lane) : undefined;
    attempt.reused = idle !== undefined;
    const socket = idle ?? (await stayAwake(this.#open(lane, query, signal)));
    let whole = false;
    try {
      for await (const audio of socket.speak(messages, wanted, signal)) {
        attempt.heard = true;
        yield audio;
      }
      whole = true;
    } finally {
      // An unfinished synthesis would be charged to its end: its socket is closed.
      if (whole && query === undefined && messages.length === 1) this.#keep(lane, socket);
      else socket.close();
    }
  }

  #keep(lane: number, socket: SynthesisSocket): void {
    if (this.#closing.signal.aborted) {
      socket.close();
      return;
    }
    const { slots } = this.#options;
    // Open sockets may count as requests: idle ones leave slots free.
    this.#idle.keep(lane, socket, Math.max(1, Math.min(Math.floor(slots.limitPerLane * MOST_IDLE_SHARE), slots.freeIn(lane))));
  }

  /** A refused upgrade may mean an expired token: mints and retries once (document 1, rule 4). */
  async #open(lane: number, query: WireRequest['query'], signal: AbortSignal): Promise<SynthesisSocket> {
    const { ttsUrl, clock, connectTimeoutMs: timeoutMs } = this.#options;
    const tokens = this.#tokens[lane];
    if (tokens === undefined) throw new TypeError(`there is no source of tokens for lane ${lane}`);
    const token = await tokens.get(signal);
    const options = { ttsUrl, query, clock, timeoutMs, signal };
    try {
      return await SynthesisSocket.open({ ...options, token });
    } catch (error) {
      if (!(error instanceof SpeechAuthError) || error.status !== 401 || !tokens.invalidate(token)) throw error;
      return SynthesisSocket.open({ ...options, token: await tokens.get(signal) });
    }
  }
}

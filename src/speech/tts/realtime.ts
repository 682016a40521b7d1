import { TELEPHONE_FORMAT } from '../../audio/format.ts';
import { type Clock, stayAwake } from '../../kernel/clock.ts';
import type { CircuitBreaker } from '../client/circuit-breaker.ts';
import { bearerHeader, type Tokens } from '../client/credentials.ts';
import { SpeechAuthError } from '../client/errors.ts';
import type { SynthesisRequest, Synthesizer } from '../port.ts';
import { PLATFORM_SYNTHESIS } from '../platform-capabilities.ts';
import type { Slots } from '../client/slots.ts';
import { type Attempt, SynthesisAttempts } from './synthesis-attempts.ts';
import { SynthesisProtocol } from './synthesis-protocol.ts';
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

/** Share of a key's slots that idle sockets may take. */
const MOST_IDLE_SHARE = 0.25;

/** The realtime synthesizer of the platform's documents: `WS {tts_url}/v1/realtime`. */
export class RealtimeSynthesizer implements Synthesizer, AsyncDisposable {
  readonly capabilities = PLATFORM_SYNTHESIS;
  readonly #options: RealtimeSynthesizerOptions;
  readonly #tokens: readonly Tokens[];
  readonly #attempts: SynthesisAttempts;
  readonly #idle: IdleSockets<number>;
  #warming: Promise<void> | undefined;

  constructor(options: RealtimeSynthesizerOptions) {
    this.#options = options;
    this.#tokens = 'get' in options.tokens ? [options.tokens] : options.tokens;
    this.#idle = new IdleSockets(options.clock);
    const { clock, slots, breaker, random } = options;
    this.#attempts = new SynthesisAttempts({ clock, slots, breaker, random });
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
    yield* this.#attempts.run(request.priority, outer, (attempt, signal) => this.#once(request, signal, attempt));
  }

  /** Opens a socket ahead of the next text if a slot is free. Never rejects. */
  async warm(): Promise<void> {
    const { closing: signal } = this.#attempts;
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
    this.#attempts.close();
    this.#idle.close();
  }

  async *#once({ wanted, query, messages }: WireRequest, signal: AbortSignal, attempt: Attempt): AsyncIterable<Uint8Array> {
    const idle = query === undefined && attempt.mayReuse ? this.#idle.take(attempt.lane) : undefined;
    attempt.reused = idle !== undefined;
    const socket = idle ?? (await stayAwake(this.#open(attempt.lane, query, signal)));
    let whole = false;
    try {
      const reader = new SynthesisProtocol(wanted, socket.mask);
      yield* socket.speak(
        messages.map((message) => JSON.stringify(message)),
        reader,
        signal,
      );
      whole = true;
    } finally {
      // An unfinished synthesis would be charged to its end: its socket is closed.
      if (whole && query === undefined && messages.length === 1) this.#keep(attempt.lane, socket);
      else socket.close();
    }
  }

  #keep(lane: number, socket: SynthesisSocket): void {
    if (this.#attempts.closing.aborted) {
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
    const open = (credential: string): Promise<SynthesisSocket> =>
      SynthesisSocket.open(ttsUrl, { credential, headers: bearerHeader(credential), query, clock, timeoutMs, signal });
    try {
      return await open(token);
    } catch (error) {
      if (!(error instanceof SpeechAuthError) || error.status !== 401 || !tokens.invalidate(token)) throw error;
      return open(await tokens.get(signal));
    }
  }
}

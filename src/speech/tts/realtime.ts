import { setMaxListeners } from 'node:events';
import { sleep } from '../../kernel/abort.ts';
import { backoffDelayMs } from '../../kernel/backoff.ts';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { eitherSignal } from '../either-signal.ts';
import { SpeechAuthError, SpeechError, SpeechRequestError } from '../errors.ts';
import type { SynthesisRequest, Synthesizer } from '../port.ts';
import type { Slots } from '../slots.ts';
import type { TokenSource } from '../tokens.ts';
import { SynthesisSocket } from './synthesis-socket.ts';

export interface RealtimeSynthesizerOptions {
  readonly ttsUrl: string;
  readonly tokens: TokenSource;
  readonly clock: Clock;
  readonly slots: Slots;
  /** Time to open a socket. */
  readonly connectTimeoutMs?: number | undefined;
  readonly random?: () => number;
}

interface Attempt {
  heard: boolean;
  reused: boolean;
}

const MOST_CHARACTERS = 10_000;
const BACKOFF = { firstMs: 150, factor: 2, maxMs: 1_000, jitter: 0.2 } as const;
const MOST_REPEATS = 2;
/** A socket that has nothing to do is kept this long for the next sentence. */
const IDLE_MS = 20_000;

/** The realtime synthesizer of the platform's documents: `WS {tts_url}/v1/realtime`, one full message a sentence. */
export class RealtimeSynthesizer implements Synthesizer, AsyncDisposable {
  readonly #options: RealtimeSynthesizerOptions;
  readonly #closing = new AbortController();
  #idle: { readonly socket: SynthesisSocket; readonly timer: Timer } | undefined;
  #warming: Promise<void> | undefined;

  constructor(options: RealtimeSynthesizerOptions) {
    this.#options = options;
    // One listener for each text that is being spoken.
    setMaxListeners(0, this.#closing.signal);
  }

  /**
   * @throws SpeechRequestError for a text the platform does not take, SpeechAuthError, SpeechUnavailableError,
   * SpeechFailedError, SpeechProtocolError; the signal's reason when aborted
   */
  async *speak(request: SynthesisRequest, outer: AbortSignal): AsyncIterable<Uint8Array> {
    const characters = Array.from(request.text).length;
    if (characters < 1 || characters > MOST_CHARACTERS)
      throw new SpeechRequestError(`a text to speak has 1 to ${MOST_CHARACTERS} characters, not ${characters}`);
    const { clock, slots, random = Math.random } = this.#options;
    using either = eitherSignal(outer, this.#closing.signal);
    const { signal } = either;
    const slot = await slots.acquire('live', signal);
    try {
      for (let repeats = 0; ;) {
        const attempt: Attempt = { heard: false, reused: false };
        try {
          yield* this.#attempt(request, signal, attempt);
          return;
        } catch (error) {
          // After audio was heard a repeat would say it twice.
          const again = error instanceof SpeechError && error.retryable && !attempt.heard;
          if (signal.aborted || !again) throw error;
          // A kept socket that had died in the meantime says nothing about the platform: a new one at once.
          if (attempt.reused) continue;
          if (repeats >= MOST_REPEATS) throw error;
          await sleep(clock, backoffDelayMs(BACKOFF, repeats, random()), signal);
          repeats += 1;
        }
      }
    } finally {
      slot.release();
    }
  }

  /** Opens a socket for the next text while nobody waits for it, when a slot is free for it. Never rejects. */
  async warm(): Promise<void> {
    const { signal } = this.#closing;
    if (signal.aborted || this.#idle?.socket.usable === true || this.#options.slots.free <= 0) return;
    this.#warming ??= this.#open(signal)
      .then(
        (socket) => this.#keep(socket),
        // Whoever speaks next tries again, and hears what is wrong.
        () => undefined,
      )
      .finally(() => (this.#warming = undefined));
    await this.#warming;
  }

  /** Stops what is being spoken and closes every socket. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the speech client was closed'));
    this.#takeIdle()?.close();
  }

  async *#attempt(request: SynthesisRequest, signal: AbortSignal, attempt: Attempt): AsyncIterable<Uint8Array> {
    const idle = this.#takeIdle();
    attempt.reused = idle !== undefined;
    const socket = idle ?? (await this.#open(signal));
    let whole = false;
    try {
      for await (const audio of socket.speak(message(request), signal)) {
        attempt.heard = true;
        yield audio;
      }
      whole = true;
    } finally {
      // A socket that was left in the middle would go on being paid for: it is closed.
      if (whole) this.#keep(socket);
      else socket.close();
    }
  }

  /** A refused upgrade may be an expired token: mint once, repeat once (document 1, rule 4). */
  async #open(signal: AbortSignal): Promise<SynthesisSocket> {
    const { tokens, ttsUrl, clock, connectTimeoutMs: timeoutMs } = this.#options;
    const token = await tokens.get(signal);
    try {
      return await SynthesisSocket.open({ ttsUrl, token, clock, timeoutMs, signal });
    } catch (error) {
      if (!(error instanceof SpeechAuthError) || error.status !== 401) throw error;
      tokens.invalidate(token);
      return SynthesisSocket.open({ ttsUrl, token: await tokens.get(signal), clock, timeoutMs, signal });
    }
  }

  #takeIdle(): SynthesisSocket | undefined {
    const idle = this.#idle;
    this.#idle = undefined;
    idle?.timer.cancel();
    return idle?.socket.usable === true ? idle.socket : undefined;
  }

  #keep(socket: SynthesisSocket): void {
    if (this.#idle?.socket.usable === true || this.#closing.signal.aborted) {
      socket.close();
      return;
    }
    this.#takeIdle();
    const timer = this.#options.clock.after(IDLE_MS, () => this.#takeIdle()?.close());
    this.#idle = { socket, timer };
  }
}

/** The full synthesis message (TTS doc, "WebSocket", way 3). */
function message({ text, voice, language, speed }: SynthesisRequest): object {
  return {
    model: 'zero-indic',
    input: text,
    voice,
    language,
    response_format: 'mulaw',
    ...(speed === undefined ? {} : { speed }),
  };
}

import { sleep } from '../../kernel/abort.ts';
import { backoffDelayMs } from '../../kernel/backoff.ts';
import type { Clock } from '../../kernel/clock.ts';
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
}

const MOST_CHARACTERS = 10_000;
const BACKOFF = { firstMs: 150, factor: 2, maxMs: 1_000, jitter: 0.2 } as const;
const MOST_REPEATS = 2;
/** A socket that has nothing to do is kept this long for the next sentence. */
const IDLE_MS = 20_000;

/** The realtime synthesizer of the platform's documents: `WS {tts_url}/v1/realtime`, one full message a sentence. */
export class RealtimeSynthesizer implements Synthesizer {
  readonly #options: RealtimeSynthesizerOptions;
  #idle: SynthesisSocket | undefined;

  constructor(options: RealtimeSynthesizerOptions) {
    this.#options = options;
  }

  /**
   * @throws SpeechRequestError for a text the platform does not take, SpeechAuthError, SpeechUnavailableError,
   * SpeechProtocolError; the signal's reason when aborted
   */
  async *speak(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const characters = Array.from(request.text).length;
    if (characters < 1 || characters > MOST_CHARACTERS) {
      throw new SpeechRequestError(`a text to speak has 1 to ${MOST_CHARACTERS} characters, not ${characters}`);
    }
    const slot = await this.#options.slots.acquire('live', signal);
    try {
      for (let repeats = 0; ; repeats += 1) {
        const attempt = { heard: false };
        try {
          yield* this.#attempt(request, signal, attempt);
          return;
        } catch (error) {
          // After audio was heard a repeat would say it twice.
          const again = error instanceof SpeechError && error.retryable && !attempt.heard && repeats < MOST_REPEATS;
          if (signal.aborted || !again) throw error;
          await sleep(this.#options.clock, backoffDelayMs(BACKOFF, repeats, Math.random()), signal);
        }
      }
    } finally {
      slot.release();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#idle?.close();
    this.#idle = undefined;
  }

  async *#attempt(request: SynthesisRequest, signal: AbortSignal, attempt: { heard: boolean }): AsyncIterable<Uint8Array> {
    const socket = await this.#take(signal);
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

  async #take(signal: AbortSignal): Promise<SynthesisSocket> {
    const idle = this.#idle;
    this.#idle = undefined;
    if (idle?.usable === true) return idle;
    try {
      return await this.#open(signal);
    } catch (error) {
      // A refused upgrade may be an expired token: mint once, repeat once (document 1, rule 4).
      if (!(error instanceof SpeechAuthError) || error.status !== 401) throw error;
      return this.#open(signal);
    }
  }

  async #open(signal: AbortSignal): Promise<SynthesisSocket> {
    const { tokens, ttsUrl, clock } = this.#options;
    const token = await tokens.get(signal);
    try {
      return await SynthesisSocket.open(ttsUrl, token, clock, signal);
    } catch (error) {
      if (error instanceof SpeechAuthError) tokens.invalidate(token);
      throw error;
    }
  }

  #keep(socket: SynthesisSocket): void {
    if (this.#idle !== undefined || !socket.usable) {
      socket.close();
      return;
    }
    this.#idle = socket;
    this.#options.clock.after(IDLE_MS, () => {
      if (this.#idle !== socket) return;
      this.#idle = undefined;
      socket.close();
    });
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

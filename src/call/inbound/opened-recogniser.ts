import { isDeepStrictEqual } from 'node:util';
import type {
  Recogniser,
  RecogniserCapabilities,
  RecognitionEvent,
  RecognitionOptions,
  RecognitionSession,
} from '../../speech/port.ts';

/** A recogniser with one session opened before the call, so that the first words find it ready. */
export class OpenedRecogniser implements Recogniser {
  readonly #recogniser: Recogniser;
  readonly #options: RecognitionOptions;
  #session: RecognitionSession | undefined;
  #ready: RecognitionEvent | undefined;
  #listener: ((event: RecognitionEvent) => void) | undefined;
  #closed = false;

  /** Opens it. */
  constructor(recogniser: Recogniser, options: RecognitionOptions) {
    this.#recogniser = recogniser;
    this.#options = options;
    this.#session = recogniser.open(options, (event) => {
      if (this.#listener !== undefined) this.#listener(event);
      else if (event.type === 'closed') this.#closed = true;
      else if (event.type === 'ready') this.#ready = event;
    });
  }

  get capabilities(): RecogniserCapabilities {
    return this.#recogniser.capabilities;
  }

  /** Hands out the open session to the first matching request; otherwise opens another. A session at a different rate is closed. */
  open(options: RecognitionOptions, listener: (event: RecognitionEvent) => void): RecognitionSession {
    if (options.sampleRateHz !== this.#options.sampleRateHz) this.discard();
    const session = this.#session;
    if (session === undefined || !isDeepStrictEqual(options, this.#options)) return this.#recogniser.open(options, listener);
    this.#session = undefined;
    // The open session closed before the call used it, which is no fault of this call.
    if (this.#closed) return this.#recogniser.open(options, listener);
    this.#listener = listener;
    if (this.#ready !== undefined) listener(this.#ready);
    return session;
  }

  /** Closes an unused session. */
  discard(): void {
    this.#session?.abort();
    this.#session = undefined;
  }
}

import { setMaxListeners } from 'node:events';
import { backoffDelayMs } from '../../kernel/backoff.ts';
import { type Clock, stayAwake } from '../../kernel/clock.ts';
import { sleep } from '../../kernel/waiting.ts';
import type { CircuitBreaker } from '../client/circuit-breaker.ts';
import { eitherSignal } from '../client/deadline.ts';
import { SpeechError, SpeechUnavailableError } from '../client/errors.ts';
import type { SlotPriority, Slots } from '../client/slots.ts';

export interface SynthesisAttemptsOptions {
  readonly clock: Clock;
  readonly slots: Slots;
  readonly breaker?: CircuitBreaker | undefined;
  readonly random?: (() => number) | undefined;
}

/** One try to speak a text. It notes what a further try has to know. */
export interface Attempt {
  /** Index of the key whose slot is held. */
  readonly lane: number;
  /** Whether an idle socket may be used again. */
  readonly mayReuse: boolean;
  /** Some audio came. */
  heard: boolean;
  /** The socket had been used before. */
  reused: boolean;
}

const BACKOFF = { firstMs: 150, factor: 2, maxMs: 1_000, jitter: 0.2 } as const;
const MOST_REPEATS = 2;

/** Speaks texts over sockets: each holds a slot, and is tried again as long as no audio of it came. */
export class SynthesisAttempts {
  readonly #options: SynthesisAttemptsOptions;
  readonly #closing = new AbortController();

  constructor(options: SynthesisAttemptsOptions) {
    this.#options = options;
    // One listener for each text that is being spoken.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Aborts at `close`. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** @throws what `once` throws; SpeechOverloadedError; the signal's reason when aborted */
  async *run(
    priority: SlotPriority,
    outer: AbortSignal,
    once: (attempt: Attempt, signal: AbortSignal) => AsyncIterable<Uint8Array>,
  ): AsyncIterable<Uint8Array> {
    const { clock, slots, breaker, random = Math.random } = this.#options;
    using either = eitherSignal(outer, this.#closing.signal);
    const { signal } = either;
    const slot = await stayAwake(slots.acquire(priority, signal));
    try {
      let mayReuse = true;
      for (let repeats = 0; ;) {
        breaker?.check();
        const attempt: Attempt = { lane: slot.lane, mayReuse, heard: false, reused: false };
        try {
          for await (const audio of once(attempt, signal)) {
            attempt.heard = true;
            yield audio;
          }
          breaker?.succeeded();
          return;
        } catch (error) {
          if (signal.aborted) throw error;
          if (error instanceof SpeechUnavailableError && !attempt.reused) breaker?.failed();
          // No retry after the first audio: it would be spoken twice.
          if (!(error instanceof SpeechError) || !error.retryable || attempt.heard) throw error;
          // A dead idle socket says nothing about the service, but the other idle ones may be dead too: use a new one.
          mayReuse = false;
          if (attempt.reused) continue;
          const waitMs = Math.max(error.waitMs ?? 0, backoffDelayMs(BACKOFF, repeats, random()));
          if (repeats >= MOST_REPEATS || waitMs > 2 * BACKOFF.maxMs) throw error;
          await stayAwake(sleep(clock, waitMs, signal));
          repeats += 1;
        }
      }
    } finally {
      slot.release();
    }
  }

  /** Stops every text. */
  close(): void {
    this.#closing.abort(new Error('the speech client was closed'));
  }
}

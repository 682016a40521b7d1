import { sleep } from '../kernel/abort.ts';
import { type BackoffPolicy, backoffDelayMs } from '../kernel/backoff.ts';
import type { Clock } from '../kernel/clock.ts';
import { OffhookError } from '../kernel/errors.ts';
import type { Outbox } from './outbox.ts';
import type { OutboxEntry } from './outbox-entry.ts';
import type { Logger } from '../observability/logger.ts';

/**
 * Brings one entry to where it belongs; returning means that it has arrived. May see an entry again that had arrived.
 * Throwing an OffhookError that is not retryable sets the entry aside; anything else thrown is tried again, without end.
 */
export type Deliver = (entry: OutboxEntry) => Promise<void>;

/** So many entries failing one after the other: store or queue are away, and the rest of the round would only wait for them. */
const GIVE_UP_ROUND = 3;

const BACKOFF: BackoffPolicy = { firstMs: 250, factor: 2, maxMs: 30_000, jitter: 0.2 };

/** Drains the outbox, oldest entry first, for as long as it runs. An entry that fails holds up those behind it only for that round. */
export class OutboxPump implements AsyncDisposable {
  readonly #outbox: Outbox;
  readonly #deliver: Deliver;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  readonly #finished: Promise<void>;
  #wake: (() => void) | undefined;
  #woken = true;
  #idle: (() => void)[] = [];

  constructor(parts: { outbox: Outbox; deliver: Deliver; clock: Clock; logger: Logger }) {
    this.#outbox = parts.outbox;
    this.#deliver = parts.deliver;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
    this.#finished = this.#run();
  }

  /** Says that there is something to deliver: call it after each append. */
  wake(): void {
    this.#woken = true;
    this.#wake?.();
  }

  /** Resolves when a round has found the outbox empty that began after this call. */
  drained(): Promise<void> {
    const drained = new Promise<void>((resolve) => this.#idle.push(resolve));
    this.wake();
    return drained;
  }

  /** Ends after the entry in hand. What is left is delivered by the next run. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the pump is stopping'));
    this.#wake?.();
    await this.#finished;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let failedRounds = 0;
    while (!signal.aborted) {
      this.#woken = false;
      const waiters = this.#idle;
      this.#idle = [];
      const left = await this.#round();
      if (left === 0) {
        failedRounds = 0;
        for (const done of waiters) done();
        await this.#sleepUntilWoken();
      } else {
        this.#idle.unshift(...waiters);
        await sleep(this.#clock, backoffDelayMs(BACKOFF, failedRounds++, Math.random()), signal).catch(() => {});
      }
    }
  }

  /** @returns 0 when everything was delivered, more when something is left */
  async #round(): Promise<number> {
    let left = 0;
    let inARow = 0;
    try {
      for (const name of await this.#outbox.names()) {
        if (this.#stopping.signal.aborted || inARow === GIVE_UP_ROUND) return left + 1;
        const delivered = await this.#one(name);
        inARow = delivered ? 0 : inARow + 1;
        if (!delivered) left += 1;
      }
      return left;
    } catch (error) {
      this.#logger.error({ error }, 'outbox unreadable');
      return left + 1;
    }
  }

  async #one(name: string): Promise<boolean> {
    try {
      const entry = await this.#outbox.read(name);
      if (entry === undefined) {
        this.#logger.error({ entry: name }, 'outbox entry damaged, set aside');
        await this.#outbox.reject(name, 'the file is not a whole entry');
        return true;
      }
      await this.#deliver(entry);
      await this.#outbox.remove(name);
      return true;
    } catch (error) {
      if (error instanceof OffhookError && !error.retryable) {
        this.#logger.error({ entry: name, error }, 'outbox entry refused, set aside');
        await this.#outbox.reject(name, error);
        return true;
      }
      if (this.#stopping.signal.aborted) return false;
      this.#logger.warn({ entry: name, error }, 'outbox entry not delivered yet');
      return false;
    }
  }

  async #sleepUntilWoken(): Promise<void> {
    while (!this.#woken && !this.#stopping.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}

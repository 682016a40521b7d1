import { sleep, within, SingleFlight } from '../../kernel/waiting.ts';
import { type BackoffPolicy, backoffDelayMs } from '../../kernel/backoff.ts';
import type { Clock } from '../../kernel/clock.ts';
import { OffhookError } from '../../kernel/errors.ts';
import type { Outbox, OutboxEntry } from './outbox.ts';
import type { Logger } from '../../observability/logger.ts';
import { FolderLock } from '../../kernel/folder-lock.ts';

/**
 * Brings one entry to where it belongs; returning means that it has arrived. May see an entry again that had arrived.
 * Throwing an OffhookError that is not retryable sets the entry aside; anything else thrown is tried again, without end.
 */
export interface Deliver {
  (entry: OutboxEntry): Promise<void>;
  /** The same for several at once, faster. Anything thrown has them delivered one by one, each with an outcome of its own. */
  readonly many?: (entries: readonly OutboxEntry[]) => Promise<void>;
}

/** So many entries are delivered at once; more would hold up a stop, and the memory of long calls. */
const TOGETHER = 50;
/** Where the files of so many entries are larger than this, they are delivered one by one. */
const MOST_BYTES_TOGETHER = 4 * 1024 * 1024;

/** So many entries failing one after the other: store or queue are away, and the rest of the round would only wait for them. */
const GIVE_UP_ROUND = 3;

/**
 * Polling interval of an idle pump: other gateways on the folder append as well, and so do processes whose front was killed. Without permission to
 * drain, the interval of asking for it.
 */
const LOOK_MS = 1_000;
/** A store, queue or bucket that has not answered by then when the pump stops may never do so. */
const STOP_MS = 5_000;

const BACKOFF: BackoffPolicy = { firstMs: 250, factor: 2, maxMs: 30_000, jitter: 0.2 };

export interface OutboxPumpParts {
  readonly outbox: Outbox;
  readonly deliver: Deliver;
  /** Whether this process is the one that drains the folder; it always is when absent. */
  readonly mayDrain?: (() => Promise<boolean>) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Drains the outbox, oldest entry first. A failed entry delays those behind it for that round only. */
export class OutboxPump implements AsyncDisposable {
  readonly #outbox: Outbox;
  readonly #deliver: Deliver;
  readonly #mayDrain: () => Promise<boolean>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  readonly #finished: Promise<void>;
  #wake: (() => void) | undefined;
  #woken = true;
  #idle: (() => void)[] = [];

  constructor(parts: OutboxPumpParts) {
    this.#outbox = parts.outbox;
    this.#deliver = parts.deliver;
    this.#mayDrain = parts.mayDrain ?? (() => Promise.resolve(true));
    this.#clock = parts.clock;
    this.#logger = parts.logger;
    this.#finished = this.#run();
  }

  /** Says that there is something to deliver: call it after each append. */
  wake(): void {
    this.#woken = true;
    this.#wake?.();
  }

  /** Resolves when a round that began after this call has found the outbox empty. */
  drained(): Promise<void> {
    const drained = new Promise<void>((resolve) => this.#idle.push(resolve));
    this.wake();
    return drained;
  }

  /** Ends after the current entry, or without it where that takes too long. The next run delivers the rest. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the pump is stopping'));
    this.#wake?.();
    await within(this.#clock, STOP_MS, this.#finished, undefined);
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
      const drains = await this.#mayDrain();
      const left = drains ? await this.#round() : await this.#waiting();
      if (left === 0) {
        failedRounds = 0;
        for (const done of waiters) done();
        await this.#sleepUntilWoken();
      } else {
        this.#idle.unshift(...waiters);
        const pauseMs = drains ? backoffDelayMs(BACKOFF, failedRounds++, Math.random()) : LOOK_MS;
        await sleep(this.#clock, pauseMs, signal).catch(() => {});
      }
    }
  }

  /** @returns how many entries wait for the process that drains */
  async #waiting(): Promise<number> {
    try {
      return (await this.#outbox.names()).length;
    } catch (error) {
      this.#logger.error({ error }, 'outbox unreadable');
      return 1;
    }
  }

  /** @returns 0 when everything was delivered, more when something is left */
  async #round(): Promise<number> {
    let left = 0;
    let inARow = 0;
    try {
      const names = await this.#outbox.names();
      for (let from = 0; from < names.length; from += TOGETHER) {
        const some = names.slice(from, from + TOGETHER);
        if (this.#stopping.signal.aborted) return left + 1;
        if (await this.#together(some)) {
          inARow = 0;
          continue;
        }
        for (const name of some) {
          if (this.#stopping.signal.aborted || inARow === GIVE_UP_ROUND) return left + 1;
          const delivered = await this.#one(name);
          inARow = delivered ? 0 : inARow + 1;
          if (!delivered) left += 1;
        }
      }
      return left;
    } catch (error) {
      this.#logger.error({ error }, 'outbox unreadable');
      return left + 1;
    }
  }

  /** @returns whether all of them have arrived; whatever stands in the way is left to be found one by one */
  async #together(names: readonly string[]): Promise<boolean> {
    const { many } = this.#deliver;
    if (many === undefined || names.length < 2) return false;
    try {
      if ((await this.#outbox.bytesOf(names)) > MOST_BYTES_TOGETHER) return false;
      const read = await Promise.all(names.map((name) => this.#outbox.read(name)));
      const entries = read.filter((entry) => entry !== undefined);
      if (entries.length < names.length) return false;
      await many(entries);
      await Promise.all(names.map((name) => this.#outbox.remove(name)));
      return true;
    } catch (error) {
      this.#logger.debug({ error, entries: names.length }, 'delivering outbox entries one by one');
      return false;
    }
  }

  async #one(name: string): Promise<boolean> {
    try {
      const entry = await this.#outbox.read(name);
      if (entry === undefined) {
        this.#logger.error({ entry: name }, 'outbox entry damaged, set aside');
        await this.#outbox.reject(name, 'the file is not a complete entry');
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
    const look = this.#clock.after(LOOK_MS, () => this.wake());
    while (!this.#woken && !this.#stopping.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    look.cancel();
  }
}

/**
 * The right to look after a data folder: to drain its outboxes, and to end the calls that dead processes left open. Of the
 * gateways on one folder one has it; when that one ends, however it ends, the next that asks takes it.
 */
export class DrainLease {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #onProblem: (error: Error) => void;
  readonly #taking = new SingleFlight<boolean>();
  #lock: FolderLock | undefined;
  #released = false;

  /** @param onProblem hears of a disk that refuses the lease, again and again as it is asked for */
  constructor(folder: string, clock: Clock, onProblem: (error: Error) => void) {
    this.#folder = folder;
    this.#clock = clock;
    this.#onProblem = onProblem;
  }

  /** Whether this process has the lease; takes a free one. */
  held(): Promise<boolean> {
    return this.#taking.run(async () => {
      try {
        if (this.#released) return false;
        if ((await this.#lock?.isHeld()) === true) return true;
        const attempt = await FolderLock.acquire(this.#folder, this.#clock);
        this.#lock = attempt.state === 'held' ? attempt.lock : undefined;
        return this.#lock !== undefined;
      } catch (error) {
        this.#onProblem(error instanceof Error ? error : new Error('the drain lease cannot be taken', { cause: error }));
        return false;
      }
    });
  }

  /** Leaves the folder to others, for good. */
  async release(): Promise<void> {
    this.#released = true;
    await this.#taking.run(async () => false);
    // A disk that does not take the word finds its owner dead soon.
    await this.#lock?.release().catch((error: Error) => this.#onProblem(error));
  }
}

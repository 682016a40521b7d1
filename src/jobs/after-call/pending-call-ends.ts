import type { Clock, Timer } from '../../kernel/clock.ts';
import { OffhookError } from '../../kernel/errors.ts';
import type { Logger } from '../../observability/logger.ts';

/** The end of a call, and what is to be done when it is safe. */
export interface CallEnd {
  readonly callId: string;
  /** Makes it durable; throws what the disk throws. */
  readonly keep: () => Promise<void>;
  readonly kept: () => Promise<void>;
}

/** Between two tries, in ms. */
const RETRY_MS = 5_000;
/** Ends that wait; a record is some kilobytes, and a megabyte for the longest calls. Further ones are given up. */
const MOST = 1_000;

/** Ends of calls that the disk refused, as a full one does: tried again until it takes them, the oldest first. */
export class PendingCallEnds {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #waiting: CallEnd[] = [];
  #timer: Timer | undefined;
  #trying: Promise<void> | undefined;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** @param refusal what the disk said to it; nothing is tried again where that cannot help */
  add(end: CallEnd, refusal: unknown): void {
    if (this.#waiting.length >= MOST || !(refusal instanceof OffhookError) || !refusal.retryable) return;
    this.#waiting.push(end);
    this.#wait();
  }

  /** Tries once more, and gives up what is refused again: as much of it as is in the journal is found at the next start. */
  async close(): Promise<void> {
    this.#timer?.cancel();
    await this.#trying;
    await this.#try();
    this.#timer?.cancel();
  }

  #wait(): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(RETRY_MS, () => void this.#try());
  }

  /** One pass at a time, however long the disk takes. */
  #try(): Promise<void> {
    this.#trying ??= this.#tryAll().finally(() => {
      this.#trying = undefined;
    });
    return this.#trying;
  }

  async #tryAll(): Promise<void> {
    for (let end = this.#waiting[0]; end !== undefined; end = this.#waiting[0]) {
      const { callId } = end;
      try {
        await end.keep();
      } catch {
        // Said when it was refused first.
        this.#wait();
        return;
      }
      this.#waiting.shift();
      this.#logger.info({ callId }, 'the end of a call is kept after all');
      await end
        .kept()
        .catch((error: unknown) => this.#logger.warn({ callId, error }, 'the journal of a call could not be removed'));
    }
  }
}

import { SpeechOverloadedError } from './errors.ts';

/** A place among the requests the platform allows at once; give it back exactly once (more is harmless). */
export interface Slot {
  /** Which key it belongs to, counted from 0. */
  readonly lane: number;
  /** Lets the next who waits have it. */
  release(): void;
}

/** A live call is served first; batch takes what is left. */
export type SlotPriority = 'live' | 'batch';

/** How many places there are, are held, and are waited for. */
export interface SlotUse {
  readonly limit: number;
  readonly live: number;
  readonly batch: number;
  readonly waitingLive: number;
  readonly waitingBatch: number;
}

interface Waiting {
  readonly priority: SlotPriority;
  readonly give: (slot: Slot) => void;
}

/** A job that waits here holds a file open and a connection's worth of memory: more of them gain nothing. */
const MOST_WAITING = 1_000;

/**
 * The concurrency the platform allows for one service: so many for each key (16 by default), spread over the keys. Live
 * calls first, batch takes what is left.
 */
export class Slots {
  readonly #limit: number;
  readonly #mostWaiting: number;
  readonly #lanes: readonly Record<SlotPriority, number>[];
  #waiting: Waiting[] = [];

  /** @param limit places for each lane */
  constructor(limit: number, { lanes = 1, mostWaiting = MOST_WAITING }: { lanes?: number; mostWaiting?: number } = {}) {
    this.#limit = limit;
    this.#mostWaiting = mostWaiting;
    this.#lanes = Array.from({ length: lanes }, () => ({ live: 0, batch: 0 }));
  }

  get free(): number {
    return this.#lanes.reduce((free, _counts, lane) => free + this.freeIn(lane), 0);
  }

  get use(): SlotUse {
    const waitingLive = this.#waiting.filter(({ priority }) => priority === 'live').length;
    return {
      limit: this.#limit * this.#lanes.length,
      live: this.#lanes.reduce((sum, { live }) => sum + live, 0),
      batch: this.#lanes.reduce((sum, { batch }) => sum + batch, 0),
      waitingLive,
      waitingBatch: this.#waiting.length - waitingLive,
    };
  }

  /** Places on each key. */
  get limitPerLane(): number {
    return this.#limit;
  }

  /** Places nobody has on one key. */
  freeIn(lane: number): number {
    const counts = this.#lanes[lane];
    return counts === undefined ? 0 : this.#limit - counts.live - counts.batch;
  }

  /** Slots of live calls on one key. */
  liveIn(lane: number): number {
    return this.#lanes[lane]?.live ?? 0;
  }

  /**
   * A slot now, or undefined: for a call that must not be half-served.
   * @param lane the key it must belong to; the one with the most room when absent
   */
  tryReserve(priority: SlotPriority = 'live', lane?: number): Slot | undefined {
    if (lane === undefined) return this.free > 0 ? this.#take(priority) : undefined;
    return this.freeIn(lane) > 0 ? this.#take(priority, lane) : undefined;
  }

  /**
   * Waits for a slot.
   * @throws SpeechOverloadedError when too many wait already; the signal's reason when it aborts first
   */
  acquire(priority: SlotPriority, signal: AbortSignal): Promise<Slot> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const now = this.tryReserve(priority);
    if (now !== undefined) return Promise.resolve(now);
    if (this.#waiting.length >= this.#mostWaiting)
      return Promise.reject(new SpeechOverloadedError(`${this.#waiting.length} requests wait for the speech platform already`));
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        priority,
        give: (slot) => {
          signal.removeEventListener('abort', onAbort);
          resolve(slot);
        },
      };
      const onAbort = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #take(priority: SlotPriority, lane = this.#emptiest()): Slot {
    const counts = this.#lanes[lane];
    if (counts === undefined) throw new TypeError('slots without a lane');
    counts[priority] += 1;
    let held = true;
    return {
      lane,
      release: () => {
        if (!held) return;
        held = false;
        counts[priority] -= 1;
        this.#giveNext();
      },
    };
  }

  /** The lane that has the most room, so that no key is at its limit while another is idle. */
  #emptiest(): number {
    const used = this.#lanes.map(({ live, batch }) => live + batch);
    return used.indexOf(Math.min(...used));
  }

  #giveNext(): void {
    const next = this.#waiting.find(({ priority }) => priority === 'live') ?? this.#waiting[0];
    if (next === undefined) return;
    this.#waiting = this.#waiting.filter((other) => other !== next);
    next.give(this.#take(next.priority));
  }
}

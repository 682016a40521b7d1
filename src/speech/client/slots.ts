import type { SpeechSlots } from '../../observability/metrics.ts';
import { SpeechOverloadedError } from './errors.ts';

/** One of the concurrent requests that the platform allows. Release it; releasing it twice is harmless. */
export interface Slot {
  /** Index of its API key. */
  readonly lane: number;
  /** Gives the slot to the next waiting request. */
  release(): void;
}

/** Live calls are served before batch. */
export type SlotPriority = 'live' | 'batch';

/** Numbers of slots: in all, in use, and waited for. */
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

/** Requests that may wait: each holds an open file and memory. */
const MOST_WAITING = 1_000;

/**
 * The concurrency limit of one service: a number of slots for each key (16 by default), live calls before batch.
 */
export class Slots {
  readonly #limit: number;
  readonly #mostWaiting: number;
  readonly #lanes: readonly Record<SlotPriority, number>[];
  #waiting: Waiting[] = [];

  /** @param limit slots for each lane; a lane is an API key */
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

  /** Slots of each key. */
  get limitPerLane(): number {
    return this.#limit;
  }

  /** Free slots of one key. */
  freeIn(lane: number): number {
    const counts = this.#lanes[lane];
    return counts === undefined ? 0 : this.#limit - counts.live - counts.batch;
  }

  /** Slots of one key in use by live calls. */
  liveIn(lane: number): number {
    return this.#lanes[lane]?.live ?? 0;
  }

  /**
   * Takes a slot without waiting; undefined when none is free.
   * @param lane index of the key; the one with the most free slots when absent
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

  /** The lane with the most free slots. */
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

/** The use of one service's slots, as metrics count it. */
export function slotsOf(service: 'asr' | 'tts', { limit, live, batch, waitingLive, waitingBatch }: SlotUse): SpeechSlots[] {
  return [
    { service, priority: 'live', held: live, waiting: waitingLive, limit },
    { service, priority: 'batch', held: batch, waiting: waitingBatch, limit },
  ];
}

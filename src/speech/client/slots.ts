import type { Clock } from '../../kernel/clock.ts';
import type { SpeechSlots } from '../../observability/metrics.ts';
import { SpeechOverloadedError } from './errors.ts';
import { SlotLease, type SlotLender } from './slot-lease.ts';

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
  /** Part of the shared limit leased to this machine; undefined for a limit of its own. */
  readonly leased: number | undefined;
}

/** A limit that several machines share. */
export interface LentSlots {
  readonly lender: SlotLender;
  /** One for each lane, the same at every machine for the same key. */
  readonly names: readonly string[];
  readonly clock: Clock;
}

export interface SlotsOptions {
  /** API keys; 1 when absent. */
  readonly lanes?: number;
  readonly mostWaiting?: number;
  /** The limit is this machine's own when absent. */
  readonly lent?: LentSlots | undefined;
}

interface Waiting {
  readonly priority: SlotPriority;
  readonly give: (slot: Slot) => void;
}

/** Requests that may wait: each holds an open file and memory. */
const MOST_WAITING = 1_000;

/**
 * The concurrency limit of one service: a number of slots for each key (16 by default), live calls before batch. Of a limit that several machines
 * share, slots are leased ahead of use.
 */
export class Slots implements AsyncDisposable {
  readonly #limit: number;
  readonly #mostWaiting: number;
  readonly #lanes: readonly Record<SlotPriority, number>[];
  /** One for each lane; empty for a limit of this machine's own. */
  readonly #leases: readonly SlotLease[];
  #waiting: Waiting[] = [];

  /** @param limit slots for each lane; a lane is an API key */
  constructor(limit: number, { lanes = 1, mostWaiting = MOST_WAITING, lent }: SlotsOptions = {}) {
    this.#limit = limit;
    this.#mostWaiting = mostWaiting;
    this.#lanes = Array.from({ length: lanes }, () => ({ live: 0, batch: 0 }));
    this.#leases = lent === undefined || limit === 0 ? [] : this.#lease(lent);
  }

  /** Slots that could be had: of a shared limit, after a question to the other machines perhaps. */
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
      leased: this.#leases.length === 0 ? undefined : this.#leases.reduce((sum, { held }) => sum + held, 0),
    };
  }

  /** Slots of each key. */
  get limitPerLane(): number {
    return this.#limit;
  }

  /** Like `free`, for one key. */
  freeIn(lane: number): number {
    if (this.#lanes[lane] === undefined) return 0;
    return Math.max(0, (this.#leases[lane]?.reachable ?? this.#limit) - this.#usedIn(lane));
  }

  /** Slots of one key in use by live calls. */
  liveIn(lane: number): number {
    return this.#lanes[lane]?.live ?? 0;
  }

  /** With a shared limit: waits until this many slots are leased here, or no more are free, for the time of two requests at most. */
  async ready(count = 1): Promise<void> {
    const inHand = this.#leases.reduce((sum, _lease, lane) => sum + Math.max(0, this.#inHand(lane)), 0);
    if (inHand >= count) return;
    await Promise.all(this.#leases.map((lease) => lease.ready(Math.ceil(count / this.#leases.length))));
  }

  /**
   * Takes a slot without waiting; undefined when none is free (with a shared limit: leased here).
   * @param lane index of the key; the one with the most free slots when absent
   */
  tryReserve(priority: SlotPriority = 'live', lane = this.#emptiest()): Slot | undefined {
    return this.#inHand(lane) > 0 ? this.#take(priority, lane) : undefined;
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
      for (const lease of this.#leases) lease.check();
    });
  }

  /** Gives leased slots back. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#leases.map((lease) => lease[Symbol.asyncDispose]()));
  }

  #take(priority: SlotPriority, lane: number): Slot {
    const counts = this.#lanes[lane];
    if (counts === undefined) throw new TypeError('slots without a lane');
    counts[priority] += 1;
    this.#leases[lane]?.check();
    let held = true;
    return {
      lane,
      release: () => {
        if (!held) return;
        held = false;
        counts[priority] -= 1;
        this.#serveWaiting();
      },
    };
  }

  #lease({ lender, names, clock }: LentSlots): readonly SlotLease[] {
    return names.map((name, lane) => {
      const load = (): { used: number; waiting: number } => ({ used: this.#usedIn(lane), waiting: this.#waiting.length });
      return new SlotLease({ lender, clock, name, most: this.#limit, load, onGrown: () => this.#serveWaiting() });
    });
  }

  #usedIn(lane: number): number {
    const counts = this.#lanes[lane];
    return counts === undefined ? 0 : counts.live + counts.batch;
  }

  /** Slots of one key that can be used at once. */
  #inHand(lane: number): number {
    return (this.#leases[lane]?.held ?? this.#limit) - this.#usedIn(lane);
  }

  /** The lane with the most slots in hand. */
  #emptiest(): number {
    const inHand = this.#lanes.map((_counts, lane) => this.#inHand(lane));
    return inHand.indexOf(Math.max(...inHand));
  }

  #serveWaiting(): void {
    for (let lane = this.#emptiest(); this.#inHand(lane) > 0; lane = this.#emptiest()) {
      const next = this.#waiting.find(({ priority }) => priority === 'live') ?? this.#waiting[0];
      if (next === undefined) return;
      this.#waiting = this.#waiting.filter((other) => other !== next);
      next.give(this.#take(next.priority, lane));
    }
  }
}

/** The use of one service's slots, as metrics count it. */
export function slotsOf(service: 'asr' | 'tts', use: SlotUse): SpeechSlots[] {
  const { limit, live, batch, waitingLive, waitingBatch, leased } = use;
  return [
    { service, priority: 'live', held: live, waiting: waitingLive, limit, leased },
    { service, priority: 'batch', held: batch, waiting: waitingBatch, limit },
  ];
}

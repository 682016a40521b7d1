/** A place among the requests the platform allows at once; give it back exactly once (more is harmless). */
export interface Slot {
  release(): void;
}

export type SlotPriority = 'live' | 'batch';

interface Waiting {
  readonly priority: SlotPriority;
  readonly give: (slot: Slot) => void;
}

/** The concurrency the platform allows for one service and key (16 by default): live calls first, batch takes what is left. */
export class Slots {
  readonly #limit: number;
  #used = 0;
  #waiting: Waiting[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get free(): number {
    return this.#limit - this.#used;
  }

  /** A slot now, or undefined: for a call that must not be half-served. */
  tryReserve(): Slot | undefined {
    return this.#used < this.#limit ? this.#take() : undefined;
  }

  /** Waits for a slot. @throws the signal's reason when it aborts first */
  acquire(priority: SlotPriority, signal: AbortSignal): Promise<Slot> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const now = this.tryReserve();
    if (now !== undefined) return Promise.resolve(now);
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

  #take(): Slot {
    this.#used += 1;
    let held = true;
    return {
      release: () => {
        if (!held) return;
        held = false;
        this.#used -= 1;
        this.#giveNext();
      },
    };
  }

  #giveNext(): void {
    const next = this.#waiting.find(({ priority }) => priority === 'live') ?? this.#waiting[0];
    if (next === undefined) return;
    this.#waiting = this.#waiting.filter((other) => other !== next);
    next.give(this.#take());
  }
}

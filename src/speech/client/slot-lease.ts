import type { Clock, Timer } from '../../kernel/clock.ts';

/** Lends slots of a limit that several machines share. Never rejects. */
export interface SlotLender {
  /** @returns how many of the wanted slots this machine has now in addition */
  take(name: string, most: number, wanted: number): Promise<number>;
  give(name: string, count: number): Promise<void>;
  /** Slots that all machines have together. */
  held(name: string): Promise<number>;
  /** Machines that share the limit, this one among them. */
  members(): Promise<number>;
}

export interface SlotLeaseOptions {
  /** The same at every machine for the same limit. */
  readonly name: string;
  /** The limit of all machines together. */
  readonly most: number;
  readonly lender: SlotLender;
  readonly clock: Clock;
  /** Slots of the lease in use, and requests that wait for one. */
  readonly load: () => { readonly used: number; readonly waiting: number };
  /** Called when there are more slots. */
  readonly onGrown: () => void;
}

/** Retry interval of a refused machine; unused slots are given back after one to two of these. */
const TICK_MS = 1_000;
/** Ticks after which the other machines' share is read again. */
const REFRESH_TICKS = 5;
/** How long a machine keeps no spare slot when its unused slots are the last ones. */
const WITHOUT_SPARE_MS = 5_000;

/**
 * The slots of one shared limit that this machine may use. It leases a few more than it uses, so that a call finds one in hand: a sixteenth to a
 * quarter of the limit for all machines together. Where all slots are leased, it gives its unused ones back for a while, since another machine may need them.
 */
export class SlotLease implements AsyncDisposable {
  readonly #options: SlotLeaseOptions;
  #held = 0;
  /** Leased by other machines, as far as is known. */
  #others = 0;
  #members = 1;
  /** Slots awaited in `ready`. */
  #expected = 0;
  #asking: Promise<void> | undefined;
  /** The limit was reached: no question before the next tick. */
  #refused = false;
  #withoutSpareUntilMs = Number.NEGATIVE_INFINITY;
  #excessAtTick = 0;
  #ticks = 0;
  #timer: Timer | undefined;
  #closed = false;

  constructor(options: SlotLeaseOptions) {
    this.#options = options;
    this.#tickLater();
    void this.#refresh().then(() => this.check());
  }

  /** Slots that this machine may use now. */
  get held(): number {
    return this.#held;
  }

  /** Slots available to this machine: its own and unleased ones. */
  get reachable(): number {
    return Math.max(this.#held, this.#options.most - this.#others);
  }

  /** Leases more where fewer are in hand than should be. */
  check(): void {
    if (!this.#closed && this.#asking === undefined && !this.#refused && this.#lacking > 0) void this.#ask();
  }

  /** Waits for the lender where fewer slots than that are in hand and some may be free, for two questions at most. */
  async ready(count = 1): Promise<void> {
    this.#expected += count;
    try {
      // The question that is open was asked without this call.
      for (let asked = 0; asked < 2 && this.#inHand < this.#expected && !this.#refused && !this.#closed; asked += 1)
        await (this.#asking ?? this.#ask());
    } finally {
      this.#expected -= count;
    }
  }

  /** Gives back everything. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer?.cancel();
    await this.#asking;
    await this.#give(this.#held);
  }

  get #inHand(): number {
    return this.#held - this.#options.load().used;
  }

  get #wanted(): number {
    const { most, clock, load } = this.#options;
    const { used, waiting } = load();
    const hasSpare = clock.nowMs() >= this.#withoutSpareUntilMs;
    const spare = hasSpare ? Math.max(1, Math.floor(most / (4 * this.#members))) : 0;
    return Math.min(most, used + waiting + this.#expected + spare);
  }

  get #lacking(): number {
    return this.#wanted - this.#held;
  }

  #ask(): Promise<void> {
    this.#asking ??= this.#take().finally(() => {
      this.#asking = undefined;
      this.check();
    });
    return this.#asking;
  }

  async #take(): Promise<void> {
    const { name, most, lender, onGrown } = this.#options;
    const wanted = this.#lacking;
    if (wanted <= 0 || this.#closed) return;
    const granted = await lender.take(name, most, wanted);
    this.#held += granted;
    if (granted < wanted) {
      this.#refused = true;
      this.#others = Math.max(0, most - this.#held);
    }
    if (granted > 0) onGrown();
  }

  async #give(count: number): Promise<void> {
    if (count <= 0) return;
    this.#held -= count;
    await this.#options.lender.give(this.#options.name, count);
  }

  #tickLater(): void {
    if (!this.#closed) this.#timer = this.#options.clock.after(TICK_MS, () => void this.#tick());
  }

  async #tick(): Promise<void> {
    this.#ticks += 1;
    this.#refused = false;
    if (this.#ticks % REFRESH_TICKS === 0) await this.#refresh();
    const excess = this.#asking === undefined ? Math.max(0, -this.#lacking) : 0;
    await this.#give(Math.min(excess, this.#excessAtTick, Math.max(0, this.#inHand)));
    this.#excessAtTick = Math.max(0, -this.#lacking);
    this.check();
    this.#tickLater();
  }

  async #refresh(): Promise<void> {
    const { name, most, lender, clock } = this.#options;
    const [total, members] = await Promise.all([lender.held(name), lender.members()]);
    this.#others = Math.max(0, total - this.#held);
    this.#members = Math.max(1, members);
    if (members > 1 && total >= most && this.#inHand > 0) this.#withoutSpareUntilMs = clock.nowMs() + WITHOUT_SPARE_MS;
  }
}

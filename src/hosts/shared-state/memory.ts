import { randomBytes } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { CallDirectory, CallEntry, Member, Pace, SharedRates, SharedSlots, SharedState, SpentIds } from './port.ts';

/** Beyond this many names the least recently used is dropped. */
const MOST_BUCKETS = 10_000;
const MOST_SPENT = 100_000;
/** Ids live for different times, so that those whose time is over are looked for among all. */
const FORGET_EVERY_MS = 10_000;
export const MOST_CALLS = 100_000;
export const MOST_ORPHANS = 1_000;

/** A token bucket for each name. */
export class TokenBuckets {
  readonly #clock: Clock;
  readonly #buckets = new Map<string, { left: number; atMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** As `SharedRates.take`. */
  take(name: string, pace: Pace): number {
    const bucket = this.#bucket(name, pace);
    const waitMs = waitOf(bucket, pace);
    if (waitMs === 0) bucket.left -= 1;
    return waitMs;
  }

  /** As `SharedRates.wait`. */
  wait(name: string, pace: Pace): number {
    return this.#buckets.has(name) ? waitOf(this.#bucket(name, pace), pace) : 0;
  }

  #bucket(name: string, { burst, perSecond }: Pace): { left: number; atMs: number } {
    const nowMs = this.#clock.nowMs();
    const bucket = this.#buckets.get(name) ?? { left: burst, atMs: nowMs };
    bucket.left = Math.min(burst, bucket.left + ((nowMs - bucket.atMs) / 1000) * perSecond);
    bucket.atMs = nowMs;
    // Last in the map is used last: the first one is the one to drop.
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MOST_BUCKETS && oldest !== undefined) this.#buckets.delete(oldest);
    return bucket;
  }
}

function waitOf({ left }: { readonly left: number }, { perSecond }: Pace): number {
  // Of a remainder of the arithmetic nobody waits.
  return left < 1 - 1e-9 ? Math.max(1, Math.ceil(((1 - left) / perSecond) * 1000)) : 0;
}

export class MemoryRates implements SharedRates {
  readonly #buckets: TokenBuckets;

  constructor(clock: Clock) {
    this.#buckets = new TokenBuckets(clock);
  }

  async take(name: string, pace: Pace): Promise<number> {
    return this.#buckets.take(name, pace);
  }

  async wait(name: string, pace: Pace): Promise<number> {
    return this.#buckets.wait(name, pace);
  }
}

/** Ids that were used, until they can be forgotten. */
export class MemorySpentIds implements SpentIds {
  readonly #clock: Clock;
  readonly #until = new Map<string, number>();
  /** Oldest first. */
  readonly #marked = new Map<string, number>();
  #forgottenAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async spend(id: string, untilWallMs: number): Promise<boolean> {
    return this.add(id, untilWallMs) === 'added';
  }

  async isSpent(id: string): Promise<boolean> {
    return this.has(id);
  }

  async mark(id: string, untilWallMs: number): Promise<void> {
    this.#marked.delete(id);
    this.#marked.set(id, untilWallMs);
    const [oldest] = this.#marked.keys();
    if (this.#marked.size > MOST_SPENT && oldest !== undefined) this.#marked.delete(oldest);
  }

  has(id: string): boolean {
    return Math.max(this.#until.get(id) ?? 0, this.#marked.get(id) ?? 0) > this.#clock.wallMs();
  }

  /** Each id, and when it can be forgotten. */
  *live(): Iterable<readonly [id: string, untilWallMs: number]> {
    for (const known of [this.#until, this.#marked]) for (const entry of known) if (entry[1] > this.#clock.wallMs()) yield entry;
  }

  /** `full` is no room made: forgetting an id that is still good would let it be used again. */
  add(id: string, untilWallMs: number): 'added' | 'known' | 'full' {
    const nowMs = this.#clock.wallMs();
    const isDue = nowMs >= this.#forgottenAtMs + FORGET_EVERY_MS || nowMs < this.#forgottenAtMs;
    if (isDue || this.#until.size >= MOST_SPENT) {
      this.#forgottenAtMs = nowMs;
      for (const [known, untilMs] of this.#until) if (untilMs <= nowMs) this.#until.delete(known);
    }
    if (this.#until.has(id)) return 'known';
    if (this.#until.size >= MOST_SPENT) return 'full';
    this.#until.set(id, untilWallMs);
    return 'added';
  }
}

interface Seat {
  member: Member;
  isThere: boolean;
  readonly lost: ((callId: string) => void)[];
  /** Taken by others while it was gone. */
  readonly takenFrom: Set<string>;
}

/** What the members of one process share: several gateways of a test or a simulation. A gateway that is the only one needs none. */
export class MemoryHub {
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #seats = new Map<string, Seat>();
  readonly #calls = new Map<string, CallEntry>();
  readonly #byKey = new Map<string, string>();
  readonly #slots = new Map<string, Map<string, number>>();
  readonly #secrets = new Map<string, Uint8Array>();
  readonly #spent: MemorySpentIds;
  readonly #rates: MemoryRates;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#spent = new MemorySpentIds(clock);
    this.#rates = new MemoryRates(clock);
  }

  /** @param address where other members would reach it */
  join(address?: string): SharedState {
    const id = newId('mem');
    const seat: Seat = {
      member: { id, address, startedAtWallMs: this.#clock.wallMs(), leaving: false },
      isThere: true,
      lost: [],
      takenFrom: new Set(),
    };
    this.#seats.set(id, seat);
    return {
      isAway: false,
      members: {
        get own() {
          return seat.member;
        },
        list: async () => [...this.#seats.values()].filter(({ isThere }) => isThere).map(({ member }) => member),
        leave: async () => {
          seat.member = { ...seat.member, leaving: true };
        },
        lose: async (memberId, unheardForMs = 0) => {
          if (unheardForMs > 0 && this.#seats.get(memberId)?.isThere === true) return false;
          this.lose(memberId);
          return true;
        },
      },
      calls: this.#directory(seat),
      spent: this.#spent,
      slots: this.#slotsOf(id),
      rates: this.#rates,
      secret: async (name) => {
        const secret = this.#secrets.get(name) ?? randomBytes(32);
        this.#secrets.set(name, secret);
        return secret;
      },
      [Symbol.asyncDispose]: async () => {
        this.lose(id);
        const hasCalls = [...this.#calls.values()].some(({ memberId }) => memberId === id);
        if (!hasCalls) this.#seats.delete(id);
      },
    };
  }

  /** A member is not heard of: it is gone for the others. */
  lose(memberId: string): void {
    const seat = this.#seats.get(memberId);
    if (seat !== undefined) seat.isThere = false;
    for (const held of this.#slots.values()) held.delete(memberId);
  }

  /** A member that was not heard of is heard of again. It hears which calls others went on with. */
  return(memberId: string): void {
    const seat = this.#seats.get(memberId);
    if (seat === undefined) return;
    seat.isThere = true;
    for (const callId of seat.takenFrom) for (const tell of seat.lost) tell(callId);
    seat.takenFrom.clear();
  }

  #directory(seat: Seat): CallDirectory {
    const own = seat.member.id;
    const isTaken = (entry: CallEntry | undefined): boolean =>
      entry !== undefined && entry.memberId !== own && this.#seats.get(entry.memberId)?.isThere === true;
    return {
      claim: async ({ callId, carrierKey }) => {
        const entry = this.#calls.get(callId);
        if (isTaken(entry) || (entry === undefined && this.#calls.size >= MOST_CALLS)) return false;
        const ofKey = carrierKey === undefined ? undefined : this.#byKey.get(carrierKey);
        if (ofKey !== undefined && ofKey !== callId && isTaken(this.#calls.get(ofKey))) return false;
        if (entry !== undefined && entry.memberId !== own) this.#seats.get(entry.memberId)?.takenFrom.add(callId);
        this.#forget(entry);
        const key = carrierKey ?? entry?.carrierKey;
        this.#calls.set(callId, { callId, carrierKey: key, memberId: own });
        if (key !== undefined) this.#byKey.set(key, callId);
        return true;
      },
      find: async (by) => {
        const callId = 'callId' in by ? by.callId : this.#byKey.get(by.carrierKey);
        return callId === undefined ? undefined : this.#calls.get(callId);
      },
      release: async (callId) => {
        const entry = this.#calls.get(callId);
        if (entry?.memberId === own) this.#forget(entry);
      },
      orphans: async () => {
        const orphans = [...this.#calls.values()].filter(({ memberId }) => this.#seats.get(memberId)?.isThere !== true);
        return orphans.slice(0, MOST_ORPHANS);
      },
      onLost: (listener) => void seat.lost.push(listener),
    };
  }

  #forget(entry: CallEntry | undefined): void {
    if (entry === undefined) return;
    this.#calls.delete(entry.callId);
    if (entry.carrierKey !== undefined && this.#byKey.get(entry.carrierKey) === entry.callId)
      this.#byKey.delete(entry.carrierKey);
  }

  #slotsOf(memberId: string): SharedSlots {
    const total = (name: string): number => [...(this.#slots.get(name)?.values() ?? [])].reduce((sum, count) => sum + count, 0);
    const add = (name: string, count: number): void => {
      const held = this.#slots.get(name) ?? new Map<string, number>();
      this.#slots.set(name, held.set(memberId, Math.max(0, (held.get(memberId) ?? 0) + count)));
    };
    return {
      take: async (name, most, wanted = 1) => {
        const granted = Math.max(0, Math.min(wanted, most - total(name)));
        add(name, granted);
        return granted;
      },
      give: async (name, count = 1) => add(name, -count),
      held: async (name) => total(name),
    };
  }
}

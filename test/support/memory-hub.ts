import { randomBytes } from 'node:crypto';
import { MemoryRates, MemorySpentIds, MOST_CALLS, MOST_ORPHANS } from '../../src/hosts/shared-state/memory.ts';
import type { CallDirectory, CallEntry, Member, SharedSlots, SharedState } from '../../src/hosts/shared-state/port.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { newId } from '../../src/kernel/ids.ts';

interface Seat {
  member: Member;
  isThere: boolean;
  readonly lost: ((callId: string) => void)[];
  /** Taken by others while it was gone. */
  readonly takenFrom: Set<string>;
}

/** The shared state of several gateways of one test, in memory. */
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

import { setMaxListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SlotLender } from '../../../../src/speech/client/slot-lease.ts';
import { type Slot, Slots } from '../../../../src/speech/client/slots.ts';
import { MemoryHub } from '../../../support/memory-hub.ts';
import type { SharedState } from '../../../../src/hosts/shared-state/port.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { thorough } from '../../../support/thorough.ts';

const never = new AbortController().signal;
setMaxListeners(0, never);

/** Has all that is answered in the same moment be answered. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 60; turn += 1) await Promise.resolve();
}

/** Machines that share one limit, with the slots that each uses. */
class Fleet {
  readonly clock = new ManualClock();
  readonly #hub = new MemoryHub(this.clock);
  readonly machines: { readonly state: SharedState; readonly slots: Slots; readonly used: Slot[] }[] = [];
  /** Questions to the lender. */
  asked = 0;
  readonly #limit: number;

  constructor(limit: number, machines: number) {
    this.#limit = limit;
    for (let at = 0; at < machines; at += 1) this.join();
  }

  join(): void {
    const state = this.#hub.join();
    const lender: SlotLender = {
      take: (...asked) => {
        this.asked += 1;
        return state.slots.take(...asked);
      },
      give: (...given) => state.slots.give(...given),
      held: (name) => state.slots.held(name),
      members: async () => (await state.members.list()).length,
    };
    const slots = new Slots(this.#limit, { lent: { lender, names: ['asr key'], clock: this.clock } });
    this.machines.push({ state, slots, used: [] });
  }

  /** A machine that is not heard of any more. */
  lose(at: number): void {
    const [machine] = this.machines.splice(at, 1);
    if (machine !== undefined) this.#hub.lose(machine.state.members.own.id);
  }

  get used(): number {
    return this.machines.reduce((sum, { used }) => sum + used.length, 0);
  }

  get leased(): number {
    return this.machines.reduce((sum, { slots }) => sum + (slots.use.leased ?? 0), 0);
  }

  async pass(ms: number): Promise<void> {
    for (let rest = ms; rest > 0; rest -= 500) {
      this.clock.advance(Math.min(rest, 500));
      await settle();
    }
  }
}

describe('slots that machines share', () => {
  it('gives a call a slot at once, with no question in its way', async () => {
    const fleet = new Fleet(16, 3);
    await settle();
    for (const { slots } of fleet.machines) {
      const before = fleet.asked;
      expect(slots.tryReserve()).toBeDefined();
      expect(fleet.asked - before).toBeLessThanOrEqual(1);
    }
  });

  it('gives one machine the whole limit but for what the others have in hand', async () => {
    const fleet = new Fleet(16, 3);
    const [first] = fleet.machines;
    await fleet.pass(12_000);
    let count = 0;
    for (;;) {
      await first?.slots.ready();
      if (first?.slots.tryReserve() === undefined) break;
      count += 1;
    }
    expect(count).toBe(14);
    await fleet.pass(12_000);
    expect(fleet.leased).toBeLessThanOrEqual(16);
  });

  it('has batch work of one machine served though the last free slot was leased by an idle one', async () => {
    const fleet = new Fleet(1, 2);
    await settle();
    const slots = fleet.machines.map((machine) => machine.slots.acquire('batch', never));
    const order: number[] = [];
    for (const [at, acquired] of slots.entries())
      void acquired.then((slot) => {
        order.push(at);
        slot.release();
      });
    await fleet.pass(30_000);
    expect(order.toSorted((one, other) => one - other)).toEqual([0, 1]);
  });

  it('says how many could be had beside those that other machines use', async () => {
    const fleet = new Fleet(16, 2);
    const [first, second] = fleet.machines;
    await settle();
    for (let at = 0; at < 10; at += 1) {
      await first?.slots.ready();
      first?.slots.tryReserve();
    }
    await fleet.pass(12_000);
    expect(second?.slots.free).toBeGreaterThanOrEqual(3);
    expect(second?.slots.free).toBeLessThanOrEqual(6);
  });

  it('never uses or leases more than the limit, gives idle slots back, and serves those who wait', async () => {
    const action = fc.oneof(
      { weight: 6, arbitrary: fc.record({ do: fc.constant('call' as const), at: fc.nat(2), waits: fc.boolean() }) },
      { weight: 5, arbitrary: fc.record({ do: fc.constant('end' as const), at: fc.nat(2) }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 8_000 }) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('die' as const), at: fc.nat(2) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 20 }), fc.array(action, { maxLength: 60 }), async (limit, actions) => {
        const fleet = new Fleet(limit, 3);
        await settle();
        for (const each of actions) {
          const machine = 'at' in each ? fleet.machines[each.at] : undefined;
          if (each.do === 'pass') await fleet.pass(each.ms);
          else if (each.do === 'die') {
            fleet.lose(each.at);
            fleet.join();
          } else if (each.do === 'end') machine?.used.pop()?.release();
          else if (machine !== undefined) {
            if (each.waits) await Promise.all([machine.slots.ready(), settle()]);
            const slot = machine.slots.tryReserve();
            if (slot !== undefined) machine.used.push(slot);
          }
          await settle();
          expect(fleet.used).toBeLessThanOrEqual(limit);
          expect(fleet.leased).toBeLessThanOrEqual(limit);
        }
        for (const { used } of fleet.machines) for (const slot of used.splice(0)) slot.release();
        await fleet.pass(10_000);
        expect(fleet.leased).toBeLessThanOrEqual(Math.max(3, Math.floor(limit / 4) + 3));
        let served = 0;
        const asked = Array.from({ length: limit * 2 }, async () => {
          const slot = await fleet.machines[0]?.slots.acquire('live', never);
          served += 1;
          slot?.release();
        });
        await fleet.pass(30_000);
        expect(served).toBe(limit * 2);
        await Promise.all(asked);
        for (const { slots } of fleet.machines) await slots[Symbol.asyncDispose]();
        expect(fleet.leased).toBe(0);
      }),
      { numRuns: thorough(40, 1_000) },
    );
  });
});

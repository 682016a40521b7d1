import { describe, expect, it } from 'vitest';
import { Slots } from '../../../src/speech/slots.ts';

const never = new AbortController().signal;

describe('slots', () => {
  it('gives as many at once as are allowed, and the next when one comes back', async () => {
    const slots = new Slots(16);
    const held = await Promise.all(Array.from({ length: 16 }, () => slots.acquire('batch', never)));
    expect(slots.free).toBe(0);
    let given = false;
    const next = slots.acquire('batch', never).then((slot) => {
      given = true;
      return slot;
    });
    await Promise.resolve();
    expect(given).toBe(false);
    held[3]!.release();
    const slot = await next;
    expect(slots.free).toBe(0);
    slot.release();
    expect(slots.free).toBe(1);
  });

  it('serves a live call before batch work that has waited longer', async () => {
    const slots = new Slots(1);
    const held = slots.tryReserve();
    const served: string[] = [];
    const wait = (name: string, priority: 'live' | 'batch'): Promise<void> =>
      slots.acquire(priority, never).then((slot) => {
        served.push(name);
        slot.release();
      });
    const all = [wait('batch 1', 'batch'), wait('batch 2', 'batch'), wait('live 1', 'live'), wait('live 2', 'live')];
    held!.release();
    await Promise.all(all);
    expect(served).toEqual(['live 1', 'live 2', 'batch 1', 'batch 2']);
  });

  it('gives no slot at once when none is free', () => {
    const slots = new Slots(1);
    const held = slots.tryReserve();
    expect(held).toBeDefined();
    expect(slots.tryReserve()).toBeUndefined();
    held!.release();
    expect(slots.tryReserve()).toBeDefined();
  });

  it('takes a slot back once, however often it is released', () => {
    const slots = new Slots(2);
    const [first] = [slots.tryReserve(), slots.tryReserve()];
    first!.release();
    first!.release();
    expect(slots.free).toBe(1);
  });

  it('forgets one who no longer waits', async () => {
    const slots = new Slots(1);
    const held = slots.tryReserve();
    const leaving = new AbortController();
    const gone = slots.acquire('live', leaving.signal);
    const staying = slots.acquire('batch', never);
    leaving.abort(new Error('hung up'));
    await expect(gone).rejects.toThrow('hung up');
    held!.release();
    (await staying).release();
    expect(slots.free).toBe(1);
  });

  it('takes nothing for one who has gone already', async () => {
    const slots = new Slots(1);
    await expect(slots.acquire('live', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    expect(slots.free).toBe(1);
    const held = slots.tryReserve();
    await expect(slots.acquire('live', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    held!.release();
    expect(slots.free).toBe(1);
  });
});

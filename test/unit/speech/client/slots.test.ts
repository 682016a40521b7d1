import { describe, expect, it } from 'vitest';
import { Slots } from '../../../../src/speech/client/slots.ts';

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

  it('takes no slot for an aborted request', async () => {
    const slots = new Slots(1);
    await expect(slots.acquire('live', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    expect(slots.free).toBe(1);
    const held = slots.tryReserve();
    await expect(slots.acquire('live', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    held!.release();
    expect(slots.free).toBe(1);
  });

  it('refuses one more than may wait, and takes the next when one has gone', async () => {
    const slots = new Slots(1, { mostWaiting: 2 });
    const held = slots.tryReserve();
    const waiting = [slots.acquire('batch', never), slots.acquire('live', never)];
    await expect(slots.acquire('live', never)).rejects.toMatchObject({ code: 'OFFHOOK_SPEECH_OVERLOADED', retryable: true });
    held!.release();
    (await waiting[1]!).release();
    (await waiting[0]!).release();
    expect(slots.free).toBe(1);
  });

  it('spreads over the keys evenly, so many for each', () => {
    const slots = new Slots(2, { lanes: 3 });
    const held = Array.from({ length: 6 }, () => slots.tryReserve());
    expect(held.map((slot) => slot?.lane)).toEqual([0, 1, 2, 0, 1, 2]);
    expect(slots.tryReserve()).toBeUndefined();
    held[4]!.release();
    expect(slots.tryReserve()?.lane).toBe(1);
  });

  it('counts slots in use and waited for, by priority', async () => {
    const slots = new Slots(2);
    const held = [slots.tryReserve('live'), slots.tryReserve('batch')];
    const waiting = [slots.acquire('live', never), slots.acquire('batch', never), slots.acquire('batch', never)];
    expect(slots.use).toEqual({ limit: 2, live: 1, batch: 1, waitingLive: 1, waitingBatch: 2, leased: undefined });
    for (const slot of held) slot!.release();
    (await waiting[0]!).release();
    (await waiting[1]!).release();
    (await waiting[2]!).release();
    expect(slots.use).toEqual({ limit: 2, live: 0, batch: 0, waitingLive: 0, waitingBatch: 0, leased: undefined });
  });
});

import { describe, expect, it } from 'vitest';
import { stallLimit } from '../../../../src/cli/analyse/stall-limit.ts';
import { ManualClock } from '../../../../src/sim/manual-clock.ts';

describe('the limit of a transfer', () => {
  it('lets a slow one go on, and stops one that stands still', () => {
    const clock = new ManualClock();
    using limit = stallLimit(clock, 1_000, new AbortController().signal);
    for (let pieces = 0; pieces < 10; pieces += 1) {
      clock.advance(999);
      limit.came();
    }
    expect(limit.signal.aborted).toBe(false);
    clock.advance(1_000);
    expect(limit).toMatchObject({ isOver: true, signal: { aborted: true } });
  });

  it('stops with its caller, whose reason it tells', () => {
    const caller = new AbortController();
    using limit = stallLimit(new ManualClock(), 1_000, caller.signal);
    caller.abort(new Error('enough'));
    expect(limit).toMatchObject({ isOver: false, signal: { aborted: true, reason: { message: 'enough' } } });
  });

  it('stops what still runs when it is disposed of, and leaves no timer', () => {
    const clock = new ManualClock();
    const limit = stallLimit(clock, 1_000, new AbortController().signal);
    limit[Symbol.dispose]();
    expect(limit).toMatchObject({ isOver: false, signal: { aborted: true } });
    expect(clock.pendingTimers).toBe(0);
  });
});

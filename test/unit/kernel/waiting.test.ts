import { expect, it } from 'vitest';
import { within } from '../../../src/kernel/waiting.ts';
import { ManualClock } from '../../support/manual-clock.ts';

it('within returns the value in time and the fallback after it, and leaves no timer', async () => {
  const clock = new ManualClock();
  expect(await within(clock, 100, Promise.resolve(1), 'late')).toBe(1);
  await expect(within(clock, 100, Promise.reject(new Error('no')), 'late')).rejects.toThrow('no');
  expect(clock.pendingTimers).toBe(0);
  const waiting = within(clock, 100, new Promise(() => undefined), 'late');
  clock.advance(100);
  expect(await waiting).toBe('late');
});

import { expect, it } from 'vitest';
import { steadyClock } from '../../../src/kernel/clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';

it('continues the wall time of its start, however the system clock is set', () => {
  const system = new ManualClock(500, Date.UTC(2026, 2, 1));
  const clock = steadyClock(system);
  system.advance(1_000);
  system.jumpWall(-3_600_000);
  expect(clock.wallMs()).toBe(Date.UTC(2026, 2, 1) + 1_000);
  system.advance(250);
  expect(clock.wallMs()).toBe(Date.UTC(2026, 2, 1) + 1_250);
  expect(clock.nowMs()).toBe(1_750);
});

import { describe, expect, it } from 'vitest';
import { BridgedLine } from '../../../src/call/transfer/bridge.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { BenchAttachment } from './call-bench.ts';

describe('sound passed on to a carrier', () => {
  it.each([20, 200, 400])('is whole after a dry spell where messages have %i ms', (messageMs) => {
    const clock = new ManualClock();
    const to = new BenchAttachment(clock, 'att_1');
    to.capabilities = { ...to.capabilities, messageMs };
    const line = new BridgedLine({ rateHz: 8_000 }, to, clock);
    for (let spell = 0; spell < 3; spell += 1) {
      const gapsBefore = to.gaps;
      for (let ms = 0; ms < 4_000; ms += 20) {
        clock.advance(20);
        line.push(new Int16Array(160));
      }
      expect(line.droppedMs).toBe(0);
      expect(to.gaps - gapsBefore).toBeLessThanOrEqual(1);
      clock.advance(3_000);
    }
  });
});

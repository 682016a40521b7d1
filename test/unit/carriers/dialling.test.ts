import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { foundAmong, type ListedCall, MOST_QUEUED_MS, dialTokenMs } from '../../../src/carriers/dialling.ts';

const askedAtMs = Date.UTC(2026, 10, 23, 12);
const call = (afterMs: number, carrierCallId = 'CA1'): ListedCall => ({
  carrierCallId,
  createdAtMs: askedAtMs + afterMs,
  progress: { state: 'ringing' },
});
/** @param aheadMs how far the carrier's clock is ahead of ours */
const found = (calls: readonly ListedCall[], afterMs: number, aheadMs = 0) =>
  foundAmong(calls, askedAtMs, { ours: askedAtMs + afterMs, carriers: askedAtMs + afterMs + aheadMs });

describe('foundAmong', () => {
  test.each([
    ['the only call of the minute after the order is it', [call(1_000)], 20_000, 'placed'],
    ['whole seconds may round to before the order', [call(-900)], 20_000, 'placed'],
    ['an earlier attempt to the same number is not it', [call(-30_000)], 20_000, 'unknown'],
    ['a later attempt is not it', [call(90_000)], 300_000, 'not-placed'],
    ['two candidates are no answer', [call(1_000), call(2_000, 'CA2')], 300_000, 'unknown'],
    ['an earlier one beside it does not matter', [call(1_000), call(-600_000, 'CA2')], 20_000, 'placed'],
    ['none is no answer while the list may lag', [], 119_999, 'unknown'],
    ['none is an answer once it cannot lag any more', [], 120_000, 'not-placed'],
    ['one whose moment is not told may be it', [call(Number.NaN)], 300_000, 'unknown'],
  ])('%s', (_, calls, afterMs, expected) => {
    expect(found(calls, afterMs).found).toBe(expected);
  });

  it("goes by the carrier's clock, however wrong ours is", () => {
    const aheadMs = 3_600_000;
    expect(found([call(aheadMs + 500)], 20_000, aheadMs)).toEqual({
      found: 'placed',
      carrierCallId: 'CA1',
      progress: { state: 'ringing' },
    });
    expect(found([call(500)], 300_000, aheadMs).found).toBe('not-placed');
  });

  it('never says that a call was not placed which is in the list', () => {
    const other = fc.integer({ min: -3_600_000, max: 3_600_000 });
    fc.assert(
      fc.property(fc.array(other, { maxLength: 5 }), fc.nat(15_000), fc.nat(3_600_000), (others, delayMs, afterMs) => {
        const calls = [call(delayMs, 'ours'), ...others.map((at, index) => call(at, `CA${index}`))];
        const result = found(calls, delayMs + afterMs);
        expect(result.found).not.toBe('not-placed');
        if (result.found === 'placed') expect(result.carrierCallId).toBe('ours');
      }),
    );
  });
});

it('has tokens outlive a queue at the carrier and the ringing', () => {
  expect(dialTokenMs(30_000)).toBeGreaterThan(30_000 + MOST_QUEUED_MS);
});

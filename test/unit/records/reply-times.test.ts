import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BUCKET_BOUNDS_MS, BUCKETS, replyTimes } from '../../../src/records/reply-times.ts';

function counted(waits: readonly number[]): number[] {
  const counts = Array.from({ length: BUCKETS }, () => 0);
  for (const waitedMs of waits) {
    const bucket = BUCKET_BOUNDS_MS.filter((boundMs) => boundMs <= waitedMs).length;
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts;
}

it('has bounds that rise', () => {
  expect(BUCKET_BOUNDS_MS).toEqual([...BUCKET_BOUNDS_MS].sort((one, other) => one - other));
  expect(new Set(BUCKET_BOUNDS_MS).size).toBe(BUCKETS - 1);
});

it('says nothing without replies', () => {
  expect(replyTimes(counted([]))).toBeUndefined();
});

it('finds percentiles within the bucket of the exact one, whatever the waits', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 29_999 }), { minLength: 1, maxLength: 200 }), (waits) => {
      const times = replyTimes(counted(waits));
      const sorted = [...waits].sort((one, other) => one - other);
      for (const [share, foundMs] of [
        [0.5, times?.p50Ms],
        [0.95, times?.p95Ms],
      ] as const) {
        const exactMs = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
        const above = BUCKET_BOUNDS_MS.findIndex((boundMs) => boundMs > exactMs);
        expect(foundMs).toBeGreaterThanOrEqual(BUCKET_BOUNDS_MS[above - 1] ?? 0);
        expect(foundMs).toBeLessThanOrEqual(BUCKET_BOUNDS_MS[above] ?? 60_000);
      }
      expect(times?.replies).toBe(waits.length);
    }),
  );
});

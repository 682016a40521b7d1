const steps = (fromMs: number, toMs: number, byMs: number): number[] =>
  Array.from({ length: (toMs - fromMs) / byMs }, (_, at) => fromMs + (at + 1) * byMs);

/** Bounds of the buckets in ms, finest where a caller notices a difference. Stored counts depend on them: they never change. */
export const BUCKET_BOUNDS_MS: readonly number[] = [
  ...steps(0, 2_000, 100),
  ...steps(2_000, 4_000, 250),
  ...steps(4_000, 8_000, 500),
  10_000,
  15_000,
  30_000,
];
/** Bucket 0 is below the first bound, the last one from the last bound on. */
export const BUCKETS = BUCKET_BOUNDS_MS.length + 1;
/** The last bucket has no end of its own. */
const LONGEST_MS = 60_000;

/** Callers' waits for replies, in ms. */
export interface ReplyTimes {
  readonly replies: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

/**
 * Percentiles of counted waits: exact to the bucket, straight between its bounds.
 * @param counts of each bucket; sums of several hours are as good
 * @returns undefined without replies
 */
export function replyTimes(counts: readonly number[]): ReplyTimes | undefined {
  const replies = counts.reduce((sum, count) => sum + count, 0);
  if (replies === 0) return undefined;
  const at = (share: number): number => percentile(counts, share * replies);
  return { replies, p50Ms: at(0.5), p90Ms: at(0.9), p95Ms: at(0.95), p99Ms: at(0.99) };
}

/** @param rank how many waits are at most as long */
function percentile(counts: readonly number[], rank: number): number {
  let before = 0;
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && before + count >= rank) {
      const [fromMs, toMs] = [BUCKET_BOUNDS_MS[bucket - 1] ?? 0, BUCKET_BOUNDS_MS[bucket] ?? LONGEST_MS];
      return Math.round(fromMs + ((rank - before) / count) * (toMs - fromMs));
    }
    before += count;
  }
  return LONGEST_MS;
}

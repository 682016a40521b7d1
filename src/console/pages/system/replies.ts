import type { SystemState } from '../../../http/api/system/system-views.ts';

type Replies = SystemState['replies'];

/**
 * Callers' waits for replies between two samples: the wait that this share of them did not exceed, in ms, as exact as the gateway's limits. Null
 * without waits.
 * @param before undefined for all since the gateway's start
 */
export function replyWait(before: Replies | undefined, after: Replies, share: number): number | null {
  const earlier = new Map(before?.upTo.map(({ ms, count }) => [ms, count]));
  // A gateway that was started anew counts from nothing.
  const isSame = (before?.count ?? 0) <= after.count;
  const countOf = (ms: number, count: number): number => count - (isSame ? (earlier.get(ms) ?? 0) : 0);
  const total = after.count - (isSame ? (before?.count ?? 0) : 0);
  if (total === 0) return null;
  const wanted = total * share;
  let [lowMs, lowCount] = [0, 0];
  for (const { ms, count } of after.upTo) {
    const within = countOf(ms, count);
    if (within >= wanted) return Math.round(lowMs + ((ms - lowMs) * (wanted - lowCount)) / Math.max(1, within - lowCount));
    [lowMs, lowCount] = [ms, within];
  }
  return lowMs;
}

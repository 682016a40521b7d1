/** A limit on how often something may begin: at most once in an interval, over all its starters. */
export interface PaceKey {
  readonly key: string;
  readonly intervalMs: number;
  /** A start that other keys delay does not delay the next one of this key: it makes up for it, and has its rate on average. */
  readonly makesUp?: true;
}

/**
 * Gives each start, in order, the first moment at which all its keys are free (the generic cell rate algorithm without a burst, over several keys at
 * once). In any time T a key has at most T / interval + 1 starts, apart from those that catch up.
 * @param freeAtMs when each key is free again; an absent key is free. Changed in place
 * @returns the moments, none before `nowMs`
 */
export function paceStarts(starts: readonly (readonly PaceKey[])[], freeAtMs: Map<string, number>, nowMs: number): number[] {
  return starts.map((keys) => {
    const atMs = keys.reduce((latestMs, { key }) => Math.max(latestMs, freeAtMs.get(key) ?? nowMs), nowMs);
    for (const { key, intervalMs, makesUp } of keys) {
      freeAtMs.set(key, (makesUp === true ? Math.max(nowMs, freeAtMs.get(key) ?? nowMs) : atMs) + intervalMs);
    }
    return atMs;
  });
}

/** How many starts a key allows before a moment, beginning now. @param freeAtMs when it is free again */
export function startsBefore(untilMs: number, nowMs: number, freeAtMs: number | undefined, intervalMs: number): number {
  const firstMs = Math.max(nowMs, freeAtMs ?? nowMs);
  return firstMs >= untilMs ? 0 : Math.ceil((untilMs - firstMs) / intervalMs);
}

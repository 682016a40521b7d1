/** A limit on how often something may begin: at most once in an interval, whoever begins it. */
export interface PaceKey {
  readonly key: string;
  readonly intervalMs: number;
  /** A start that other keys delay does not delay the next one of this key: it makes up for it, and has its rate on average. */
  readonly makesUp?: true;
}

/**
 * Gives each of some starts its moment, in the order given: the first at which all its keys are free (the generic cell rate algorithm
 * without a burst, over several keys at once). So in any time T no key has more than T / interval + 1 starts, but those that make up.
 * @param freeAtMs when each key is free again; a key that is absent is free. Changed in place
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

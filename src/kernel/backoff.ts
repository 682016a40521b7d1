export interface BackoffPolicy {
  readonly firstMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** Share of the delay that is random, 0 (none) to 1 (all). */
  readonly jitter: number;
}

/**
 * The delay before retry number `attempt` (0 is the first retry).
 * @param random a number in [0, 1); an argument so that tests are exact
 */
export function backoffDelayMs(policy: BackoffPolicy, attempt: number, random: number): number {
  const full = Math.min(policy.maxMs, policy.firstMs * policy.factor ** attempt);
  return full * (1 - policy.jitter * random);
}

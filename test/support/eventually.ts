import { vi } from 'vitest';
import { HANGS_MS } from './patience.ts';

type Check<Value> = () => Promise<Value | undefined | false> | Value | undefined | false;

/**
 * Waits until a condition holds, looking every 10 ms. It takes as long as the machine needs: the deadline only says that this hangs.
 * @param asked what is waited for, for the message of a failure, and the condition; the condition's source stands in for its name
 * @returns what the condition gave, once it is neither undefined nor false
 * @throws Error naming what did not happen
 */
export async function eventually<Value>(
  ...asked: readonly [check: Check<Value>] | readonly [what: string, check: Check<Value>, withinMs?: number]
): Promise<Value> {
  const [what, check, withinMs = HANGS_MS] = asked.length === 1 ? [String(asked[0]), asked[0]] : asked;
  const endMs = performance.now() + withinMs;
  for (;;) {
    const value = await check();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > endMs) throw new Error(`this did not happen within ${Math.round(withinMs)} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Waits until a check no longer throws, as `eventually` does. @throws what it threw last */
export function untilPasses<Value>(check: () => Value | Promise<Value>): Promise<Value> {
  return vi.waitFor(check, { timeout: HANGS_MS, interval: 10 });
}

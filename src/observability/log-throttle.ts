import type { Clock } from '../kernel/clock.ts';
import type { Logger } from './logger.ts';

/** The same problem is logged again after this time. */
const EVERY_MS = 10_000;
/** Most kinds of problems tracked; messages may contain addresses and numbers. */
const MOST = 100;

/**
 * A log throttle: the first line of a kind passes, then one each ten seconds.
 * @returns undefined for a suppressed line, else the number of suppressed ones since the last (`unsaid`)
 */
export function throttleLines(clock: Pick<Clock, 'nowMs'>): (kind: string) => { readonly unsaid?: number } | undefined {
  const known = new Map<string, { toldMs: number; unsaid: number }>();
  return (kind) => {
    const nowMs = clock.nowMs();
    const before = known.get(kind);
    if (before !== undefined && nowMs - before.toldMs < EVERY_MS) {
      before.unsaid += 1;
      return undefined;
    }
    if (before === undefined && known.size >= MOST) known.clear();
    known.set(kind, { toldMs: nowMs, unsaid: 0 });
    return before === undefined || before.unsaid === 0 ? {} : { unsaid: before.unsaid };
  };
}

/** Warns of problems that occur in bursts, such as those of all connections to a lost server, behind a log throttle. */
export function warnThrottled(
  logger: Pick<Logger, 'warn'>,
  clock: Pick<Clock, 'nowMs'>,
  message: string,
): (error: Error) => void {
  const throttle = throttleLines(clock);
  return (error) => {
    const line = throttle(`${error.name}: ${error.message}`);
    if (line !== undefined) logger.warn({ error, ...line }, message);
  };
}

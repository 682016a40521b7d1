import type { Clock } from '../kernel/clock.ts';
import type { Logger } from './logger.ts';

/** The same problem is told of again after so long. */
const EVERY_MS = 10_000;
/** Different problems that are known at once; messages may hold addresses and numbers. */
const MOST = 100;

/**
 * Tells of problems that come by the dozen, as those of all connections to a server that is away: of each once in ten seconds,
 * and of how many of its kind were not told of since the last time (`unsaid`).
 */
export function warnSparingly(
  logger: Pick<Logger, 'warn'>,
  clock: Pick<Clock, 'nowMs'>,
  message: string,
): (error: Error) => void {
  const known = new Map<string, { toldMs: number; unsaid: number }>();
  return (error) => {
    const nowMs = clock.nowMs();
    const kind = `${error.name}: ${error.message}`;
    const before = known.get(kind);
    if (before !== undefined && nowMs - before.toldMs < EVERY_MS) {
      before.unsaid += 1;
      return;
    }
    if (before === undefined && known.size >= MOST) known.clear();
    known.set(kind, { toldMs: nowMs, unsaid: 0 });
    logger.warn({ error, ...(before === undefined || before.unsaid === 0 ? {} : { unsaid: before.unsaid }) }, message);
  };
}

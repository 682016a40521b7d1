import { spawnSync } from 'node:child_process';

/** A fixed piece of work takes this long on an idle machine like that of CI. */
const IDLE_MS = 400;
const WORK = 'let sum = 0; for (let i = 0; i < 4e8; i += 1) sum = (sum + i) | 0; process.exit(sum === 0.5 ? 1 : 0)';
const MOST = 20;

/**
 * How much slower than an idle machine this one is, from 1 to 20, by a short measurement. `vitest.config.ts` takes it once before the tests,
 * and deadlines of tests are multiplied by it: a deadline only says that something hangs. `OFFHOOK_TEST_PATIENCE=10` stands in for the
 * measurement, for a machine that becomes slow later.
 */
export function measurePatience(): number {
  const given = Number(process.env.OFFHOOK_TEST_PATIENCE);
  if (given > 0) return given;
  const startedMs = performance.now();
  spawnSync(process.execPath, ['-e', WORK]);
  return Math.min(MOST, Math.max(1, Math.round((performance.now() - startedMs) / IDLE_MS)));
}

/** What waits this long hangs. */
export const HANGS_MS = Math.round(60_000 * Number(process.env.OFFHOOK_TEST_PATIENCE ?? 1));

/** @returns aborts what hangs */
export function hangs(): AbortSignal {
  return AbortSignal.timeout(HANGS_MS);
}

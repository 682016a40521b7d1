import { randomUUID } from 'node:crypto';
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { LoadedConfig } from '../../config/load.ts';
import { errorsOf, type Problem, problemText } from '../../config/problem.ts';
import { DEFAULT_TENANT } from '../../config/tenant-id.ts';
import type { Clock } from '../../kernel/clock.ts';
import { errorTextWithCause } from '../../kernel/errors.ts';
import { diallingDestinations, DiallingProfiles } from '../../outbound/profiles.ts';
import { DialPrices } from '../../outbound/prices.ts';

export interface CheckOutcome {
  readonly ok: boolean;
  /** The finding, in a few words. */
  readonly detail: string;
  /** What to do when the check failed. */
  readonly advice?: string | undefined;
}

export interface Check {
  readonly name: string;
  /** What to do when it throws. */
  readonly advice: string;
  /** A thrown error is a failed check, with its message as the detail. */
  run(signal: AbortSignal): Promise<CheckOutcome> | CheckOutcome;
}

export interface CheckResult extends CheckOutcome {
  readonly name: string;
  readonly ms: number;
}

/** Time limit of one check; a slow answer of the platform may take as long. */
const TIMEOUT_MS = 130_000;

/** Runs one check; never rejects. */
export async function runCheck(check: Check, clock: Clock, outer: AbortSignal): Promise<CheckResult> {
  const startedMs = clock.nowMs();
  const limit = new AbortController();
  const timer = clock.after(TIMEOUT_MS, () => limit.abort(new Error(`no result within ${TIMEOUT_MS / 1000} s`)));
  const result = (outcome: CheckOutcome): CheckResult => ({
    name: check.name,
    ...outcome,
    ms: Math.round(clock.nowMs() - startedMs),
  });
  try {
    const outcome = await check.run(AbortSignal.any([outer, limit.signal]));
    return result(outcome.ok ? outcome : { ...outcome, advice: outcome.advice ?? check.advice });
  } catch (error) {
    return result({ ok: false, detail: errorTextWithCause(error), advice: check.advice });
  } finally {
    timer.cancel();
  }
}

export function configurationCheck(problems: readonly Problem[]): Check {
  return {
    name: 'configuration',
    advice: 'correct what is listed; `npx offhook config explain` shows where each setting comes from',
    run() {
      const ok = errorsOf(problems).length === 0;
      const sound = ok ? ['settings, bot files and analysis profiles are sound'] : [];
      return { ok, detail: [...sound, ...problems.map(problemText)].join('; ') };
    },
  };
}

/** About a busy day of recordings, at 16 kB a second for each call. */
const LEAST_FREE_BYTES = 2 * 1024 ** 3;

/** Checks that the data folder is writable and has room. */
export function diskCheck(dataDir: string): Check {
  const folder = resolve(dataDir);
  return {
    name: 'data folder',
    advice: `make ${folder} writable for this user, or name another folder with OFFHOOK_DATA_DIR`,
    async run() {
      await mkdir(folder, { recursive: true });
      const probe = join(folder, `.doctor-${randomUUID()}`);
      await writeFile(probe, 'written by offhook doctor', { flush: true });
      await rm(probe);
      const { bavail, bsize } = await statfs(folder);
      const free = bavail * bsize;
      const detail = `${folder} is writable, ${(free / 1024 ** 3).toFixed(1)} GB are free`;
      const advice = 'make room: recordings take about 1 MB a minute of call';
      return free >= LEAST_FREE_BYTES ? { ok: true, detail } : { ok: false, detail, advice };
    },
  };
}

/** Says which numbers calls may go to, and what holds them. Nothing can fail that the check of the configuration does not name. */
export function destinationsCheck({ settings, tenants }: Pick<LoadedConfig, 'settings' | 'tenants'>): Check {
  const { dialling } = settings;
  return {
    name: 'destinations',
    advice: 'correct dialling.destinations, dialling.profile or dialling.prices',
    async run() {
      const destinationsOf = diallingDestinations(settings, tenants, await DiallingProfiles.load(dialling.folder));
      const { size } = DialPrices.load(dialling.prices);
      const { text } = destinationsOf(DEFAULT_TENANT);
      const where =
        text === 'none' ? 'calls go nowhere (no caller id), transfers to the country of the line' : `calls go to ${text}`;
      const ceilings = `at most ${dialling.callsPerDay} calls a day, ${dialling.callsPerDayOfKey} for one key`;
      const cost = size === 0 ? 'no prices, so that no ceiling of cost holds' : `prices of ${size} prefixes`;
      return { ok: true, detail: `${where}; ${ceilings}; ${cost}` };
    },
  };
}

import type { Bot } from '../../config/bots.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { Problem } from '../../config/problem.ts';
import { systemClock } from '../../kernel/clock.ts';
import { readGatewayConfiguration } from '../setup/configuration.ts';
import { botChecks } from './bots.ts';
import { carrierChecks } from './carriers.ts';
import { type Check, type CheckResult, configurationCheck, destinationsCheck, diskCheck, runCheck } from './check.ts';
import { postgresCheck, redisCheck } from './stores.ts';

/** Checks of settings, data folder and stores. */
export function placeChecks({ settings, secrets }: LoadedConfig, problems: readonly Problem[]): Check[] {
  const { redisUrl, databaseUrl } = secrets;
  return [
    configurationCheck(problems),
    diskCheck(settings.dataDir),
    ...(redisUrl === undefined ? [] : [redisCheck(redisUrl.reveal())]),
    ...(databaseUrl === undefined ? [] : [postgresCheck(databaseUrl.reveal())]),
  ];
}

/** Checks of what a call reaches. */
export function reachChecks(config: LoadedConfig, bots: readonly Bot[]): { readonly lines: Check[]; readonly servers: Check[] } {
  return { lines: [...carrierChecks(config, { clock: systemClock }), destinationsCheck(config)], servers: botChecks(bots) };
}

/** Runs the checks that a running gateway can make of itself, one after the other; speech is checked by `offhook doctor` alone. */
export async function checkGateway(signal: AbortSignal): Promise<readonly CheckResult[]> {
  const { config, bots, problems, botProblems } = await readGatewayConfiguration();
  const { lines, servers } = reachChecks(config, bots);
  const results: CheckResult[] = [];
  for (const check of [...placeChecks(config, [...problems, ...botProblems]), ...lines, ...servers])
    results.push(await runCheck(check, systemClock, signal));
  return results;
}

import type { Bot } from '../../config/bots.ts';
import type { Environment } from '../../config/env.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { meant } from '../../config/nearest.ts';
import { type Problem, shown } from '../../config/problem.ts';
import { DiallingProfileError } from '../../outbound/gate/profile.ts';
import { DialPrices } from '../../outbound/prices.ts';
import { readDestinations } from '../../config/destinations.ts';
import { isRegion } from '../../config/phone-number.ts';
import { DiallingProfiles } from '../../outbound/profiles.ts';
import { AnalysisProfileError } from '../../records/errors.ts';
import { AnalysisProfiles } from '../../records/analysis/analysis-profiles.ts';
import { errorText } from '../../kernel/errors.ts';
import { readFaults } from '../../platform/server/faults/faults.ts';
import { MasterKeys } from '../../records/privacy/master-keys.ts';

/**
 * Problems that a gateway or a worker finds in well-formed settings when it reads what they name: keys, addresses, profiles.
 * @param profiles folder of the analysis profiles, and whether it is the user's own (shipped profiles name shipped bots)
 * @param env has the profiles' secrets
 */
export async function startProblems(
  { settings, secrets, origins }: LoadedConfig,
  bots: readonly Bot[],
  profiles: { readonly folder: string; readonly isOwn: boolean },
  env: Environment,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  const place = (key: string): Pick<Problem, 'key' | 'where'> => ({ key, where: origins.get(key) ?? key });
  const known = bots.map(({ name }) => name);
  const mustBeBots = (names: readonly string[], at: Pick<Problem, 'key' | 'where'>): void => {
    for (const name of names) {
      if (known.includes(name)) continue;
      const told = { value: shown(name), message: 'there is no bot of this name', severity: 'warning' } as const;
      problems.push({ ...at, ...told, ...meant(name, known) });
    }
  };
  const read = async (key: string, parse: () => unknown, value?: string): Promise<void> => {
    try {
      await parse();
    } catch (error) {
      const found = value === undefined ? {} : { value: shown(value) };
      if (error instanceof AnalysisProfileError || error instanceof DiallingProfileError) problems.push(...error.problems);
      else problems.push({ ...place(key), ...found, message: errorText(error) });
    }
  };
  const { masterKeys, redisUrl } = secrets;
  const { faults } = settings.platform;
  if (masterKeys.length > 0) await read('privacy.masterKey', () => new MasterKeys(masterKeys));
  if (redisUrl !== undefined) {
    // Loaded here, since it loads a Redis client.
    const { parseRedisAddress } = await import('../../kernel/redis-address.ts');
    await read('jobs.redisUrl', () => parseRedisAddress(redisUrl.reveal()));
  }
  if (faults !== undefined) await read('platform.faults', () => readFaults(faults), faults);
  await read('analysis.folder', async () => {
    const book = await AnalysisProfiles.load(profiles.folder, env);
    if (!profiles.isOwn) return;
    for (const { profile } of book.profiles) mustBeBots(profile.bots, { key: 'bots', where: `profile ${profile.name}` });
  });
  const { dialling } = settings;
  await read('dialling.folder', async () => {
    const { names } = await DiallingProfiles.load(dialling.folder);
    if (names.includes(dialling.profile)) return;
    const told = { value: shown(dialling.profile), message: `there is no such profile; there are ${names.join(', ')}` };
    problems.push({ ...place('dialling.profile'), ...told, ...meant(dialling.profile, names) });
  });
  await read('dialling.prices', () => DialPrices.load(dialling.prices));
  for (const entry of readDestinations(dialling.destinations).wrong) {
    const message = 'allowed are home, any, countries such as GB, and beginnings of numbers such as +8816';
    problems.push({ ...place('dialling.destinations'), value: shown(entry), message });
  }
  for (const key of ['costPerDay', 'costPerDayOfKey'] as const) {
    const isIdle = dialling[key] !== undefined && dialling.prices === undefined;
    const message = 'holds nothing without dialling.prices: the cost of every call is unknown';
    if (isIdle) problems.push({ ...place(`dialling.${key}`), message, severity: 'warning' });
  }
  const region = dialling.defaultRegion;
  if (region !== undefined && !isRegion(region)) {
    problems.push({
      ...place('dialling.defaultRegion'),
      value: shown(region),
      message: 'is not the code of a country whose numbers are known',
    });
  }
  const { keepFixtures = '' } = settings.call;
  const kept = keepFixtures.split(',').map((name) => name.trim());
  const keptBots = kept.filter((name) => name !== '' && name !== '*');
  mustBeBots(keptBots, place('call.keepFixtures'));
  return problems;
}

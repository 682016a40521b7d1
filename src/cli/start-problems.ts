import type { Environment } from '../config/env.ts';
import type { LoadedConfig } from '../config/load.ts';
import { type Problem, shown } from '../config/problem.ts';
import { AnalysisProfileError } from '../jobs/analysis/errors.ts';
import { ProfileBook } from '../jobs/analysis/profile-book.ts';
import { errorText } from '../kernel/errors.ts';
import { readFaults } from '../platform/server/faults/read-faults.ts';
import { MasterKeys } from '../store/privacy/master-keys.ts';

/**
 * What a gateway or a worker would refuse of settings that are sound by themselves, each read as it is read there.
 * @param profilesFolder where the analysis profiles are
 * @param env where their secrets are looked up
 */
export async function startProblems(
  { settings, secrets, origins }: LoadedConfig,
  profilesFolder: string,
  env: Environment,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  const read = async (key: string, parse: () => unknown, value?: string): Promise<void> => {
    try {
      await parse();
    } catch (error) {
      const where = origins.get(key) ?? key;
      const found = value === undefined ? {} : { value: shown(value) };
      if (error instanceof AnalysisProfileError) problems.push(...error.problems);
      else problems.push({ key, where, ...found, message: errorText(error) });
    }
  };
  const { masterKeys, redisUrl } = secrets;
  const { faults } = settings.platform;
  if (masterKeys.length > 0) await read('privacy.masterKey', () => new MasterKeys(masterKeys));
  if (redisUrl !== undefined) {
    // A client comes with it, which takes its time to load.
    const { parseRedisAddress } = await import('../jobs/redis-address.ts');
    await read('jobs.redisUrl', () => parseRedisAddress(redisUrl.reveal()));
  }
  if (faults !== undefined) await read('platform.faults', () => readFaults(faults), faults);
  await read('analysis.folder', () => ProfileBook.load(profilesFolder, env));
  return problems;
}

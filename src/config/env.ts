import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errorText } from '../kernel/errors.ts';
import type { Problem } from './problem.ts';
import type { SettingsFile } from './yaml-settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A copy of the process's environment: the only place that reads it. */
export function readEnvironment(): Environment {
  return { ...process.env };
}

/**
 * The settings files, weakest first: `config/default.yaml`, then `config/local.yaml` or the file that `OFFHOOK_CONFIG`
 * names. The first two may be absent.
 * @param packageFolder what those two are in
 * @param workingFolder what a relative name in `OFFHOOK_CONFIG` starts from
 * @returns those that could be read, and a problem for each of the others
 */
export function readSettingsFiles(
  env: Environment,
  packageFolder: string,
  workingFolder: string,
): { files: SettingsFile[]; problems: Problem[] } {
  const files: SettingsFile[] = [];
  const problems: Problem[] = [];
  const read = (path: string, full: string, key = path): void => {
    try {
      files.push({ path, text: readFileSync(full, 'utf8') });
    } catch (error) {
      problems.push({ key, where: path, message: `cannot be read: ${errorText(error)}` });
    }
  };
  const readShipped = (path: string): void => {
    const full = join(packageFolder, path);
    if (existsSync(full)) read(path, full);
  };
  readShipped('config/default.yaml');
  const named = env['OFFHOOK_CONFIG'];
  if (named !== undefined && named !== '') read(named, resolve(workingFolder, named), 'OFFHOOK_CONFIG');
  else readShipped('config/local.yaml');
  return { files, problems };
}

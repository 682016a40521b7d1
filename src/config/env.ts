import { existsSync, readFileSync, statSync } from 'node:fs';
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
 * Adds what the `.env` file of the working folder sets to the environment, for this process and its children. A variable
 * that is set already keeps its value. Nothing happens where there is no such file, or a folder of that name.
 * @throws the file system's error for a file that cannot be read
 */
export function loadEnvFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) process.loadEnvFile(path);
}

/**
 * The settings files, weakest first: the package's `config/default.yaml`, then the working folder's `config/local.yaml` or
 * the file that `OFFHOOK_CONFIG` names. The first two may be absent.
 * @param workingFolder where the second is, and what a relative name in `OFFHOOK_CONFIG` starts from
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
  const readIfThere = (path: string, folder: string): void => {
    const full = join(folder, path);
    if (existsSync(full)) read(path, full);
  };
  readIfThere('config/default.yaml', packageFolder);
  const named = env['OFFHOOK_CONFIG'];
  if (named !== undefined && named !== '') read(named, resolve(workingFolder, named), 'OFFHOOK_CONFIG');
  else readIfThere('config/local.yaml', workingFolder);
  return { files, problems };
}

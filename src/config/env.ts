import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { SettingsFile } from './yaml-settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A copy of the process's environment: the only place that reads it. */
export function readEnvironment(): Environment {
  return { ...process.env };
}

/**
 * The settings files, weakest first: `config/default.yaml`, then `config/local.yaml` or the file that `OFFHOOK_CONFIG`
 * names. The first two may be absent.
 * @param folder the working folder that relative names start from
 * @throws the file system's error when the file named by `OFFHOOK_CONFIG` cannot be read
 */
export function readSettingsFiles(env: Environment, folder: string): SettingsFile[] {
  const files: SettingsFile[] = [];
  const read = (path: string, required: boolean): void => {
    const full = isAbsolute(path) ? path : join(folder, path);
    if (required || existsSync(full)) files.push({ path, text: readFileSync(full, 'utf8') });
  };
  read('config/default.yaml', false);
  const named = env['OFFHOOK_CONFIG'];
  if (named !== undefined && named !== '') read(named, true);
  else read('config/local.yaml', false);
  return files;
}

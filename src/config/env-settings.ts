import { readFileSync } from 'node:fs';
import { errorText } from '../kernel/errors.ts';
import type { Environment } from './env.ts';
import { meant } from './nearest.ts';
import { type Problem, shown } from './problem.ts';
import { isOutsideSchema } from './schema.ts';
import { coerceText, type Setting } from './setting.ts';
import type { Located } from './yaml-settings.ts';

const longestSecretBytes = 65_536;

/**
 * Reads the environment against the list of known settings. An empty variable counts as not set. Of several names for
 * one setting the long name wins over its aliases, and a value over a `_FILE`; two that disagree are a problem.
 * @returns values by setting key, numbers and booleans converted where they fit, and problems
 */
export function readEnvSettings(env: Environment, known: readonly Setting[]) {
  const values = new Map<string, Located>();
  const problems: Problem[] = [];
  const names = new Set<string>();
  for (const setting of known) {
    const found: Located[] = [];
    for (const name of [setting.envName, ...(setting.aliases ?? [])]) {
      names.add(name);
      const text = env[name];
      if (text !== undefined && text.trim() !== '') found.push({ value: coerceText(setting.schema, text), where: name });
      if (setting.secret !== true) continue;
      names.add(`${name}_FILE`);
      const path = env[`${name}_FILE`];
      if (path === undefined || path.trim() === '') continue;
      const read = readSecretFile(path.trim());
      if ('problem' in read)
        problems.push({ key: setting.key, where: `${name}_FILE`, value: shown(path), message: read.problem });
      else found.push({ value: read.text, where: `${name}_FILE` });
    }
    const [first, ...others] = found;
    if (first === undefined) continue;
    values.set(setting.key, first);
    const other = others.find(({ value }) => value !== first.value);
    if (other !== undefined) {
      problems.push({ key: setting.key, where: other.where, message: `disagrees with ${first.where}; set one of the two` });
    }
  }
  for (const name of Object.keys(env)) {
    if (!name.startsWith('OFFHOOK_') || names.has(name) || isOutsideSchema(name) || env[name]?.trim() === '') continue;
    problems.push({ key: name, where: name, message: 'no such setting', ...meant(name, names) });
  }
  return { values, problems };
}

/** An environment in which some names have other values, and a setting that one of these names has no other name. */
export function withOverrides(env: Environment, overrides: Environment, known: readonly Setting[]): Environment {
  const result: Record<string, string | undefined> = { ...env };
  for (const { envName, aliases = [] } of known) {
    const names = [envName, ...aliases];
    if (names.some((name) => name in overrides)) for (const name of names) result[name] = undefined;
  }
  return { ...result, ...overrides };
}

function readSecretFile(path: string): { text: string } | { problem: string } {
  try {
    const text = readFileSync(path, 'utf8').trim();
    if (text === '') return { problem: 'the file is empty; it should hold the secret alone' };
    if (text.length > longestSecretBytes) return { problem: `the file is larger than ${longestSecretBytes} bytes` };
    return { text };
  } catch (error) {
    return { problem: `the file cannot be read: ${errorText(error)}` };
  }
}

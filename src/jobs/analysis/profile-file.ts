import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Environment } from '../../config/env.ts';
import { schemaProblems } from '../../config/schema-problems.ts';
import { Secret } from '../../config/secrets.ts';
import { readYaml } from '../../config/yaml-document.ts';
import { errorText } from '../../kernel/errors.ts';
import { AnalysisProfileError } from './errors.ts';
import { type AnalysisProfile, analysisProfile } from './profile.ts';

/** A profile that was read and checked, with what identifies it in results. */
export interface LoadedProfile {
  readonly profile: AnalysisProfile;
  /** 16 hex digits over everything the profile says: two profiles of one name and different content differ. */
  readonly hash: string;
  /** The value of the model's `secretEnv`. */
  readonly modelSecret: Secret | undefined;
}

/**
 * Reads a profile from a YAML file.
 * @param env where the model's secret is looked up
 * @throws AnalysisProfileError with every problem at once, each with its line
 */
export async function loadProfile(path: string, env: Environment = {}): Promise<LoadedProfile> {
  let yaml: string;
  try {
    yaml = await readFile(path, 'utf8');
  } catch (error) {
    throw new AnalysisProfileError(path, [{ key: path, where: path, message: `cannot be read: ${errorText(error)}` }]);
  }
  return parseProfile(yaml, path, env);
}

/** @param source names the text in messages. @throws AnalysisProfileError */
export function parseProfile(yaml: string, source: string, env: Environment = {}): LoadedProfile {
  const read = readYaml(yaml, source);
  if ('problem' in read) throw new AnalysisProfileError(source, [read.problem]);
  const { written, whereOf } = read;
  const parsed = analysisProfile.safeParse(written);
  if (!parsed.success) {
    const { issues } = parsed.error;
    const document = { schema: analysisProfile, issues, written, whereOf, what: 'an analysis profile', root: 'profile' };
    throw new AnalysisProfileError(source, schemaProblems(document));
  }
  const modelSecret = secretOf(parsed.data, source, env);
  return { profile: parsed.data, hash: profileHash(parsed.data), modelSecret };
}

/** The same for the same settings, however they were written down. */
export function profileHash(profile: AnalysisProfile): string {
  return createHash('sha256').update(canonical(profile)).digest('hex').slice(0, 16);
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return `{${entries
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`)
    .join(',')}}`;
}

function secretOf(profile: AnalysisProfile, source: string, env: Environment): Secret | undefined {
  const name = profile.model?.secretEnv;
  if (name === undefined) return undefined;
  const problem = (message: string): never => {
    throw new AnalysisProfileError(source, [{ key: 'model.secretEnv', where: source, message }]);
  };
  const file = env[`${name}_FILE`];
  let value = env[name];
  try {
    value ??= file === undefined ? undefined : readFileSync(file, 'utf8').trim();
  } catch (error) {
    problem(`the file of ${name}_FILE cannot be read: ${errorText(error)}`);
  }
  if (value === undefined || value === '') return problem(`neither ${name} nor ${name}_FILE is set`);
  return new Secret(value);
}

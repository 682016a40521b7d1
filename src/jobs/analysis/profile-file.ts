import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isNode, LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import type { Environment } from '../../config/env.ts';
import { nearest } from '../../config/nearest.ts';
import { complaint, type Problem } from '../../config/problem.ts';
import { Secret } from '../../config/secrets.ts';
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
  const lines = new LineCounter();
  const document = parseDocument(yaml, { lineCounter: lines, prettyErrors: false });
  const syntax = document.errors.map((error) => ({
    key: source,
    where: `${source}:${lines.linePos(error.pos[0]).line}`,
    message: `not readable as YAML: ${error.message}`,
  }));
  if (syntax.length > 0) throw new AnalysisProfileError(source, syntax);
  const written: unknown = document.toJS();
  const parsed = analysisProfile.safeParse(written);
  if (!parsed.success) {
    const lineOf = (keys: readonly PropertyKey[]): string => {
      for (let length = keys.length; length > 0; length -= 1) {
        const node: unknown = document.getIn(keys.slice(0, length), true);
        if (isNode(node) && node.range) return `${source}:${lines.linePos(node.range[0]).line}`;
      }
      return `${source}:1`;
    };
    throw new AnalysisProfileError(
      source,
      parsed.error.issues.flatMap((issue) => problemsOf(issue, written, lineOf)),
    );
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

function problemsOf(issue: z.core.$ZodIssue, written: unknown, lineOf: (keys: readonly PropertyKey[]) => string): Problem[] {
  const key = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((unknown) => {
      const meant = nearest(unknown, Object.keys(analysisProfile.shape));
      return {
        key: key === '' ? unknown : `${key}.${unknown}`,
        where: lineOf([...issue.path, unknown]),
        message: 'no such key in an analysis profile',
        ...(meant === undefined || issue.path.length > 0 ? {} : { nearest: meant }),
      };
    });
  }
  const value = issue.path.reduce<unknown>(
    (node, name) =>
      typeof node === 'object' && node !== null ? (node as Readonly<Record<PropertyKey, unknown>>)[name] : undefined,
    written,
  );
  return [{ key: key === '' ? 'profile' : key, where: lineOf(issue.path), ...complaint(issue.message, value) }];
}

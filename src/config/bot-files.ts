import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import { errorText } from '../kernel/errors.ts';
import { type Bot, botSettings, plainNumber } from './bots.ts';
import type { Environment } from './env.ts';
import { nearest } from './nearest.ts';
import { complaint, type Problem } from './problem.ts';
import { Secret } from './secrets.ts';

/**
 * Reads every `*.yaml` and `*.yml` of a folder, in the order of their names.
 * @param env where the secrets that bots name are looked up
 * @returns the bots that are sound, and every problem of the others, duplicates included
 */
export function loadBots(folder: string, env: Environment = {}): { bots: Bot[]; problems: Problem[] } {
  let names: string[];
  try {
    names = readdirSync(folder)
      .filter((name) => /\.ya?ml$/.test(name))
      .sort();
  } catch (error) {
    return { bots: [], problems: [{ key: 'bots.folder', where: folder, message: `cannot be read: ${errorText(error)}` }] };
  }
  if (names.length === 0) {
    return {
      bots: [],
      problems: [{ key: 'bots.folder', where: folder, message: 'holds no bot, which is a *.yaml or *.yml file' }],
    };
  }
  const read = names.map((name) => readBotFile(folder, join(folder, name), env));
  const bots = read.flatMap(({ bot }) => (bot === undefined ? [] : [bot]));
  return { bots, problems: [...read.flatMap(({ problems }) => problems), ...duplicates(bots)] };
}

function readBotFile(folder: string, path: string, env: Environment): { bot?: Bot; problems: Problem[] } {
  const lines = new LineCounter();
  let document: ReturnType<typeof parseDocument>;
  try {
    document = parseDocument(readFileSync(path, 'utf8'), { lineCounter: lines, prettyErrors: false });
  } catch (error) {
    return { problems: [{ key: path, where: path, message: `cannot be read: ${errorText(error)}` }] };
  }
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => ({
      key: path,
      where: `${path}:${lines.linePos(error.pos[0]).line}`,
      message: `not readable as YAML: ${error.message}`,
    }));
    return { problems };
  }
  const written: unknown = document.toJS();
  const parsed = botSettings.safeParse(written);
  if (parsed.success) return withSecret({ ...parsed.data, folder }, path, env);
  const lineOf = (keys: readonly PropertyKey[]): string => {
    for (let length = keys.length; length > 0; length--) {
      const range: unknown = document.getIn(keys.slice(0, length), true);
      if (typeof range === 'object' && range !== null && 'range' in range && Array.isArray(range.range)) {
        return `${path}:${lines.linePos(Number(range.range[0])).line}`;
      }
    }
    return `${path}:1`;
  };
  return { problems: parsed.error.issues.flatMap((issue) => problemsOf(issue, written, lineOf)) };
}

function withSecret(bot: Bot, path: string, env: Environment): { bot?: Bot; problems: Problem[] } {
  const name = 'secretEnv' in bot.dialog ? bot.dialog.secretEnv : undefined;
  if (name === undefined) return { bot, problems: [] };
  const file = env[`${name}_FILE`];
  const problem = (message: string): { problems: Problem[] } => ({
    problems: [{ key: 'dialog.secretEnv', where: path, message }],
  });
  try {
    const value = env[name] ?? (file === undefined ? '' : readFileSync(file, 'utf8').trim());
    if (value === '') return problem(`neither ${name} nor ${name}_FILE is set`);
    return { bot: { ...bot, dialogSecret: new Secret(value) }, problems: [] };
  } catch (error) {
    return problem(`the file of ${name}_FILE cannot be read: ${errorText(error)}`);
  }
}

function problemsOf(issue: z.core.$ZodIssue, written: unknown, lineOf: (keys: readonly PropertyKey[]) => string): Problem[] {
  const key = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((unknown) => {
      // The keys of groups are not known here.
      const meant = issue.path.length > 0 ? undefined : nearest(unknown, Object.keys(botSettings.shape));
      const message = 'no such key in a bot file';
      const where = lineOf([...issue.path, unknown]);
      return {
        key: key === '' ? unknown : `${key}.${unknown}`,
        where,
        message,
        ...(meant === undefined ? {} : { nearest: meant }),
      };
    });
  }
  const value = issue.path.reduce<unknown>((node, name) => (isRecord(node) ? node[String(name)] : undefined), written);
  return [{ key: key === '' ? 'bot' : key, where: lineOf(issue.path), ...complaint(issue.message, value) }];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function duplicates(bots: readonly Bot[]): Problem[] {
  const seen = new Map<string, string>();
  const claims = bots.flatMap((bot) => [
    { claim: `the name ${bot.name}`, bot },
    ...bot.numbers.map((number) => ({ claim: `the number ${plainNumber(number)}`, bot })),
    ...(bot.default ? [{ claim: 'default: true', bot }] : []),
  ]);
  return claims.flatMap(({ claim, bot }) => {
    const first = seen.get(claim);
    seen.set(claim, first ?? bot.name);
    return first === undefined
      ? []
      : [{ key: bot.name, where: bot.folder, message: `${claim} is already taken by bot ${first}` }];
  });
}

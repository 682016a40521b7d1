import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errorText } from '../kernel/errors.ts';
import { type Bot, botSettings, isWebAddress, plainNumber } from './bots.ts';
import type { Environment } from './env.ts';
import type { Problem } from './problem.ts';
import { schemaProblems } from './schema-problems.ts';
import { Secret } from './secrets.ts';
import { DEFAULT_TENANT } from './tenant-id.ts';
import { readYaml } from './yaml-document.ts';

/**
 * Reads every `*.yaml` and `*.yml` of a folder, sorted by name.
 * @param env has the secrets that bots name
 * @returns the valid bots, and all problems of the others, of missing secrets, and duplicates
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
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return { problems: [{ key: path, where: path, message: `cannot be read: ${errorText(error)}` }] };
  }
  const read = readYaml(text, path);
  if ('problem' in read) return { problems: [read.problem] };
  const { written, whereOf } = read;
  const parsed = botSettings.safeParse(written);
  if (parsed.success) {
    const version = versionOf(text, folder, parsed.data.dialog);
    return withServer({ ...parsed.data, folder, file: path, version, whereOf }, path, env);
  }
  const { issues } = parsed.error;
  return { problems: schemaProblems({ schema: botSettings, issues, written, whereOf, what: 'a bot file', root: 'bot' }) };
}

/** Hashes what decides how the bot talks; a named file that cannot be read is a problem of its own. What a module imports is not seen. */
function versionOf(text: string, folder: string, dialog: Bot['dialog']): string {
  const hash = createHash('sha256').update(text);
  const named = 'toolsFile' in dialog ? dialog.toolsFile : 'file' in dialog ? dialog.file : undefined;
  if (named !== undefined) {
    try {
      hash.update('\0').update(readFileSync(resolve(folder, named)));
    } catch {
      // `offhook config check` says so.
    }
  }
  return hash.digest('hex').slice(0, 12);
}

/** Resolves a flow's server. With its variable unset there is no server, and no secret is needed. */
function withServer(bot: Bot, path: string, env: Environment): { bot: Bot; problems: Problem[] } {
  const { dialog } = bot;
  if (dialog.kind !== 'flow')
    return withSecret(bot, 'secretEnv' in dialog ? dialog.secretEnv : undefined, ['dialog', 'secretEnv'], path, env);
  const { url, urlEnv = '', secretEnv } = dialog.server ?? {};
  const serverUrl = url ?? env[urlEnv]?.trim() ?? '';
  if (serverUrl === '') return { bot, problems: [] };
  if (isWebAddress(serverUrl)) return withSecret({ ...bot, serverUrl }, secretEnv, ['dialog', 'server', 'secretEnv'], path, env);
  const keys = ['dialog', 'server', 'urlEnv'];
  const message = `${urlEnv} holds no address: http:// or https:// is expected`;
  return { bot, problems: [{ key: keys.join('.'), where: bot.whereOf?.(keys) ?? path, message, affects: 'calls' }] };
}

/** Resolves a bot's secret. A missing one is a problem of its calls only. @param keys path of the setting with its name */
function withSecret(
  bot: Bot,
  name: string | undefined,
  keys: readonly string[],
  path: string,
  env: Environment,
): { bot: Bot; problems: Problem[] } {
  if (name === undefined) return { bot, problems: [] };
  const file = env[`${name}_FILE`];
  const where = bot.whereOf?.(keys) ?? path;
  const without = (message: string): { bot: Bot; problems: Problem[] } => ({
    bot,
    problems: [{ key: keys.join('.'), where, message, affects: 'calls' }],
  });
  try {
    const value = env[name] ?? (file === undefined ? '' : readFileSync(file, 'utf8').trim());
    if (value === '') return without(`neither ${name} nor ${name}_FILE is set`);
    return { bot: { ...bot, dialogSecret: new Secret(value) }, problems: [] };
  } catch (error) {
    return without(`the file of ${name}_FILE cannot be read: ${errorText(error)}`);
  }
}

function duplicates(bots: readonly Bot[]): Problem[] {
  const seen = new Map<string, string>();
  const claims = bots.flatMap((bot) => [
    { claim: `the name ${bot.name}`, bot },
    ...bot.numbers.map((number) => ({ claim: `the number ${plainNumber(number)}`, bot })),
    ...(bot.default
      ? [{ claim: bot.tenant === DEFAULT_TENANT ? 'default: true' : `default: true of tenant ${bot.tenant}`, bot }]
      : []),
  ]);
  return claims.flatMap(({ claim, bot }) => {
    const first = seen.get(claim);
    seen.set(claim, first ?? bot.name);
    return first === undefined
      ? []
      : [{ key: bot.name, where: bot.whereOf?.(['name']) ?? bot.folder, message: `${claim} is already taken by bot ${first}` }];
  });
}

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errorText } from '../kernel/errors.ts';
import { commandLine, toolSecrets } from './bot-tools.ts';
import { BotVersionsError, draftPath, readVersions, versionPath } from './bot-versions.ts';
import { type Bot, botSettings, isWebAddress, plainNumber } from './bots.ts';
import type { Environment } from './env.ts';
import type { Problem } from './problem.ts';
import { schemaProblems } from './schema-problems.ts';
import { Secret } from './secrets.ts';
import { DEFAULT_TENANT } from './tenant-id.ts';
import { readYaml } from './yaml-document.ts';

/** The environment variable with the command lines that bots may start as MCP servers, separated by `;`. */
const MCP_COMMANDS = 'OFFHOOK_MCP_COMMANDS';
/** A text that takes the place of a bot's file, for a check. */
export interface BotDraft {
  readonly path: string;
  readonly text: string;
}

/**
 * Reads every `*.yaml` and `*.yml` of a folder, sorted by name, and the versions that have a share of the calls.
 * @param env has the secrets that bots name
 * @param draft read in place of one of the files
 * @returns the valid bots, and all problems of the others, of missing secrets, and duplicates
 */
export function loadBots(folder: string, env: Environment = {}, draft?: BotDraft): { bots: Bot[]; problems: Problem[] } {
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
  const read = names.map((name) => {
    const path = join(folder, name);
    return path === draft?.path ? readBotText(draft.text, folder, path, env) : withTrial(readBotFile(folder, path, env), env);
  });
  const bots = read.flatMap(({ bot }) => (bot === undefined ? [] : [bot]));
  return { bots, problems: [...read.flatMap(({ problems }) => problems), ...duplicates(bots)] };
}

interface ReadBot {
  readonly bot?: Bot;
  readonly problems: Problem[];
}
interface ValidBot extends ReadBot {
  readonly bot: Bot;
}

function readBotFile(folder: string, path: string, env: Environment): ReadBot {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return { problems: [{ key: path, where: path, message: `cannot be read: ${errorText(error)}` }] };
  }
  return readBotText(text, folder, path, env);
}

/** Reads the text of one bot file. @param path names it in problems */
export function readBotText(text: string, folder: string, path: string, env: Environment): ReadBot {
  const read = readYaml(text, path);
  if ('problem' in read) return { problems: [read.problem] };
  const { written, whereOf } = read;
  const parsed = botSettings.safeParse(written);
  if (parsed.success) {
    const version = versionOf(text, folder, parsed.data.dialog);
    const read = withServer({ ...parsed.data, folder, file: path, version, whereOf }, path, env);
    return withToolSecrets(read, path, env);
  }
  const { issues } = parsed.error;
  return { problems: schemaProblems({ schema: botSettings, issues, written, whereOf, what: 'a bot file', root: 'bot' }) };
}

/** Gives a bot the version that has a share of its calls, and a way to those that calls began with. */
function withTrial({ bot, problems }: ReadBot, env: Environment): ReadBot {
  if (bot?.file === undefined) return { problems };
  const { file, folder } = bot;
  const problem = (message: string): Problem[] => [{ key: bot.name, where: file, message }];
  try {
    const { share } = readVersions(file);
    const read = (number: number): ReadBot => readBotFile(folder, versionPath(file, number), env);
    const earlier = (id: string): Bot | undefined => {
      const number = versionWith(file, id);
      if (number !== undefined) return read(number).bot;
      const draft = readBotFile(folder, draftPath(file, id), env).bot;
      // A version of another bot, or one that names files which have changed, is not what was asked for.
      return draft?.version === id ? { ...draft, file } : undefined;
    };
    const known = { ...bot, earlier };
    if (share === undefined) return { bot: known, problems };
    const other = read(share.version);
    // The file has become what was tried.
    if (other.bot?.version === bot.version) return { bot: known, problems: [...problems, ...other.problems] };
    const isSame = other.bot === undefined || (other.bot.name === bot.name && other.bot.tenant === bot.tenant);
    const found = isSame ? other.problems : [...other.problems, ...problem(`its version ${share.version} is another bot`)];
    const trial = other.bot === undefined || !isSame ? {} : { trial: { percent: share.percent, bot: { ...other.bot, file } } };
    return { bot: { ...known, ...trial }, problems: [...problems, ...found] };
  } catch (error) {
    if (!(error instanceof BotVersionsError)) throw error;
    return { bot, problems: [...problems, ...problem(error.message)] };
  }
}

/** Published since the bots were read, or before. */
function versionWith(file: string, id: string): number | undefined {
  return readVersions(file).versions.findLast((version) => version.id === id)?.number;
}

/** Hashes what decides how the bot talks; a named file that cannot be read is a problem of its own. What a module imports is not seen. */
function versionOf(text: string, folder: string, dialog: Bot['dialog']): string {
  const hash = createHash('sha256').update(text);
  if ('knowledge' in dialog && dialog.knowledge !== undefined) hash.update(folderMark(resolve(folder, dialog.knowledge.folder)));
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

/** Changes with the names, sizes and times of a folder's files, so that changed documents are noticed without reading them. */
function folderMark(folder: string): string {
  try {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
    return names
      .map((name) => {
        const { size, mtimeMs } = statSync(join(folder, name));
        return `\0${name} ${size} ${mtimeMs}`;
      })
      .join('');
  } catch {
    // The knowledge says so as it is read.
    return '';
  }
}

/** Resolves a flow's server. With its variable unset there is no server, and no secret is needed. */
function withServer(bot: Bot, path: string, env: Environment): ValidBot {
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
function withSecret(bot: Bot, name: string | undefined, keys: readonly string[], path: string, env: Environment): ValidBot {
  if (name === undefined) return { bot, problems: [] };
  const where = bot.whereOf?.(keys) ?? path;
  const found = secretOf(name, env);
  if ('secret' in found) return { bot: { ...bot, dialogSecret: found.secret }, problems: [] };
  return { bot, problems: [{ key: keys.join('.'), where, message: found.message, affects: 'calls' }] };
}

/** A secret of the environment, or of the file that it names; else why there is none. */
function secretOf(name: string, env: Environment): { secret: Secret } | { message: string } {
  const file = env[`${name}_FILE`];
  try {
    const value = env[name] ?? (file === undefined ? '' : readFileSync(file, 'utf8').trim());
    return value === '' ? { message: `neither ${name} nor ${name}_FILE is set` } : { secret: new Secret(value) };
  } catch (error) {
    return { message: `the file of ${name}_FILE cannot be read: ${errorText(error)}` };
  }
}

/** Resolves the secrets of a model's tools, and refuses programs that the environment does not allow. */
function withToolSecrets({ bot, problems }: ValidBot, path: string, env: Environment): ReadBot {
  const { dialog } = bot;
  if (dialog.kind !== 'llm' && dialog.kind !== 'realtime') return { bot, problems };
  const where = (keys: readonly string[]): string => bot.whereOf?.(keys) ?? path;
  const all = [...problems];
  const secrets: Record<string, Secret> = {};
  for (const { name, keys: below } of toolSecrets(dialog)) {
    const keys = ['dialog', ...below];
    const found = secretOf(name, env);
    if ('secret' in found) secrets[name] = found.secret;
    else all.push({ key: keys.join('.'), where: where(keys), message: found.message, affects: 'calls' });
  }
  const allowed = (env[MCP_COMMANDS] ?? '').split(';').map((line) => line.trim());
  for (const [name, server] of Object.entries(dialog.mcp)) {
    const keys = ['dialog', 'mcp', name, 'command'];
    if (server.command === undefined || allowed.includes(commandLine(server))) continue;
    const message = `a bot may start no program that ${MCP_COMMANDS} does not have: add "${commandLine(server)}" (several are separated by ;)`;
    all.push({ key: keys.join('.'), where: where(keys), message });
  }
  const isRefused = all.some(({ affects }) => affects === undefined);
  return { ...(isRefused ? {} : { bot: { ...bot, toolSecrets: secrets } }), problems: all };
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

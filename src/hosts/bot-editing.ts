import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, lstatSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { parse, parseDocument } from 'yaml';
import { type BotDraft, readBotText } from '../config/bot-files.ts';
import { reachProblems } from '../config/bot-reach.ts';
import {
  BotVersionsError,
  currentVersion,
  keepDraft,
  publishVersion,
  readVersions,
  restoreVersion,
  revisionOf,
  shareVersion,
  versionText,
} from '../config/bot-versions.ts';
import type { Bot } from '../config/bots.ts';
import { readEnvironment } from '../config/env.ts';
import { errorsOf, type Problem } from '../config/problem.ts';
import { flowOf } from '../dialog/bot-dialog.ts';
import { FlowInvalidError } from '../dialog/flow/load.ts';
import type { BotEditing as EditingOrders, DraftCheck, DraftPublication } from '../http/api/bots/bot-editing.ts';
import type { Clock } from '../kernel/clock.ts';
import { errorText, hasCode } from '../kernel/errors.ts';
import type { BotChats, ChatStanding } from '../rehearsal/chat/bot-chats.ts';
import type { ChatGateway } from '../rehearsal/chat/open-chat.ts';
import type { ScriptSettings } from '../rehearsal/chat/script.ts';

const run = promisify(execFile);
const GIT_WITHIN_MS = 5_000;

export interface BotEditingParts {
  readonly folder: {
    /** What a reload would make of a draft. */
    check(draft: BotDraft): Promise<{ readonly bots: readonly Bot[]; readonly problems: readonly Problem[] }>;
    /** @returns the problems of the reload; empty where new calls get the files */
    reload(): Promise<readonly string[]>;
  };
  /** Those that new calls get. */
  readonly bots: () => readonly Bot[];
  readonly chats: Pick<BotChats, 'open'>;
  readonly settings: ChatGateway['settings'];
  readonly clock: Clock;
}

/** Edits the files of this machine's bots: a draft is checked as a reload would, published as a version, and then loaded. */
export class BotEditing implements EditingOrders {
  readonly #parts: BotEditingParts;

  constructor(parts: BotEditingParts) {
    this.#parts = parts;
  }

  async readOnly({ file, readOnly }: Bot): Promise<string | undefined> {
    if (readOnly !== undefined) return readOnly;
    if (file === undefined) return 'It was not read from a file.';
    const name = basename(file);
    if (file.split(/[\\/]/u).includes('node_modules'))
      return `${name} belongs to the Offhook package: copy it into a folder of your own (offhook init).`;
    try {
      if (lstatSync(file).isSymbolicLink()) return `${name} is a link to a file elsewhere: edit it there.`;
      accessSync(file, constants.W_OK);
      accessSync(dirname(file), constants.W_OK);
    } catch (error) {
      return hasCode(error, 'EACCES', 'EROFS', 'EPERM')
        ? `The gateway may not write ${name} and its folder.`
        : `${name} cannot be read: ${errorText(error)}.`;
    }
    const repository = await repositoryOf(file);
    return repository === undefined ? undefined : `${name} is kept in the git repository ${repository}: change it there.`;
  }

  source(bot: Bot): string {
    try {
      return readFileSync(fileOf(bot), 'utf8');
    } catch (error) {
      throw new BotVersionsError('damaged', `the file of ${bot.name} cannot be read: ${errorText(error)}`, error);
    }
  }

  async check(bot: Bot, text: string, isQuick = false): Promise<DraftCheck> {
    const file = fileOf(bot);
    const read = readBotText(text, bot.folder, file, readEnvironment());
    if (read.bot === undefined) return { bot: undefined, problems: read.problems, others: [] };
    const reach = this.#isVersion(file, text)
      ? []
      : reachProblems(parseDocument(this.source(bot)).toJS(), parse(text), read.bot.whereOf ?? (() => file));
    if (isQuick || reach.length > 0)
      return { bot: read.bot, problems: [...reach, ...read.problems, ...(await flowProblems(read.bot))], others: [] };
    const { bots, problems } = await this.#parts.folder.check({ path: file, text });
    const isOwn = ({ where }: Problem): boolean => where.startsWith(`${file}:`) || where === file || where === `bot ${bot.name}`;
    const draft = bots.find((each) => each.file === file);
    return { bot: draft, problems: problems.filter(isOwn), others: errorsOf(problems.filter((problem) => !isOwn(problem))) };
  }

  chat(owner: string, draft: Bot, settings: ScriptSettings & { readonly bot: string }): Promise<ChatStanding> {
    return this.#parts.chats.open(owner, settings, this.#with(draft));
  }

  async keepDraft(bot: Bot, { text, id }: Pick<DraftPublication, 'text' | 'id'>): Promise<string> {
    keepDraft(fileOf(bot), id, text);
    return id;
  }

  versions(bot: Bot): ReturnType<EditingOrders['versions']> {
    const index = readVersions(fileOf(bot));
    return { ...index, current: currentVersion(fileOf(bot), index, this.source(bot)) };
  }

  versionText(bot: Bot, number: number): string | undefined {
    const { versions } = readVersions(fileOf(bot));
    return versions.some((version) => version.number === number) ? versionText(fileOf(bot), number) : undefined;
  }

  async publish(bot: Bot, draft: DraftPublication): ReturnType<EditingOrders['publish']> {
    const number = await publishVersion(fileOf(bot), { ...draft, ...this.#now(bot) });
    return { number, problems: await this.#parts.folder.reload() };
  }

  async restore(bot: Bot, number: number, author: string): Promise<readonly string[]> {
    await restoreVersion(fileOf(bot), number, { author, ...this.#now(bot) });
    return this.#parts.folder.reload();
  }

  async share(bot: Bot, number: number, percent: number): Promise<readonly string[]> {
    await shareVersion(fileOf(bot), number, percent);
    return this.#parts.folder.reload();
  }

  /** Whether a text was published before, so that nothing in it is new. */
  #isVersion(file: string, text: string): boolean {
    const revision = revisionOf(text);
    return readVersions(file).versions.some(({ number }) => revisionOf(versionText(file, number) ?? '') === revision);
  }

  /** The time, and the version that a change replaces: as the file is, where it was changed since it was loaded. */
  #now(bot: Bot): { readonly atMs: number; readonly replacedId: string } {
    const read = readBotText(this.source(bot), bot.folder, fileOf(bot), readEnvironment());
    return { atMs: this.#parts.clock.wallMs(), replacedId: read.bot?.version ?? '' };
  }

  /** The gateway's bots with a draft in the place of its bot. */
  #with(draft: Bot): ChatGateway {
    const { bots, settings } = this.#parts;
    return { settings, bots: bots().map((each) => (each.name === draft.name && each.tenant === draft.tenant ? draft : each)) };
  }
}

/** @throws BotVersionsError */
function fileOf({ name, file }: Bot): string {
  if (file === undefined) throw new BotVersionsError('unknown', `the bot ${name} has no file`);
  return file;
}

async function flowProblems(bot: Bot): Promise<readonly Problem[]> {
  if (bot.dialog.kind !== 'flow') return [];
  try {
    await flowOf(bot, bot.dialog);
    return [];
  } catch (error) {
    if (error instanceof FlowInvalidError) return error.problems;
    throw error;
  }
}

/** The root of the git repository that keeps a file; also where git cannot tell. Undefined for a file that git does not know. */
async function repositoryOf(file: string): Promise<string | undefined> {
  let root = dirname(file);
  while (!existsSync(join(root, '.git'))) {
    if (dirname(root) === root) return undefined;
    root = dirname(root);
  }
  try {
    const args = ['-C', dirname(file), 'ls-files', '--error-unmatch', '--', basename(file)];
    await run('git', args, { timeout: GIT_WITHIN_MS });
    return root;
  } catch (error) {
    // git ends with 1 for a file that it does not know.
    return typeof error === 'object' && error !== null && 'code' in error && error.code === 1 ? undefined : root;
  }
}

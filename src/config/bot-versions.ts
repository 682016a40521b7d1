import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { errorText, hasCode, OffhookError } from '../kernel/errors.ts';
import { FileLock } from '../kernel/file-lock.ts';
import { temporaryPath } from '../kernel/temporary.ts';

/*
 * Versions of a bot are files: `bots/clinic.yaml` is what new calls get, `bots/versions/clinic/0007.yaml` is a copy of it as it was
 * published, and `index.yaml` beside the copies says who published which, and whether a share of the calls gets another one. Below `drafts`, by
 * their `Bot.version`, are texts that were tried in a call before they were published.
 */

/** Larger bot files are not edited over the API. */
export const MOST_BOT_BYTES = 262_144;
/** Most versions of one bot. */
const MOST_VERSIONS = 9_999;
/** Drafts of one bot that are kept for calls with them. */
const MOST_DRAFTS = 20;
const LOCK_MS = 5_000;

const share = z.strictObject({ version: z.int().min(1), percent: z.int().min(1).max(99) });
const version = z.strictObject({
  number: z.int().min(1).max(MOST_VERSIONS),
  /** `Bot.version` when it was published: what records of its calls have. */
  id: z.string().max(64),
  at: z.iso.datetime(),
  author: z.string().max(300),
  note: z.string().max(500).default(''),
});
const versionIndex = z
  .strictObject({ share: share.optional(), versions: z.array(version).max(MOST_VERSIONS).default([]) })
  .refine(({ versions }) => versions.every(({ number }, at) => number > (versions[at - 1]?.number ?? 0)), {
    path: ['versions'],
    error: 'numbers must rise',
  })
  .refine(({ share: shared, versions }) => shared === undefined || versions.some(({ number }) => number === shared.version), {
    path: ['share', 'version'],
    error: 'is not among the versions',
  });

export type BotVersion = z.output<typeof version>;
export type VersionIndex = z.output<typeof versionIndex>;

/** A change of a bot's versions that was refused; `reason` says why. Nothing was changed. */
export class BotVersionsError extends OffhookError {
  readonly code = 'OFFHOOK_BOT_VERSIONS';
  readonly retryable: boolean;
  readonly reason: 'changed' | 'unknown' | 'busy' | 'full' | 'damaged';

  constructor(reason: BotVersionsError['reason'], message: string, cause?: unknown) {
    super(message, { cause, facts: { reason } });
    this.reason = reason;
    this.retryable = reason === 'busy';
  }
}

/** Twelve hex digits of a bot file's text: what an editor began with, so that it overwrites nothing that it has not seen. */
export function revisionOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** @param file the bot's file @returns its versions; none where nothing was published @throws BotVersionsError */
export function readVersions(file: string): VersionIndex {
  let text: string;
  try {
    text = readFileSync(indexPath(file), 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return { versions: [] };
    throw new BotVersionsError('damaged', `${indexPath(file)} cannot be read: ${errorText(error)}`, error);
  }
  try {
    return versionIndex.parse(parse(text) ?? {});
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error).replaceAll(/\s+/gu, ' ') : errorText(error);
    throw new BotVersionsError('damaged', `${indexPath(file)} is no list of versions: ${why}`, error);
  }
}

/** Where a version's text is. */
export function versionPath(file: string, number: number): string {
  return join(versionsFolder(file), `${String(number).padStart(4, '0')}.yaml`);
}

/** @returns the text of a version; undefined where its file cannot be read */
export function versionText(file: string, number: number): string | undefined {
  try {
    return readFileSync(versionPath(file, number), 'utf8');
  } catch {
    return undefined;
  }
}

/** The newest version with the text of the bot's file, which new calls get; undefined where the file was changed by hand. */
export function currentVersion(
  file: string,
  { versions }: VersionIndex,
  text = readFileSync(file, 'utf8'),
): BotVersion | undefined {
  const id = revisionOf(text);
  return versions.findLast(({ number }) => {
    const kept = versionText(file, number);
    return kept !== undefined && revisionOf(kept) === id;
  });
}

/** Where a draft's text is that a call was had with. @param id its `Bot.version` */
export function draftPath(file: string, id: string): string {
  return join(versionsFolder(file), 'drafts', `${id}.yaml`);
}

/** Keeps a draft for calls with it, and deletes the oldest of too many. @param id its `Bot.version` @throws the file system's error */
export function keepDraft(file: string, id: string, text: string): void {
  const folder = dirname(draftPath(file, id));
  mkdirSync(folder, { recursive: true });
  replace(draftPath(file, id), text);
  const ages = readdirSync(folder).map((name) => ({ name, ms: statSync(join(folder, name)).mtimeMs }));
  for (const { name } of ages.toSorted((one, other) => other.ms - one.ms).slice(MOST_DRAFTS))
    rmSync(join(folder, name), { force: true });
}

interface Author {
  readonly author: string;
  readonly atMs: number;
}

export interface Publication extends Author {
  /** `revisionOf` the text that the editor began with. */
  readonly base: string;
  readonly text: string;
  /** `Bot.version` of the text. */
  readonly id: string;
  /** The same of the text that is replaced, which is kept as a version where it is none yet. */
  readonly replacedId: string;
  readonly note: string;
  /** Publishes for a share of new calls, and leaves the others what they have. */
  readonly percent?: number | undefined;
}

/**
 * Publishes a text for new calls, or for a share of them. Each file appears whole, the bot's own last: a crash between them leaves the version that
 * was current before.
 * @returns the new version's number @throws BotVersionsError; the file system's error
 */
export function publishVersion(file: string, { base, text, percent, ...facts }: Publication): Promise<number> {
  return changing(file, (index, current) => {
    if (revisionOf(current) !== base)
      throw new BotVersionsError('changed', `${basename(file)} was changed since this draft was begun: load it again`);
    const kept = keepCurrent(file, index, current, facts);
    const number = addVersion(file, kept, text, facts);
    // Versions get a share of the calls one at a time, and none beside a new version for all.
    writeIndex(file, { ...kept, share: percent === undefined ? undefined : { version: number, percent } });
    if (percent === undefined) replace(file, text);
    return number;
  });
}

/** Has new calls get a version again. @throws BotVersionsError; the file system's error */
export function restoreVersion(file: string, number: number, facts: Author & { readonly replacedId: string }): Promise<void> {
  return changing(file, (index, current) => {
    const text = index.versions.some((each) => each.number === number) ? versionText(file, number) : undefined;
    if (text === undefined) throw new BotVersionsError('unknown', `there is no version ${number}`);
    writeIndex(file, { ...keepCurrent(file, index, current, facts), share: undefined });
    replace(file, text);
  });
}

/** Gives a version a share of new calls, in place of any other; 0 % ends that. @throws BotVersionsError; the file system's error */
export function shareVersion(file: string, number: number, percent: number): Promise<void> {
  return changing(file, (index) => {
    if (!index.versions.some((each) => each.number === number) || versionText(file, number) === undefined)
      throw new BotVersionsError('unknown', `there is no version ${number}`);
    writeIndex(file, { ...index, share: percent === 0 ? undefined : { version: number, percent } });
  });
}

function versionsFolder(file: string): string {
  return join(dirname(file), 'versions', basename(file).replace(/\.ya?ml$/u, ''));
}

function indexPath(file: string): string {
  return join(versionsFolder(file), 'index.yaml');
}

/** Runs a change under the lock of a bot's versions. */
async function changing<Done>(file: string, change: (index: VersionIndex, current: string) => Done): Promise<Done> {
  mkdirSync(versionsFolder(file), { recursive: true });
  const lock = await FileLock.takeSoon(join(versionsFolder(file), '.lock'), LOCK_MS);
  if (lock === undefined) throw new BotVersionsError('busy', `the versions of ${basename(file)} are being changed: try again`);
  try {
    return change(readVersions(file), readFileSync(file, 'utf8'));
  } finally {
    lock.release();
  }
}

/** Keeps what the file holds now as a version, where nobody published it: a change by hand is not lost. */
function keepCurrent(
  file: string,
  index: VersionIndex,
  current: string,
  { atMs, replacedId }: Pick<Publication, 'atMs' | 'replacedId'>,
): VersionIndex {
  if (currentVersion(file, index, current) !== undefined) return index;
  const kept = { ...index, versions: [...index.versions] };
  addVersion(file, kept, current, { id: replacedId, atMs, author: 'file', note: '' });
  return kept;
}

/** Writes a version's file and adds it to the index, which is not written here. @returns its number */
function addVersion(
  file: string,
  index: { readonly versions: BotVersion[] },
  text: string,
  { id, atMs, author, note }: Pick<Publication, 'id' | 'atMs' | 'author' | 'note'>,
): number {
  // The file of a publication that failed half way is written over.
  const number = (index.versions.at(-1)?.number ?? 0) + 1;
  if (number > MOST_VERSIONS) throw new BotVersionsError('full', `${basename(file)} has ${MOST_VERSIONS} versions already`);
  replace(versionPath(file, number), text);
  index.versions.push({ number, id, at: new Date(atMs).toISOString(), author, note });
  return number;
}

function writeIndex(file: string, index: VersionIndex): void {
  const { share: shared, versions } = index;
  const head = `# Versions of ${basename(file)}, which is what new calls get. "share" gives a part of new calls another version.\n# After a change by hand: offhook reload\n`;
  replace(indexPath(file), head + stringify({ ...(shared && { share: shared }), versions }, { lineWidth: 0 }));
}

/** Writes a file whole or not at all. */
function replace(path: string, text: string): void {
  const temporary = temporaryPath(path);
  try {
    writeFileSync(temporary, text, { flush: true });
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { FolderLock } from '../../kernel/folder-lock.ts';
import { parseJson } from '../../kernel/json.ts';
import { removeTree, temporaryPath, unlessMissing, writeFileAtomic } from '../../kernel/temporary.ts';
import { sleep } from '../../kernel/waiting.ts';
import { forgetDownload, hashOfFile } from './download.ts';
import { ModelFolderError } from './errors.ts';
import type { ModelDescription } from './model.ts';
import { readModel, readUsedNames, RESERVED_NAMES, USED_FILE, type UsedNames } from './read-models.ts';

/** Where downloads grow and models are unpacked, in the models folder. */
export const PARTIAL_FOLDER = '.partial';
const RECEIPT_FILE = 'installed.json';
const WAIT_MS = 300;

/** `installed.json` of a model: where it came from, and the hash of each file. */
const receipt = z.object({
  installedAt: z.iso.datetime(),
  /** `vouched` is false for a hash that was not published. */
  downloads: z.array(z.object({ url: z.string(), bytes: z.int(), sha256: z.string(), vouched: z.boolean() })),
  files: z.record(z.string(), z.string()),
});
export type Receipt = z.infer<typeof receipt>;

export interface InstalledModel {
  readonly model: ModelDescription;
  /** Undefined for a folder that was put there by hand. */
  readonly receipt: Receipt | undefined;
}

/** The models with a `model.json` in the folder, by name; empty without a folder. @throws ModelFolderError */
export async function installedModels(modelsFolder: string): Promise<InstalledModel[]> {
  const entries = await readdir(modelsFolder, { withFileTypes: true }).catch(unlessMissing([]));
  const names = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map(({ name }) => name);
  const found: InstalledModel[] = [];
  for (const name of names.filter((each) => !each.startsWith('.') && !RESERVED_NAMES.includes(each)).toSorted()) {
    const installed = await installedModel(modelsFolder, name);
    if (installed !== undefined) found.push(installed);
  }
  return found;
}

/** @throws ModelFolderError for a `model.json` that is invalid */
export async function installedModel(modelsFolder: string, name: string): Promise<InstalledModel | undefined> {
  const model = await readModel(modelsFolder, name);
  if (model === undefined) return undefined;
  const text = await readFile(join(modelsFolder, name, RECEIPT_FILE), 'utf8').catch(unlessMissing(''));
  return { model, receipt: receipt.safeParse(parseJson(text)).data };
}

export async function writeReceipt(modelFolder: string, content: Receipt): Promise<void> {
  await writeFileAtomic(join(modelFolder, RECEIPT_FILE), `${JSON.stringify(content, null, 2)}\n`);
}

export interface VerifiedFile {
  readonly file: string;
  readonly state: 'unchanged' | 'changed' | 'missing';
}

/**
 * Hashes what was installed.
 * @returns each file of the receipt
 * @throws ModelFolderError when there is no such model, or no receipt
 */
export async function verifyModel(modelsFolder: string, name: string, signal?: AbortSignal): Promise<VerifiedFile[]> {
  const installed = await installedModel(modelsFolder, name);
  const folder = join(modelsFolder, name);
  if (installed === undefined) throw new ModelFolderError(`${folder}: no such model is installed`);
  if (installed.receipt === undefined) {
    throw new ModelFolderError(
      `${folder}: there is no ${RECEIPT_FILE}, so nothing says what its files were; models get writes one`,
    );
  }
  const verified: VerifiedFile[] = [];
  for (const [file, expected] of Object.entries(installed.receipt.files)) {
    const path = join(folder, file);
    const isThere = await stat(path).then((facts) => facts.isFile(), unlessMissing(false));
    const state = !isThere ? 'missing' : (await hashOfFile(path, signal)) === expected ? 'unchanged' : 'changed';
    verified.push({ file, state });
  }
  return verified;
}

/** What a use of a model changed: for this language, or for `speakers` or `end-of-turn`, it now stands in place of `before`. */
export interface UseChange {
  readonly of: string;
  readonly before: string | undefined;
}

/**
 * Has a model used from the platform's next start on.
 * @param languages of the model; all of them when absent
 * @throws ModelFolderError for a language that the model does not have
 */
export async function useModel(
  modelsFolder: string,
  model: ModelDescription,
  languages?: readonly string[],
): Promise<UseChange[]> {
  const used = await readUsedNames(modelsFolder);
  const changes: UseChange[] = [];
  const change = (of: string, before: string | undefined): string => {
    if (before !== model.name) changes.push({ of, before });
    return model.name;
  };
  let now: UsedNames;
  if (!('languages' in model)) {
    if (languages !== undefined) throw new ModelFolderError(`${model.name} is a model for ${model.role}, which has no languages`);
    now = { ...used, [model.kind]: change(model.role, used[model.kind]) };
  } else {
    const other = languages?.find((language) => !model.languages.includes(language));
    if (other !== undefined)
      throw new ModelFolderError(`${model.name} is no model for ${other}; its languages are ${model.languages.join(', ')}`);
    const role = model.role === 'voice' ? 'voices' : 'recognition';
    const ofRole = { ...used[role] };
    for (const language of languages ?? model.languages) ofRole[language] = change(language, ofRole[language]);
    now = { ...used, [role]: ofRole };
  }
  if (changes.length > 0) await writeUsed(modelsFolder, now);
  return changes;
}

/** Removes a model, and what a broken-off download left of it. @returns the languages, or the role, that it was used for */
export async function removeModel(modelsFolder: string, name: string): Promise<{ removed: boolean; usedFor: string[] }> {
  const used = await readUsedNames(modelsFolder);
  const usedFor: string[] = [];
  const without = (names: Readonly<Record<string, string>> = {}): Record<string, string> => {
    usedFor.push(...Object.keys(names).filter((language) => names[language] === name));
    return Object.fromEntries(Object.entries(names).filter(([, each]) => each !== name));
  };
  const left: UsedNames = { recognition: without(used.recognition), voices: without(used.voices) };
  for (const kind of ['embedding', 'segmentation', 'end-of-turn'] as const) {
    if (used[kind] === name) usedFor.push(kind === 'end-of-turn' ? kind : 'speakers');
    else if (used[kind] !== undefined) left[kind] = used[kind];
  }
  if (usedFor.length > 0) await writeUsed(modelsFolder, left);
  const folder = join(modelsFolder, name);
  // Renamed first, so that a start never sees half a model.
  const gone = temporaryPath(join(modelsFolder, PARTIAL_FOLDER, `${name}.removed`));
  const isThere = (await readModel(modelsFolder, name).catch(() => ({}))) !== undefined;
  if (isThere) {
    await rename(folder, gone).catch(() => removeTree(folder));
    await removeTree(gone);
  }
  const partial = await partialDownloads(modelsFolder, name);
  for (const path of partial) await forgetDownload(path);
  return { removed: isThere || partial.length > 0, usedFor: [...new Set(usedFor)] };
}

/** The growing file of a download. */
export function partialDownload(modelsFolder: string, name: string, index: number): string {
  return join(modelsFolder, PARTIAL_FOLDER, `${name}.${index}.part`);
}

async function partialDownloads(modelsFolder: string, name: string): Promise<string[]> {
  const names = await readdir(join(modelsFolder, PARTIAL_FOLDER)).catch(unlessMissing([]));
  const own = names.filter((each) => each.startsWith(`${name}.`) && /^\d+\.part$/u.test(each.slice(name.length + 1)));
  return own.map((each) => join(modelsFolder, PARTIAL_FOLDER, each));
}

async function writeUsed(modelsFolder: string, used: UsedNames): Promise<void> {
  const filled = Object.fromEntries(
    Object.entries(used).filter(([, names]) => typeof names === 'string' || Object.keys(names ?? {}).length > 0),
  );
  const path = join(modelsFolder, USED_FILE);
  // Without a model in use, the folder is as one without models.
  if (Object.keys(filled).length === 0) await rm(path, { force: true });
  else await writeFileAtomic(path, `${JSON.stringify(filled, null, 2)}\n`);
}

/** Waits until no other process works in the models folder. @param onWait called once with the process that holds the lock */
export async function lockModels(
  modelsFolder: string,
  clock: Clock,
  { onWait, signal }: { readonly onWait?: (pid: number) => void; readonly signal?: AbortSignal | undefined } = {},
): Promise<FolderLock> {
  for (let told = false; ; told = true) {
    const attempt = await FolderLock.acquire(join(modelsFolder, '.lock'), clock);
    if (attempt.state === 'held') return attempt.lock;
    if (!told) onWait?.(attempt.facts.owner.pid);
    await sleep(clock, WAIT_MS, signal);
  }
}

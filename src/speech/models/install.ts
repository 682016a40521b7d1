import { constants } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { hasCode } from '../../kernel/errors.ts';
import { flushFolder } from '../../kernel/flush.ts';
import { parseJson } from '../../kernel/json.ts';
import {
  isAbandoned,
  removeTree,
  temporaryFolder,
  temporaryPath,
  unlessMissing,
  writeFileAtomic,
} from '../../kernel/temporary.ts';
import { addressOf, bytesOf, type Catalogue, type Download, type OfferedModel, sourcesOf } from './catalogue.ts';
import { convert } from './convert.ts';
import { download, forgetDownload, hashOfFile } from './download.ts';
import { ModelContentError, ModelDownloadError, ModelFolderError } from './errors.ts';
import { PARTIAL_FOLDER, partialDownload, installedModel, type Receipt, verifyModel, writeReceipt } from './installed.ts';
import { fetchPackage } from './package-client.ts';
import { MODEL_FILE } from './read-models.ts';
import { unpackModel, unpackPackage } from './unpack.ts';

const FIRST_SEEN_FILE = 'first-seen.json';
const firstSeen = z.record(z.string(), z.object({ sha256: z.string(), bytes: z.int(), seenAt: z.iso.datetime() }));

export interface InstallOptions {
  readonly modelsFolder: string;
  readonly redirects: Catalogue['redirects'];
  /** A copy of the internet's files: `<mirror>/<host>/<path>`. */
  readonly mirror?: string | undefined;
  /** In place of a download: the archive itself, or a folder with the files under their own names. */
  readonly from?: string | undefined;
  readonly clock: Clock;
  readonly onProgress?: (step: 'download' | 'check' | 'unpack', done: number, all: number | undefined) => void;
  /** Told why a source is left for the next one. */
  readonly onElsewhere?: (reason: string) => void;
  /** Pause before a second try in a row. */
  readonly pauseMs?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Installation {
  readonly state: 'installed' | 'there';
  /** Downloads without a published hash, and whether an earlier copy had the same. */
  readonly unvouched: readonly { readonly url: string; readonly sha256: string; readonly isFirst: boolean }[];
}

interface Fetched {
  readonly each: Download;
  /** Of the download, over all sources of the model. */
  readonly index: number;
  readonly path: string;
  readonly facts: Receipt['downloads'][number];
  readonly isFirst: boolean;
}

/**
 * Installs a model: downloads, checks and unpacks it aside, and moves it into place at the end. The caller must hold the folder's lock. An
 * interrupted run leaves no model, and a partial download that the next run continues.
 * @throws ModelDownloadError, ModelContentError, ModelFolderError for a full disk; the signal's reason
 */
export async function installModel(model: OfferedModel, options: InstallOptions): Promise<Installation> {
  const { modelsFolder, signal } = options;
  const { name } = model.description;
  const partial = join(modelsFolder, PARTIAL_FOLDER);
  try {
    await mkdir(partial, { recursive: true, mode: 0o700 });
    await sweep(partial, options.clock);
    if (await isWhole(modelsFolder, name, signal)) return { state: 'there', unvouched: [] };
    const fetched = await fetchFromOneSource(model, options);
    await using staging = await temporaryFolder(partial, `${name}.new`);
    await fill(staging.path, model, fetched, options);
    await putInPlace(staging.path, join(modelsFolder, name), partial);
    await forgetDownloads(model, modelsFolder);
    const unvouched = fetched.filter(({ facts }) => !facts.vouched);
    return {
      state: 'installed',
      unvouched: unvouched.map(({ facts, isFirst }) => ({ url: facts.url, sha256: facts.sha256, isFirst })),
    };
  } catch (error) {
    // Continuing a download that holds something else would end here again.
    if (error instanceof ModelContentError && options.from === undefined) await forgetDownloads(model, modelsFolder);
    if (!hasCode(error, 'ENOSPC', 'EDQUOT')) throw error;
    throw new ModelFolderError(
      `${modelsFolder}: the disk is full; ${name} is not installed. What came is kept in ${PARTIAL_FOLDER}/: make room and run the same command again`,
      { cause: error },
    );
  }
}

async function forgetDownloads(model: OfferedModel, modelsFolder: string): Promise<void> {
  for (const index of sourcesOf(model).flat().keys())
    await forgetDownload(partialDownload(modelsFolder, model.description.name, index));
}

/** The first hash seen for an address without a published one; undefined before the first download. */
export async function firstSeenHash(modelsFolder: string, url: string): Promise<z.infer<typeof firstSeen>[string] | undefined> {
  const text = await readFile(join(modelsFolder, FIRST_SEEN_FILE), 'utf8').catch(unlessMissing('{}'));
  const known = firstSeen.safeParse(parseJson(text)).data;
  if (known === undefined)
    throw new ModelFolderError(`${join(modelsFolder, FIRST_SEEN_FILE)} is damaged; it held the hashes of earlier copies`);
  return known[url];
}

async function rememberHash(modelsFolder: string, url: string, hash: z.infer<typeof firstSeen>[string]): Promise<void> {
  const path = join(modelsFolder, FIRST_SEEN_FILE);
  const known = firstSeen.parse(parseJson(await readFile(path, 'utf8').catch(unlessMissing('{}'))));
  await writeFileAtomic(path, `${JSON.stringify({ ...known, [url]: hash }, null, 2)}\n`);
}

/**
 * Fetches the downloads of the first source that has them all.
 * @throws ModelDownloadError with the reason of each source when none has
 */
async function fetchFromOneSource(model: OfferedModel, options: InstallOptions): Promise<readonly Fetched[]> {
  const refusals: ModelDownloadError[] = [];
  const sources = sourcesOf(model);
  for (const [at, source] of sources.entries()) {
    if (!(await mayComeFrom(source, model, options.from))) continue;
    const firstIndex = sources.slice(0, at).flat().length;
    const places = source.map((each, offset) => ({ each, index: firstIndex + offset }));
    try {
      if (options.from === undefined) await requireRoom(model, source, firstIndex, options.modelsFolder);
      const fetched: Fetched[] = [];
      for (const place of places) fetched.push(await fetchOne(model, source, place, options));
      return fetched;
    } catch (error) {
      if (!(error instanceof ModelDownloadError)) throw error;
      refusals.push(error);
      if (at + 1 < sources.length) options.onElsewhere?.(error.message);
    }
  }
  const [only, ...more] = refusals;
  if (only !== undefined && more.length === 0) throw only;
  throw new ModelDownloadError(refusals.map(({ message }) => message).join('; and elsewhere: '), { cause: refusals.at(-1) });
}

async function fetchOne(
  model: OfferedModel,
  source: readonly Download[],
  { each, index }: Pick<Fetched, 'each' | 'index'>,
  options: InstallOptions,
): Promise<Fetched> {
  const { modelsFolder, clock, signal, onProgress } = options;
  const url = addressOf(each);
  const isLocal = options.from !== undefined;
  const path = isLocal
    ? await localFile(model, source, each, options.from ?? '')
    : partialDownload(modelsFolder, model.description.name, index);
  const seen = each.sha256 === undefined ? await firstSeenHash(modelsFolder, url) : undefined;
  const expected = each.sha256 ?? seen?.sha256;
  if (!isLocal && 'package' in each) {
    if (!(await hasHash(path, each.sha256, signal))) {
      onProgress?.('download', 0, each.bytes);
      await fetchPackage(each, path, signal);
    }
  } else if (!isLocal) {
    if (expected === undefined && isUnprotected(options.mirror))
      throw new ModelContentError(
        `no hash of ${url} is published, so it is not fetched over plain http, where it could be replaced on the way; give the mirror an https address, or fetch the file yourself and pass it with --from`,
      );
    const redirects = options.redirects[new URL(url).hostname] ?? [];
    await download({ url, mirror: options.mirror, redirects, bytes: each.bytes }, path, {
      clock,
      signal,
      ...(options.pauseMs === undefined ? {} : { pauseMs: options.pauseMs }),
      onBytes: (done, all) => onProgress?.('download', done, all),
    });
  }
  const { size } = await stat(path);
  onProgress?.('check', 0, size);
  const sha256 = await hashOfFile(path, signal);
  if (expected !== undefined && sha256 !== expected) {
    const whose = each.sha256 === undefined ? `the copy that came first, on ${seen?.seenAt ?? ''}, had` : 'published is';
    const advice = isLocal
      ? 'it is another file, or damaged'
      : 'it was damaged on its way, or replaced by its publisher; what came is deleted, and running the command again fetches it anew';
    throw new ModelContentError(`${isLocal ? path : url} has the wrong hash: ${sha256}, ${whose} ${expected}; ${advice}`);
  }
  if (expected === undefined) {
    await rememberHash(modelsFolder, url, { sha256, bytes: size, seenAt: new Date(clock.wallMs()).toISOString() });
  }
  const facts = { url, bytes: size, sha256, vouched: each.sha256 !== undefined };
  return { each, index, path, facts, isFirst: seen === undefined };
}

/** Whether an earlier run has fetched it already. */
async function hasHash(path: string, sha256: string, signal: AbortSignal | undefined): Promise<boolean> {
  const isThere = await stat(path).then(() => true, unlessMissing(false));
  return isThere && (await hashOfFile(path, signal)) === sha256;
}

/** The name of a download's file, where it is given with `--from`. */
function localName(each: Download): string {
  if ('package' in each) return each.file;
  return 'archive' in each ? basename(each.archive) : each.as;
}

/** Whether what a mirror sends can be changed on its way; not on this machine itself. */
function isUnprotected(mirror: string | undefined): boolean {
  if (mirror === undefined) return false;
  const { protocol, hostname } = new URL(mirror);
  return protocol !== 'https:' && !/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u.test(hostname);
}

/** Whether `from`, where it is given, is of this source: the first one is meant when it is of none. */
async function mayComeFrom(source: readonly Download[], model: OfferedModel, from: string | undefined): Promise<boolean> {
  if (from === undefined) return true;
  const isOf = async (each: readonly Download[]): Promise<boolean> => {
    const name = localName(each[0] ?? { file: '', as: '' });
    return basename(from) === name || (await stat(join(from, name)).then(() => true, unlessMissing(false)));
  };
  for (const other of sourcesOf(model)) if (await isOf(other)) return other === source;
  return source === model.downloads;
}

async function localFile(model: OfferedModel, source: readonly Download[], each: Download, from: string): Promise<string> {
  const facts = await stat(from).catch(unlessMissing(undefined));
  if (facts === undefined) throw new ModelFolderError(`${from}: there is no such file or folder`);
  if (facts.isDirectory()) {
    const path = join(from, localName(each));
    if (!(await stat(path).then((file) => file.isFile(), unlessMissing(false)))) {
      throw new ModelFolderError(`${path} is missing: it is the download ${addressOf(each)}`);
    }
    return path;
  }
  if (source.length === 1) return from;
  const names = source.map(localName);
  throw new ModelFolderError(`${model.description.name} has several downloads: give a folder that holds ${names.join(' and ')}`);
}

/** Unpacks and describes a model in an empty folder. */
async function fill(folder: string, model: OfferedModel, fetched: readonly Fetched[], options: InstallOptions): Promise<void> {
  const { signal, onProgress, clock } = options;
  const onBytes = (done: number): void => onProgress?.('unpack', done, undefined);
  const loose = new Set(fetched.flatMap(({ each }) => ('as' in each ? [each.as] : [])));
  const wanted = Object.values(model.description.files).filter(
    (file): file is string => typeof file === 'string' && !loose.has(file),
  );
  for (const { each, path } of fetched) {
    if ('package' in each) await unpackPackage(path, folder, each, { signal, onBytes });
    else if ('archive' in each) await unpackModel(path, folder, { wanted, signal, onBytes });
    else {
      const target = join(folder, each.as);
      await mkdir(dirname(target), { recursive: true });
      await copyFile(path, target, constants.COPYFILE_EXCL);
    }
  }
  for (const { each } of fetched) {
    if ('package' in each && each.convert !== undefined) await convert(each.convert, folder, model.description);
  }
  for (const [role, file] of Object.entries(model.description.files)) {
    if (typeof file === 'string' && !(await stat(join(folder, file)).then(() => true, unlessMissing(false))))
      throw new ModelContentError(`the package has no ${file}, the ${role} of ${model.description.name}`);
  }
  await writeFileAtomic(join(folder, MODEL_FILE), `${JSON.stringify(model.description, null, 2)}\n`);
  const files: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files[path.slice(folder.length + 1)] = await hashOfFile(path, signal);
  }
  const sorted = Object.fromEntries(Object.entries(files).sort(([left], [right]) => (left < right ? -1 : 1)));
  const installedAt = new Date(clock.wallMs()).toISOString();
  await writeReceipt(folder, { installedAt, downloads: fetched.map(({ facts }) => facts), files: sorted });
}

async function putInPlace(from: string, to: string, partial: string): Promise<void> {
  const replaced = temporaryPath(join(partial, `${basename(to)}.old`));
  await rename(to, replaced).catch(unlessMissing(undefined));
  await rename(from, to);
  await flushFolder(dirname(to));
  await removeTree(replaced);
}

async function isWhole(modelsFolder: string, name: string, signal: AbortSignal | undefined): Promise<boolean> {
  const installed = await installedModel(modelsFolder, name).catch(() => undefined);
  if (installed?.receipt === undefined) return false;
  return (await verifyModel(modelsFolder, name, signal)).every(({ state }) => state === 'unchanged');
}

/** Removes what killed processes left; downloads stay. */
async function sweep(partial: string, clock: Clock): Promise<void> {
  for (const name of await readdir(partial)) {
    const path = join(partial, name);
    if (await isAbandoned(path, name, clock.wallMs())) await removeTree(path);
  }
}

/** @throws ModelFolderError when download and model together cannot fit; a guess when sizes are unknown */
async function requireRoom(
  { description: { name } }: OfferedModel,
  downloads: readonly Download[],
  firstIndex: number,
  modelsFolder: string,
): Promise<void> {
  const bytes = bytesOf({ downloads });
  if (bytes === undefined) return;
  let there = 0;
  for (const offset of downloads.keys()) {
    const facts = await stat(partialDownload(modelsFolder, name, firstIndex + offset)).catch(unlessMissing(undefined));
    there += facts?.size ?? 0;
  }
  const { bavail, bsize } = await statfs(modelsFolder);
  // Unpacked, a model is larger than its archive.
  const needed = 2 * bytes - there;
  if (bavail * bsize >= needed) return;
  const megabytes = (count: number): string => `${Math.ceil(count / 1e6)} MB`;
  throw new ModelFolderError(
    `${modelsFolder}: ${name} needs ${megabytes(needed)} of disk, and ${megabytes(bavail * bsize)} are free`,
  );
}

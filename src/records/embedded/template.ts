import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, copyFile, lstat, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { flushFolder } from '../../kernel/flush.ts';

/** Fills an empty folder with a new, closed cluster. */
export type BuildCluster = (dataDir: string) => Promise<void>;

/**
 * A folder for prepared clusters that only this user can have written; undefined without a trusted one. Any user who could place a cluster there
 * would choose the SQL that we run.
 */
export async function templateRoot(): Promise<string | undefined> {
  const uid = process.getuid?.();
  if (uid === undefined) return undefined;
  const root = join(tmpdir(), `offhook-templates-${uid}`);
  await mkdir(root, { mode: 0o700 }).catch(() => {});
  const facts = await lstat(root).catch(() => undefined);
  return facts?.isDirectory() === true && facts.uid === uid && (facts.mode & 0o077) === 0 ? root : undefined;
}

/** @param inputs everything a prepared cluster depends on: versions and the text of the migrations */
export function templateKey(inputs: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(inputs)).digest('hex').slice(0, 24);
}

/**
 * Puts a cluster at `dataDir` unless there is one. Making one costs seconds and much memory, copying one less than a
 * second: so the first is kept as a template and every further one copied from it. Whatever interrupts this, a power cut
 * too, a cluster at `dataDir` is either there whole or not at all.
 */
export async function placeCluster(options: {
  readonly dataDir: string;
  readonly root: string | undefined;
  readonly key: string;
  readonly build: BuildCluster;
  /** Wall time now. */
  readonly wallMs: number;
}): Promise<'existing' | 'copied' | 'built'> {
  const { dataDir, root, key, build, wallMs } = options;
  if (await isCluster(dataDir)) return 'existing';
  await mkdir(dirname(dataDir), { recursive: true, mode: 0o700 });
  if (root === undefined) {
    await appear(dataDir, wallMs, build);
    return 'built';
  }
  const template = join(root, key);
  const prepared = await isCluster(template);
  if (!prepared) await appear(template, wallMs, build);
  await appear(dataDir, wallMs, (target) => copyCluster(template, target));
  return prepared ? 'copied' : 'built';
}

export async function isCluster(dataDir: string): Promise<boolean> {
  return access(join(dataDir, 'PG_VERSION')).then(
    () => true,
    () => false,
  );
}

/** Files in hand at once; Node does four at a time. */
const AT_ONCE = 8;

/** Copies a closed cluster, all of it on disk when it returns. (`fs.cp` looks at every parent of every file, and flushes nothing.) */
async function copyCluster(from: string, to: string): Promise<void> {
  const entries = await readdir(from, { recursive: true, withFileTypes: true });
  const placeOf = ({ parentPath, name }: { parentPath: string; name: string }): string =>
    join(to, relative(from, join(parentPath, name)));
  const folders = [to, ...entries.filter((entry) => entry.isDirectory()).map(placeOf)];
  // Sorted, parents come before what they hold.
  for (const folder of folders.sort()) await mkdir(folder, { mode: 0o700 });
  const files = entries.filter((entry) => entry.isFile()).values();
  const copy = async (): Promise<void> => {
    for (const entry of files) {
      const target = placeOf(entry);
      await copyFile(join(entry.parentPath, entry.name), target, constants.COPYFILE_FICLONE);
      await using file = await open(target, 'r+');
      await file.sync();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, copy));
  for (const folder of folders) await flushFolder(folder);
}

/** Fills a folder beside `path`, then renames it into place. If another process was faster, its folder is as good. */
async function appear(path: string, wallMs: number, fill: (target: string) => Promise<void>): Promise<void> {
  await sweepTorn(path, wallMs);
  const target = `${path}.${process.pid}-${randomUUID().slice(0, 8)}`;
  try {
    await fill(target);
    await rename(target, path).catch(async (error: unknown) => {
      if (!(await isCluster(path))) throw error;
    });
    await flushFolder(dirname(path));
  } finally {
    await rm(target, { recursive: true, force: true });
  }
}

/** A folder being filled is done long before this. */
const TORN_MS = 600_000;

/** Removes what processes left that died while they filled a folder for `path`. */
async function sweepTorn(path: string, nowMs: number): Promise<void> {
  const parent = dirname(path);
  for (const name of (await readdir(parent)).filter(
    (entry) => entry.startsWith(`${basename(path)}.`) && !entry.endsWith('.lock'),
  )) {
    const facts = await stat(join(parent, name)).catch(() => undefined);
    if (facts !== undefined && nowMs - facts.mtimeMs > TORN_MS) await rm(join(parent, name), { recursive: true, force: true });
  }
}

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type ResourceLimits, Worker } from 'node:worker_threads';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface EntryFile {
  readonly path: string;
  /** Arguments for Node itself: empty for compiled JavaScript, the TypeScript loader for source. */
  readonly execArgv: readonly string[];
}

/**
 * The entry file of a child process or thread: `.js` in a compiled run; in a run from source the compiled file if the build is up
 * to date, else the `.ts` file with a loader, which Node 20 needs.
 * @param from the caller's `import.meta.url`
 * @param name the file beside it, without extension
 */
export function entryFile(from: string, name: string): EntryFile {
  const source = from.endsWith('.ts');
  const path = fileURLToPath(new URL(`./${name}.${source ? 'ts' : 'js'}`, from));
  if (!existsSync(path)) throw new Error(`entry file missing: ${name}`);
  if (!source) return { path, execArgv: [] };
  const twin = compiledTwin(ROOT, path);
  return twin === undefined ? { path, execArgv: ['--import', import.meta.resolve('tsx')] } : { path: twin, execArgv: [] };
}

/**
 * Starts a worker thread with the file. A `.ts` file is loaded by code that registers the TypeScript loader first: Node 20 rejects
 * a worker's `.ts` entry before it applies `--import`.
 * @param resourceLimits of its memory; the thread ends with an error where it needs more
 */
export function startWorker(from: string, name: string, workerData: object, resourceLimits: ResourceLimits = {}): Worker {
  const { path, execArgv } = entryFile(from, name);
  if (from.endsWith('.js')) return new Worker(path, { workerData, resourceLimits });
  // Without the loader of this process.
  if (execArgv.length === 0) return new Worker(path, { workerData, execArgv: [], resourceLimits });
  const [loader, file] = [import.meta.resolve('tsx/esm/api'), pathToFileURL(path).href].map((url) => JSON.stringify(url));
  const code = `import(${loader}).then(({ register }) => { register(); return import(${file}); });`;
  return new Worker(code, { eval: true, workerData, execArgv: [], resourceLimits });
}

/**
 * The compiled file of a source file, if the build is newer than every source and no build runs. Threads and child processes of a
 * run from source then start without the TypeScript loader, which takes half a second of CPU.
 * @param root the package's folder, with `src` and `dist`
 * @param path a file below `src`
 */
export function compiledTwin(root: string, path: string): string | undefined {
  const inside = relative(join(root, 'src'), path);
  if (inside.startsWith(`..${sep}`) || !isBuilt(root)) return undefined;
  const twin = join(root, 'dist', inside.replace(/\.ts$/u, '.js'));
  return existsSync(twin) ? twin : undefined;
}

/** The same check as in `bin/offhook.js`; the lock is the one it makes. */
function isBuilt(root: string): boolean {
  const built = statSync(join(root, 'dist', 'main.js'), { throwIfNoEntry: false });
  if (built === undefined || existsSync(join(root, 'node_modules', '.offhook-build'))) return false;
  const sources = join(root, 'src');
  return isNewest(built.mtimeMs, sources, join(sources, 'console'));
}

/** @param apart a folder that another build is made of */
function isNewest(builtMs: number, folder: string, apart?: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).every((entry) => {
    const path = join(folder, entry.name);
    if (path === apart) return true;
    return entry.isDirectory() ? isNewest(builtMs, path) : statSync(path).mtimeMs <= builtMs;
  });
}

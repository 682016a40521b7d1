import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { compiledTwin } from './compiled-twin.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface EntryFile {
  readonly path: string;
  /** Arguments for Node itself: none for compiled JavaScript, the TypeScript loader for source. */
  readonly execArgv: readonly string[];
}

/**
 * The file that a child process starts from, whether we run compiled (`.js`) or from source (`.ts`, which
 * Node 20 cannot load by itself). From source it is the compiled file all the same, where the build is up to date.
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
 * A worker thread that runs the file. From source it registers the TypeScript loader by itself: Node 20 does not apply
 * `--import` before it looks at the extension of a worker's entry.
 */
export function startWorker(from: string, name: string, workerData: object): Worker {
  const { path, execArgv } = entryFile(from, name);
  if (from.endsWith('.js')) return new Worker(path, { workerData });
  // Without the loader that our own process may have been started with.
  if (execArgv.length === 0) return new Worker(path, { workerData, execArgv: [] });
  const [loader, file] = [import.meta.resolve('tsx/esm/api'), pathToFileURL(path).href].map((url) => JSON.stringify(url));
  const code = `import(${loader}).then(({ register }) => { register(); return import(${file}); });`;
  return new Worker(code, { eval: true, workerData, execArgv: [] });
}

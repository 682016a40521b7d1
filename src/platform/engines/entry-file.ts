import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface EntryFile {
  readonly path: string;
  /** Arguments for Node itself: none for compiled JavaScript, the TypeScript loader when run from source. */
  readonly execArgv: readonly string[];
}

/**
 * The file that a child process or a worker starts from, whether we run compiled (`.js`) or from source (`.ts`, which
 * Node 20 cannot load by itself).
 * @param from the caller's `import.meta.url`
 * @param name the file beside it, without extension
 */
export function entryFile(from: string, name: string): EntryFile {
  const source = from.endsWith('.ts');
  const path = fileURLToPath(new URL(`./${name}.${source ? 'ts' : 'js'}`, from));
  if (!existsSync(path)) throw new Error(`entry file missing: ${name}`);
  return { path, execArgv: source ? ['--import', import.meta.resolve('tsx')] : [] };
}

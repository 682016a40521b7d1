import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/**
 * What a source file was compiled to, where the build is not older than any source and none is being made: run from source, a
 * thread or a process of ours then starts without the TypeScript loader, which costs it half a second of processor time.
 * @param root the package's folder, with `src` and `dist`
 * @param path a file below `src`
 */
export function compiledTwin(root: string, path: string): string | undefined {
  const inside = relative(join(root, 'src'), path);
  if (inside.startsWith(`..${sep}`) || !isBuilt(root)) return undefined;
  const twin = join(root, 'dist', inside.replace(/\.ts$/u, '.js'));
  return existsSync(twin) ? twin : undefined;
}

/** The same as `bin/offhook.js` asks before it compiles; the lock is its own. */
function isBuilt(root: string): boolean {
  const built = statSync(join(root, 'dist', 'main.js'), { throwIfNoEntry: false });
  if (built === undefined || existsSync(join(root, 'node_modules', '.offhook-build'))) return false;
  return isNewest(built.mtimeMs, join(root, 'src'));
}

function isNewest(builtMs: number, folder: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).every((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? isNewest(builtMs, path) : statSync(path).mtimeMs <= builtMs;
  });
}

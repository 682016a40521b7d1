import { randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { compiledTwin } from '../../src/kernel/entry-file.ts';

/** For a process of seconds: it would compile the embedded Postgres thoroughly for itself, and end before that pays. */
export const BRIEFLY: readonly string[] = ['--liftoff-only'];

const root = fileURLToPath(new URL('../..', import.meta.url));
const bundled = new Map<string, Promise<readonly string[]>>();

/**
 * What Node is given to run a TypeScript program of the tests. Where the program's sources are built, it runs over the build
 * without a TypeScript loader, which would cost each process most of a second of processor time.
 * @param source its absolute path
 */
export function nodeArguments(source: string): Promise<readonly string[]> {
  const made = bundled.get(source) ?? bundle(source);
  bundled.set(source, made);
  return made;
}

async function bundle(source: string): Promise<readonly string[]> {
  if (compiledTwin(root, join(root, 'src/main.ts')) === undefined) return ['--import', import.meta.resolve('tsx'), source];
  const twin = compiledTwin(root, source);
  if (twin !== undefined) return [twin];
  const { outputFiles } = await build({
    entryPoints: [source],
    bundle: true,
    write: false,
    platform: 'node',
    // What the compiler makes of the sources, too: no `using`.
    target: 'node20',
    format: 'esm',
    packages: 'external',
    plugins: [
      {
        name: 'compiled sources',
        setup: (plugin) =>
          plugin.onResolve({ filter: /\.ts$/ }, ({ path, resolveDir }) => {
            const inside = relative(join(root, 'src'), resolve(resolveDir, path));
            if (inside.startsWith('..')) return undefined;
            return { path: join(root, 'dist', inside.replace(/\.ts$/u, '.js')), external: true };
          }),
      },
    ],
  });
  // Below `node_modules`, so that the program finds its packages.
  const folder = join(root, 'node_modules/.cache/offhook-test');
  await mkdir(folder, { recursive: true });
  const program = join(folder, basename(source).replace(/\.ts$/u, '.mjs'));
  // Other test processes make the same file at the same time.
  const own = `${program}.${randomUUID()}`;
  await writeFile(own, outputFiles[0]?.contents ?? '');
  await rename(own, program);
  return [...BRIEFLY, program];
}

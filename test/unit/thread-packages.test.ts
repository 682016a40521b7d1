import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));
const IMPORT = /^(?:import|export) (?!type )[^;']*?from '([^']+)';|^import '([^']+)';/gmu;

/** Packages that a file loads as soon as it is loaded, by itself or through its imports. */
function packagesOf(file: string, seen = new Set<string>()): readonly string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  return [...readFileSync(file, 'utf8').matchAll(IMPORT)].flatMap(([, from, alone]) => {
    const path = from ?? alone ?? '';
    if (path.startsWith('node:')) return [];
    return path.startsWith('.') ? packagesOf(join(dirname(file), path), seen) : [path];
  });
}

// A thread pays for what it imports at every start: one schema of its owner's file may bring hundreds of modules along.
test.each([
  { file: 'records/embedded/engine-worker.ts', packages: ['@electric-sql/pglite', '@electric-sql/pglite/nodefs'] },
  { file: 'call/recording/recording-worker.ts', packages: ['alawmulaw'] },
])('$file loads no other packages at its start', ({ file, packages }) => {
  expect([...new Set(packagesOf(join(SRC, file)))].sort()).toEqual(packages);
});

test.each(['hosts/app.ts', 'platform/server/uploads/open-audio.ts'])('%s loads no decoders at its start', (file) => {
  expect(packagesOf(join(SRC, file)).filter((name) => /flac|vorbis|mpg123|opusscript/u.test(name))).toEqual([]);
});

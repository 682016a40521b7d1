import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { compiledTwin } from '../../../src/kernel/entry-file.ts';

const EARLY = 1_000;
const LATE = 2_000;
let root: string;

const put = async (path: string, atS: number): Promise<void> => {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), '');
  await utimes(join(root, path), atS, atS);
};
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'offhook-test-'));
  for (const source of ['src/main.ts', 'src/audio/thread.ts']) await put(source, EARLY);
  for (const compiled of ['dist/main.js', 'dist/audio/thread.js']) await put(compiled, LATE);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const twin = (path = 'src/audio/thread.ts'): string | undefined => compiledTwin(root, join(root, path));

it('is the compiled file of a source file', () => {
  expect(twin()).toBe(join(root, 'dist/audio/thread.js'));
});

it.each([
  { note: 'any source is newer than the build', spoil: () => put('src/kernel/new.ts', LATE + 1) },
  { note: 'there is no build', spoil: () => rm(join(root, 'dist/main.js')) },
  { note: 'a build is being made', spoil: () => mkdir(join(root, 'node_modules/.offhook-build'), { recursive: true }) },
  { note: 'the build has no such file', spoil: () => rm(join(root, 'dist/audio/thread.js')) },
])('is not there when $note', async ({ spoil }) => {
  await spoil();
  expect(twin()).toBeUndefined();
});

it('does not exist for a file of the tests', () => {
  expect(twin('test/support/thread.ts')).toBeUndefined();
});

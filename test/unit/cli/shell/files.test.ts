import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeOutput } from '../../../../src/cli/shell/files.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'offhook-files-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function* parts(): AsyncIterable<Uint8Array> {
  yield Buffer.from('one ');
  yield Buffer.from('two');
}

it('writes parts as they come, and counts them', async () => {
  const path = join(folder, 'speech.wav');
  const counts: number[] = [];
  expect(await writeOutput(path, parts(), (bytes) => counts.push(bytes))).toBe(7);
  expect([await readFile(path, 'utf8'), counts]).toEqual(['one two', [4, 7]]);
});

it('fails when the disk is full, and leaves nothing behind', async () => {
  const path = join(folder, 'speech.wav');
  await symlink('/dev/full', `${path}.part`);
  await expect(writeOutput(path, parts())).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(await readdir(folder)).toEqual([]);
});

it('leaves no file when its source breaks off', async () => {
  async function* breaking(): AsyncIterable<Uint8Array> {
    yield Buffer.from('one');
    throw new Error('the line broke');
  }
  await expect(writeOutput(join(folder, 'speech.wav'), breaking())).rejects.toThrow('the line broke');
  expect(await readdir(folder)).toEqual([]);
});

import { pbkdf2 } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { pourIntoFile } from '../../../src/kernel/file-streams.ts';

describe('pourIntoFile', () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-pour-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  let files = 0;
  const newPath = (): string => join(folder, String(++files));

  async function* parts(...all: (string | Error)[]): AsyncIterable<Uint8Array> {
    for (const part of all) {
      if (part instanceof Error) throw part;
      yield Buffer.from(part);
    }
  }

  it('writes the whole file, for its owner only', async () => {
    const path = newPath();
    expect(await pourIntoFile(parts('one ', 'two'), path)).toBe(7);
    expect(readFileSync(path, 'utf8')).toBe('one two');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['fails at once', [new Error('broken')], undefined],
    ['fails after some', ['one', new Error('broken')], undefined],
    ['is aborted', ['one'], AbortSignal.abort()],
  ])('has opened and closed its file by the time it %s, however busy the disk', async (_how, all, signal) => {
    const path = newPath();
    // Node opens files in four threads: with these taken, its own comes last.
    const busy = [1, 2, 3, 4].map(() => promisify(pbkdf2)('a', 'b', 100_000, 64, 'sha512'));
    await expect(pourIntoFile(parts(...all), path, { signal })).rejects.toThrow(/broken|aborted/u);
    // It would not be there yet, and appear after it was removed, if nobody had waited.
    expect(existsSync(path)).toBe(true);
    await Promise.all(busy);
  });

  it('fails when the file must not exist and does, and leaves that file unchanged', async () => {
    const path = newPath();
    writeFileSync(path, 'before');
    await expect(pourIntoFile(parts('after'), path, { flags: 'wx' })).rejects.toThrow('EEXIST');
    expect(readFileSync(path, 'utf8')).toBe('before');
  });

  it('fails without its folder', async () => {
    await expect(pourIntoFile(parts('one'), join(folder, 'none', 'file'))).rejects.toThrow('ENOENT');
  });
});

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, test, vi } from 'vitest';
import { loadEnvFile, readEnvironment, readSettingsFiles } from '../../../src/config/env.ts';
import { problemText } from '../../../src/config/problem.ts';

describe('readEnvironment', () => {
  it('is a copy of the process’s environment', () => {
    vi.stubEnv('OFFHOOK_TEST_ENV', 'x');
    expect(readEnvironment()['OFFHOOK_TEST_ENV']).toBe('x');
    vi.unstubAllEnvs();
    expect(readEnvironment()['OFFHOOK_TEST_ENV']).toBeUndefined();
  });
});

describe('loadEnvFile', () => {
  it('sets what the environment does not set already, and does nothing without a file', () => {
    const path = join(mkdtempSync(join(tmpdir(), 'offhook-env-file-')), '.env');
    vi.stubEnv('OFFHOOK_TEST_SET_BEFORE', 'kept');
    try {
      loadEnvFile(path);
      // Some tools keep a folder of that name.
      loadEnvFile(dirname(path));
      writeFileSync(path, '# a comment\nOFFHOOK_TEST_SET_BEFORE=lost\nOFFHOOK_TEST_FROM_FILE="two words"\n');
      loadEnvFile(path);
      const { OFFHOOK_TEST_SET_BEFORE: before, OFFHOOK_TEST_FROM_FILE: fromFile } = readEnvironment();
      expect([before, fromFile]).toEqual(['kept', 'two words']);
    } finally {
      vi.unstubAllEnvs();
      delete process.env['OFFHOOK_TEST_FROM_FILE'];
    }
  });
});

describe('readSettingsFiles', () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-env-'));
  const [installed, working] = [join(folder, 'installed'), join(folder, 'working')];
  for (const each of [installed, working]) mkdirSync(each);
  const readWith = (env: Record<string, string>) => readSettingsFiles(env, installed, working);

  it('finds nothing in an empty folder', () => {
    expect(readWith({})).toEqual({ files: [], problems: [] });
  });

  test.each([
    { note: 'is missing', named: 'missing.yaml', text: 'OFFHOOK_CONFIG (missing.yaml): cannot be read: ENOENT' },
    { note: 'is a folder', named: working, text: `OFFHOOK_CONFIG (${working}): cannot be read: EISDIR` },
  ])('reports a named file that $note', ({ named, text }) => {
    const { files, problems } = readWith({ OFFHOOK_CONFIG: named });
    expect(files).toEqual([]);
    expect(problems.map(problemText)).toEqual([expect.stringContaining(text)]);
  });

  it('reads the shipped file first, then the local one of the working folder, or the named one there', () => {
    for (const each of [installed, working]) mkdirSync(join(each, 'config'));
    writeFileSync(join(installed, 'config/default.yaml'), 'a');
    writeFileSync(join(installed, 'config/local.yaml'), 'not meant');
    writeFileSync(join(working, 'config/default.yaml'), 'not meant');
    writeFileSync(join(working, 'config/local.yaml'), 'b');
    writeFileSync(join(installed, 'other.yaml'), 'not meant');
    writeFileSync(join(working, 'other.yaml'), 'c');
    const texts = (env: Record<string, string>) => readWith(env).files.map(({ text }) => text);
    expect(texts({})).toEqual(['a', 'b']);
    expect(texts({ OFFHOOK_CONFIG: 'other.yaml' })).toEqual(['a', 'c']);
    expect(texts({ OFFHOOK_CONFIG: join(working, 'other.yaml') })).toEqual(['a', 'c']);
  });
});

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { readEnvironment, readSettingsFiles } from '../../../src/config/env.ts';

describe('readEnvironment', () => {
  it('is a copy of the process’s environment', () => {
    vi.stubEnv('OFFHOOK_TEST_ENV', 'x');
    expect(readEnvironment()['OFFHOOK_TEST_ENV']).toBe('x');
    vi.unstubAllEnvs();
    expect(readEnvironment()['OFFHOOK_TEST_ENV']).toBeUndefined();
  });
});

describe('readSettingsFiles', () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-env-'));

  it('finds nothing in an empty folder, and fails on a named file that is missing', () => {
    expect(readSettingsFiles({}, folder)).toEqual([]);
    expect(() => readSettingsFiles({ OFFHOOK_CONFIG: 'missing.yaml' }, folder)).toThrow('ENOENT');
  });

  it('reads the shipped file first, then the local or the named one', () => {
    mkdirSync(join(folder, 'config'));
    writeFileSync(join(folder, 'config/default.yaml'), 'a');
    writeFileSync(join(folder, 'config/local.yaml'), 'b');
    writeFileSync(join(folder, 'other.yaml'), 'c');
    const texts = (env: Record<string, string>) => readSettingsFiles(env, folder).map(({ text }) => text);
    expect(texts({})).toEqual(['a', 'b']);
    expect(texts({ OFFHOOK_CONFIG: 'other.yaml' })).toEqual(['a', 'c']);
    expect(texts({ OFFHOOK_CONFIG: join(folder, 'other.yaml') })).toEqual(['a', 'c']);
  });
});

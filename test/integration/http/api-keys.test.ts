import { readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ApiKeys } from '../../../src/http/api/system/api-keys.ts';
import { FileLock } from '../../../src/kernel/file-lock.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { run } from '../../support/processes.ts';
import { nodeArguments } from '../../support/program.ts';

const childProgram = fileURLToPath(new URL('../../support/api-keys-child.ts', import.meta.url));
const facts = { name: 'a', tenantId: 'default', scopes: ['calls:read' as const] };

describe('the file of the API keys', () => {
  let folder = '';
  let path = '';
  beforeEach(async () => {
    const made = await temporaryFolder();
    onTestFinished(() => made[Symbol.asyncDispose]());
    folder = made.path;
    path = join(folder, 'api-keys.json');
  });

  it('keeps every key that processes make at once, and leaves nothing else behind', async () => {
    const args = [...(await nodeArguments(childProgram)), path, '30'];
    const children = Array.from({ length: 4 }, () => run(process.execPath, args));
    for (const maker of children) {
      await eventually('the end of a process', () => maker.child.exitCode !== null);
      expect(maker.child.exitCode, maker.output()).toBe(0);
    }
    expect(new Set(new ApiKeys(path).list().map(({ name }) => name)).size).toBe(120);
    expect(await readdir(folder)).toEqual(['api-keys.json']);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('can be changed again after a process died while it changed it', async () => {
    const keys = new ApiKeys(path);
    const { key } = keys.create(facts, 0);
    await writeFile(`${path}.lock`, 'of a dead process');
    const old = Date.now() / 1000 - 60;
    await utimes(`${path}.lock`, old, old);
    expect([keys.revoke(key.id), keys.revoke(key.id), keys.list()]).toEqual([true, false, []]);
    expect(await readdir(folder)).toEqual(['api-keys.json']);
  });

  it('is locked for one at a time, and for nobody who lost the lock', async () => {
    const lock = FileLock.take(`${path}.lock`);
    expect(FileLock.take(`${path}.lock`, 0)).toBeUndefined();
    expect(lock?.isHeld).toBe(true);
    await writeFile(`${path}.lock`, 'of another');
    expect(lock?.isHeld).toBe(false);
    lock?.release();
    expect(await readdir(folder)).toEqual(['api-keys.json.lock']);
  });

  it.each([
    ['no JSON', '{'],
    ['JSON of something else', '{"version":1,"keys":[{}]}'],
  ])('is refused in one line where it holds %s, and stays as it is', async (_what, text) => {
    await writeFile(path, text);
    const keys = new ApiKeys(path);
    const refused = expect.objectContaining({
      code: 'OFFHOOK_API_KEYS',
      message: expect.stringMatching(/^[^\n]*api-keys\.json holds no API keys that can be read: [^\n]+$/u) as string,
    }) as Error;
    expect(() => keys.list()).toThrow(refused);
    expect(() => keys.create(facts, 0)).toThrow(refused);
    expect(await readdir(folder)).toEqual(['api-keys.json']);
  });

  it('is refused in one line where its folder cannot be written', async () => {
    await writeFile(join(folder, 'file'), '');
    expect(() => new ApiKeys(join(folder, 'file', 'keys')).create(facts, 0)).toThrow(
      expect.objectContaining({
        code: 'OFFHOOK_API_KEYS',
        message: expect.stringMatching(/cannot be changed: E[A-Z]+/u) as string,
      }) as Error,
    );
  });
});

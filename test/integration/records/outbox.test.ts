import { readdirSync } from 'node:fs';
import { chmod, readFile, readdir, truncate, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isEntryName, Outbox } from '../../../src/records/outbox/outbox.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { run } from '../../support/processes.ts';
import { nodeArguments } from '../../support/program.ts';

const childProgram = fileURLToPath(new URL('../../support/outbox-child.ts', import.meta.url));
const wallMs = (): number => Date.now();

async function numbersIn(outbox: Outbox): Promise<unknown[]> {
  const bodies = [];
  for (const name of await outbox.names()) bodies.push((await outbox.read(name))?.body);
  return bodies.map((body) => (typeof body === 'object' && body !== null && 'number' in body ? body.number : undefined));
}

describe('Outbox', () => {
  it('has every entry whose append returned before kill -9, whole and in order', async () => {
    await using folder = await temporaryFolder();
    const child = run(process.execPath, [...(await nodeArguments(childProgram)), folder.path]);
    try {
      await eventually('entries to be kept', () => child.output().split('\n').length > 20);
    } finally {
      await child.stop('SIGKILL');
    }
    const kept = child.output().split('\n').slice(0, -1).map(Number);
    const numbers = await numbersIn(await Outbox.open(folder.path, wallMs));
    // The last one may be there although nobody was told.
    expect(numbers.slice(0, kept.length)).toEqual(kept);
    expect(numbers.length - kept.length).toBeLessThanOrEqual(1);
  });

  it('has an entry that nothing may lose before the thread does anything else, however full it is', async () => {
    await using folder = await temporaryFolder();
    const outbox = await Outbox.open(folder.path, wallMs, { maxEntries: 0, maxBytes: 0 });
    const durable = outbox.appendAtOnce('opt-out', { number: 1 });
    expect(readdirSync(folder.path).filter(isEntryName)).toHaveLength(1);
    await durable;
    expect(outbox.size).toBe(1);
    const [name = ''] = await outbox.names();
    expect(await outbox.read(name)).toEqual({ kind: 'opt-out', body: { number: 1 } });
    await outbox.remove(name);
    expect(outbox.size).toBe(0);
  });

  it('has the entries of two containers that share the folder, in which the gateway has the same pid', async () => {
    await using folder = await temporaryFolder();
    const first = await Outbox.open(folder.path, () => 1_000);
    const second = await Outbox.open(folder.path, () => 1_000);
    await first.append('number', { number: 1 });
    await second.append('number', { number: 2 });
    expect(new Set(await numbersIn(second))).toEqual(new Set([1, 2]));
  });

  it('comes back after a restart with what it held, and forgets what was removed', async () => {
    await using folder = await temporaryFolder();
    const first = await Outbox.open(folder.path, wallMs);
    for (let number = 0; number < 3; number += 1) await first.append('number', { number });
    const second = await Outbox.open(folder.path, wallMs);
    expect(second.size).toBe(3);
    const [oldest = ''] = await second.names();
    expect(await second.read(oldest)).toEqual({ kind: 'number', body: { number: 0 } });
    await second.remove(oldest);
    expect(await numbersIn(second)).toEqual([1, 2]);
    expect(second.size).toBe(2);
  });

  it('does not give a damaged file out as an entry', async () => {
    await using folder = await temporaryFolder();
    const outbox = await Outbox.open(folder.path, wallMs);
    await outbox.append('number', { number: 1 });
    const [name = ''] = await outbox.names();
    const { length } = await readFile(join(folder.path, name));
    await truncate(join(folder.path, name), length - 1);
    expect(await outbox.read(name)).toBeUndefined();
    await outbox.reject(name, new Error('torn'));
    expect(await outbox.names()).toEqual([]);
    expect(await readFile(join(folder.path, 'rejected', `${name}.reason`), 'utf8')).toBe('torn\n');
  });

  it('refuses the newest when it is full, in entries or bytes, and takes again what fits', async () => {
    await using folder = await temporaryFolder();
    const outbox = await Outbox.open(folder.path, wallMs, { maxEntries: 2, maxBytes: 1_000 });
    await expect(outbox.append('big', 'x'.repeat(1_000))).rejects.toMatchObject({ code: 'OFFHOOK_OUTBOX_FULL' });
    const results = await Promise.allSettled([1, 2, 3].map((number) => outbox.append('number', { number })));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    const [oldest = ''] = await outbox.names();
    await outbox.remove(oldest);
    await outbox.append('number', { number: 4 });
    expect(await numbersIn(outbox)).toEqual([2, 4]);
  });

  it('goes on appending where another process takes out what it appended, and is full when that one does not', async () => {
    await using folder = await temporaryFolder();
    const open = (): Promise<Outbox> => Outbox.open(folder.path, wallMs, { maxEntries: 2, maxBytes: 1_000_000 });
    const [drained, other] = [await open(), await open()];
    for (let number = 0; number < 6; number += 1) {
      await drained.append('number', { number });
      for (const name of await other.names()) await other.remove(name);
    }
    await drained.append('number', { number: 6 });
    await drained.append('number', { number: 7 });
    await expect(drained.append('number', { number: 8 })).rejects.toMatchObject({ code: 'OFFHOOK_OUTBOX_FULL' });
    expect(await numbersIn(other)).toEqual([6, 7]);
  });

  it('says what the disk said and leaves nothing behind, on a device that is always full', async () => {
    await using folder = await temporaryFolder();
    const outbox = await Outbox.open(folder.path, wallMs);
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const failing = await Outbox.open(folder.path, wallMs, undefined, async (path, bytes) => {
      await writeFile(path, bytes.subarray(0, 10));
      throw full;
    });
    await expect(failing.append('number', { number: 1 })).rejects.toMatchObject({
      code: 'OFFHOOK_OUTBOX_WRITE',
      retryable: true,
      facts: { errno: 'ENOSPC' },
    });
    expect(await readdir(folder.path)).toEqual(['rejected']);
    expect([failing.size, outbox.size]).toEqual([0, 0]);
  });

  it('cannot be opened where nothing can be written', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'file');
    await writeFile(file, '');
    await chmod(file, 0o400);
    await expect(Outbox.open(join(file, 'outbox'), wallMs)).rejects.toMatchObject({ code: 'OFFHOOK_OUTBOX_WRITE' });
  });
});

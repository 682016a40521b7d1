import { appendFile, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { AuditLog } from '../../../../src/records/retention/audit-log.ts';
import { temporaryFolder } from '../../../support/databases.ts';

let path = '';
let log: AuditLog;

const openLog = (): AuditLog => new AuditLog(path, () => Date.UTC(2026, 0, 1));
const event = (subject: string) => ({ by: 'k', tenantId: 'default', action: 'look', subject, outcome: 'done' }) as const;
const lines = async (): Promise<string[]> => (await readFile(path, 'utf8')).split('\n').slice(0, -1);
const store = (each: readonly string[]): Promise<void> => writeFile(path, each.map((line) => `${line}\n`).join(''));
const faults = async (...kept: Parameters<AuditLog['verify']>) => (await openLog().verify(...kept)).faults;

beforeEach(async () => {
  const folder = await temporaryFolder();
  path = join(folder.path, 'audit.jsonl');
  log = openLog();
  return () => folder[Symbol.asyncDispose]();
});

describe('the chain of the audit log', () => {
  it('is sound as it was written, by one after the other and by many at once', async () => {
    await log.add(event('1'));
    await openLog().addAll([event('2'), event('3')]);
    const logs = [log, openLog(), openLog()];
    await Promise.all(Array.from({ length: 90 }, (_, index) => (logs[index % 3] ?? log).add(event(`${index}`))));
    expect(await openLog().verify()).toMatchObject({ entries: 93, faultCount: 0, head: { sequence: 93 }, uncoveredBytes: 0 });
  });

  test.each([
    {
      note: 'a line that was changed',
      change: (all: string[]) => all.map((line) => line.replace('"subject":"4"', '"subject":"x"')),
      found: [{ fault: 'changed', sequence: 4 }],
    },
    {
      note: 'a line whose text was changed and whose meaning was not',
      change: (all: string[]) => all.map((line, index) => (index === 3 ? line.replace('{', '{ ') : line)),
      found: [{ fault: 'changed', sequence: 4 }],
    },
    {
      note: 'a line that was removed',
      change: (all: string[]) => all.toSpliced(3, 1),
      found: [{ fault: 'missing', sequence: 4, toSequence: 4 }],
    },
    {
      note: 'the first lines, removed',
      change: (all: string[]) => all.slice(2),
      found: [{ fault: 'missing', sequence: 1, toSequence: 2 }],
    },
    {
      note: 'a line that was moved',
      change: (all: string[]) => [...all.slice(0, 3), ...all.slice(4, 6), all[3] ?? '', ...all.slice(6)],
      found: [{ fault: 'reordered', sequence: 4 }],
    },
    {
      note: 'a line that was made unreadable',
      change: (all: string[]) => all.with(3, 'x'),
      found: [
        { fault: 'added', sequence: 5 },
        { fault: 'missing', sequence: 4, toSequence: 4 },
      ],
    },
    {
      note: 'a line without a chain that was put between',
      change: (all: string[]) => all.toSpliced(3, 0, JSON.stringify({ at: '2026-01-01T00:00:00.000Z', ...event('forged') })),
      found: [{ fault: 'added', sequence: 4 }],
    },
    {
      note: 'lines that were cut off the end',
      change: (all: string[]) => all.slice(0, 6),
      found: [{ fault: 'missing', sequence: 7, toSequence: 8 }],
    },
  ])('it finds $note', async ({ change, found }) => {
    await log.addAll(Array.from({ length: 8 }, (_, index) => event(String(index + 1))));
    await store(change(await lines()));
    expect(await faults()).toEqual(found);
  });

  it('finds with a head from elsewhere that the end was cut off and the head beside the log set back', async () => {
    await log.addAll([event('1'), event('2')]);
    const headPath = join(path, '..', 'audit.head');
    const [earlier, ended] = [await readFile(headPath, 'utf8'), (await lines()).length];
    await log.addAll([event('3'), event('4')]);
    const kept = await log.head();
    if (kept === undefined) throw new Error('there is a head');
    await store((await lines()).slice(0, ended));
    await writeFile(headPath, earlier);
    expect(await faults()).toEqual([]);
    expect(await faults([kept])).toEqual([{ fault: 'missing', sequence: 3, toSequence: 4 }]);
    expect(await faults([{ hash: kept.hash }])).toEqual([{ fault: 'head-not-found', sequence: 2, hash: kept.hash }]);
    // Another process goes on with other entries: the log is as long as it was, and another one.
    await openLog().addAll([event('5'), event('6')]);
    expect(await faults()).toEqual([]);
    expect(await faults([kept])).toEqual([{ fault: 'replaced', sequence: 4 }]);
  });

  it('shows a cut even without its head, once the process that wrote the lines writes again', async () => {
    await log.addAll([event('1'), event('2'), event('3')]);
    await store((await lines()).slice(0, 1));
    await rm(join(path, '..', 'audit.head'));
    await log.add(event('4'));
    expect(await faults()).toEqual([{ fault: 'missing', sequence: 2, toSequence: 3 }]);
  });

  it('goes on after half a line of a killed process, and covers it', async () => {
    await log.addAll([event('1'), event('2')]);
    for (const cut of [1, 2, 40, 200]) {
      const before = (await readFile(path)).length;
      await openLog().add(event('cut'));
      await truncate(path, (await readFile(path)).length - cut);
      // As long as the head is not written, the line was not acknowledged.
      await rm(join(path, '..', 'audit.head'));
      const { faultCount, uncoveredBytes } = await openLog().verify();
      expect([faultCount, uncoveredBytes > 0]).toEqual([0, cut > 1]);
      await openLog().add(event('next'));
      expect(await faults()).toEqual([]);
      // What was covered is part of the chain.
      if (cut > 1) {
        const whole = await readFile(path);
        const changed = Buffer.from(whole);
        changed[before + 2] = 0x7e;
        await writeFile(path, changed);
        expect(await faults()).toMatchObject([{ fault: 'changed' }]);
        await writeFile(path, whole);
      }
    }
    expect((await openLog().page(() => true, { limit: 20 })).lines.map(({ subject }) => subject)).toEqual([
      'next',
      'next',
      'next',
      'next',
      'cut',
      '2',
      '1',
    ]);
  });

  it('covers the lines of an earlier version, which had no chain', async () => {
    const old = Array.from({ length: 3 }, (_, index) =>
      JSON.stringify({ at: '2025-01-01T00:00:00.000Z', ...event(`old ${index}`) }),
    );
    await store(old);
    await log.add(event('1'));
    // An earlier version that still runs beside it.
    await appendFile(path, `${old[0]}\n`);
    await log.add(event('2'));
    expect(await openLog().verify()).toMatchObject({ entries: 2, faultCount: 0, firstSequence: 1 });
    expect((await log.page(() => true, { limit: 9 })).lines).toHaveLength(6);
    await store((await lines()).with(1, JSON.stringify({ at: '2025-01-01T00:00:00.000Z', ...event('forged') })));
    expect(await faults()).toEqual([{ fault: 'changed', sequence: 1 }]);
  });

  it('goes on in a new file where the old one was moved away', async () => {
    await log.addAll([event('1'), event('2')]);
    const kept = await log.head();
    const older = join(path, '..', 'audit-2025.jsonl');
    await rename(path, older);
    await log.add(event('3'));
    await openLog().add(event('4'));
    expect(await openLog().verify()).toMatchObject({ entries: 2, faultCount: 0, firstSequence: 3, head: { sequence: 4 } });
    expect(await openLog().verify([kept ?? { hash: '' }], [older])).toMatchObject({
      entries: 4,
      faultCount: 0,
      firstSequence: 1,
    });
    // Without the old file nothing proves that what the head covered is still there.
    expect(await faults([kept ?? { hash: '' }])).toEqual([{ fault: 'missing', sequence: 1, toSequence: 2 }]);
    // The first lines of a file that was not moved away are missed.
    await store((await lines()).slice(1));
    expect(await faults()).toEqual([{ fault: 'missing', sequence: 1, toSequence: 3 }]);
  });

  it('takes no line of another log for its own', async () => {
    await log.addAll([event('1'), event('2')]);
    const own = await lines();
    const other = join(path, '..', 'other.jsonl');
    await new AuditLog(other, () => 0).addAll([event('1'), event('2')]);
    await store([own[0] ?? '', (await readFile(other, 'utf8')).split('\n')[1] ?? '']);
    expect(await faults()).toEqual([
      { fault: 'foreign', sequence: 2 },
      { fault: 'missing', sequence: 2, toSequence: 2 },
    ]);
  });
});

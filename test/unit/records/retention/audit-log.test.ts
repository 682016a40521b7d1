import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type AuditLine, AuditLog } from '../../../../src/records/retention/audit-log.ts';
import { temporaryFolder } from '../../../support/databases.ts';

const AT_MS = Date.UTC(2026, 0, 1);
let path = '';
let log: AuditLog;

beforeEach(async () => {
  const folder = await temporaryFolder();
  path = join(folder.path, 'audit.jsonl');
  log = new AuditLog(path, () => AT_MS);
  return () => folder[Symbol.asyncDispose]();
});

const event = (subject: string, by = 'k') => ({ by, tenantId: 'default', action: 'look', subject, outcome: 'done' }) as const;

/** Every page, one after the other. */
async function readAll(limit: number, wants: (line: AuditLine) => boolean = () => true): Promise<string[][]> {
  const pages: string[][] = [];
  let before: number | undefined;
  do {
    const page = await log.page(wants, { limit, before });
    pages.push(page.lines.map(({ subject }) => subject));
    before = page.before;
  } while (before !== undefined);
  return pages;
}

describe('the audit log', () => {
  it('is empty before its first entry', async () => {
    expect(await log.page(() => true, { limit: 5 })).toEqual({ lines: [], before: undefined });
  });

  it('reads its entries backwards, page by page', async () => {
    await log.addAll([event('1'), event('2')]);
    await log.add({ ...event('3'), atMs: AT_MS + 1000 });
    const { lines } = await log.page(() => true, { limit: 1 });
    expect(lines).toEqual([{ at: '2026-01-01T00:00:01.000Z', ...event('3') }]);
    expect(await readAll(2)).toEqual([['3', '2'], ['1']]);
    expect(await readAll(3)).toEqual([['3', '2', '1']]);
  });

  it('loses no entry where it is read in pieces, whatever their lengths', async () => {
    const subjects = Array.from({ length: 2_000 }, (_, index) => `${index} ${'हिन्दी'.repeat(index % 40)}`);
    await log.addAll(subjects.map((subject) => event(subject)));
    expect((await readAll(37)).flat()).toEqual(subjects.toReversed());
    const long = 'x'.repeat(200_000);
    await log.addAll([event(long), event('last')]);
    expect((await readAll(1_500)).flat()).toEqual(['last', long, ...subjects.toReversed()]);
  });

  it('gives a page early where what is wanted is rare, and goes on from there', async () => {
    const line = JSON.stringify({ at: '2026-01-01T00:00:00.000Z', ...event('x'.repeat(900)) });
    await log.add(event('first', 'rare'));
    await appendFile(path, `${line}\n`.repeat(6_000));
    const pages = await readAll(10, ({ by }) => by === 'rare');
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.flat()).toEqual(['first']);
  });

  it('leaves out lines that a crash cut short', async () => {
    await log.add(event('1'));
    await appendFile(path, '{"at":"2026');
    expect(await readAll(5)).toEqual([['1']]);
    await appendFile(path, '\n{"at":"later","format":"another"}\n\n');
    await log.add(event('2'));
    expect((await readAll(5)).flat()).toEqual(['2', '1']);
    await writeFile(path, '\n\n');
    expect((await readAll(5)).flat()).toEqual([]);
  });
});

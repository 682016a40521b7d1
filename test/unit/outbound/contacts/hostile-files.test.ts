import { gzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { readContactsFile } from '../../../../src/outbound/contacts/read-json-lines.ts';
import { thorough } from '../../../support/thorough.ts';
import { readConsents, readSuppressions } from '../../../../src/outbound/contacts/read-list.ts';

const NOW_MS = Date.UTC(2026, 5, 1);
const MIB = 1_048_576;
/** Of a file that is one large mistake. */
const FILE_BYTES = thorough(12, 120) * MIB;
const NUMBER = '+919876543210';
const HEADER = 'phone,name\n';

type Row = { readonly line: number; readonly reason?: string; readonly value?: string };
const readers = {
  contacts: (source: AsyncIterable<Uint8Array>) => readContactsFile(source, { tenantId: 'default' }),
  suppressions: (source: AsyncIterable<Uint8Array>) =>
    readSuppressions(source, { list: 'own', addedAtMs: 1, untilMs: undefined, source: 'test' }, { nowMs: NOW_MS }),
  consents: (source: AsyncIterable<Uint8Array>) => readConsents(source, { nowMs: NOW_MS }),
} as const;
const names = ['contacts', 'suppressions', 'consents'] as const;

async function* file(...parts: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === 'string' ? Buffer.from(part) : part;
}
async function* repeated(head: string, block: Buffer, bytes: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from(head);
  for (let sent = 0; sent < bytes; sent += block.length) yield block;
}
async function read(name: (typeof names)[number], source: AsyncIterable<Uint8Array>): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of readers[name](source)) rows.push(row);
  return rows;
}

describe.each(names)('a hostile file of %s', (name) => {
  it('loses one line to a cell as large as the file, and takes no memory for it', async () => {
    const before = process.memoryUsage().heapUsed;
    for (const start of [`${HEADER}${NUMBER},`, `${HEADER}${NUMBER},"`]) {
      const rows = await read(name, repeated(start, Buffer.alloc(65_536, 'x'), FILE_BYTES));
      expect(rows).toEqual([expect.objectContaining({ line: 2, reason: 'the line is longer than 65536 characters' })]);
    }
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * MIB);
  });

  it('is given up after too many bad rows where a quote is never closed', async () => {
    const source = repeated(`${HEADER}${NUMBER},"`, Buffer.from('aaaaaaa\n'.repeat(8192)), FILE_BYTES);
    let last: Row | undefined;
    const reading = (async () => {
      for await (const row of readers[name](source)) last = row;
    })();
    await expect(reading).rejects.toMatchObject({
      code: 'OFFHOOK_CONTACTS_FILE',
      message: expect.stringMatching(/more than 1000000 rows|more than 100000 rows are refused/u) as string,
    });
    expect(last?.reason).toBeDefined();
  });

  it('refuses a header of a million columns, or of more than can be columns', async () => {
    await expect(read(name, repeated('phone', Buffer.from(',c'.repeat(32_768)), 2 * MIB))).rejects.toThrow(
      'the line is longer than 65536',
    );
    await expect(read(name, file(`phone${',c'.repeat(5000)}\n${NUMBER}\n`))).rejects.toThrow('5001 columns, at most 100');
  });

  it('lets other work go on while a part is read', async () => {
    let turns = 0;
    let isReading = true;
    const turn = (): void => {
      turns += 1;
      if (isReading) setImmediate(turn);
    };
    setImmediate(turn);
    await read(name, file(HEADER, Buffer.from('a\n'.repeat(32_768))));
    isReading = false;
    expect(turns).toBeGreaterThanOrEqual(8);
  });

  test.each([
    { note: 'gzip', bytes: gzipSync(Buffer.alloc(MIB)), says: 'compressed' },
    { note: 'ZIP, as workbooks are', bytes: Buffer.from([0x50, 0x4b, 0x03, 0x04, 1, 2]), says: 'a workbook' },
    { note: 'UTF-32', bytes: Buffer.from([0xff, 0xfe, 0, 0, 0x70, 0, 0, 0]), says: 'not CSV' },
    { note: 'UTF-16 without a byte order mark', bytes: Buffer.from(HEADER, 'utf16le'), says: 'not readable text' },
    { note: 'NUL bytes', bytes: Buffer.from(`phone\0,name\n${NUMBER},a\n`), says: 'not readable text' },
    { note: 'bytes that are no UTF-8', bytes: Buffer.from([0x70, 0xff, 0xff, 0x2c, 0x61, 0x0a]), says: 'not readable text' },
  ])('is refused in one line where it is $note', async ({ bytes, says }) => {
    await expect(read(name, file(bytes))).rejects.toMatchObject({
      code: 'OFFHOOK_CONTACTS_FILE',
      message: expect.stringContaining(says) as string,
    });
  });

  it('loses single rows to NUL bytes and to bytes that are no text, at its end too', async () => {
    const rows = await read(
      name,
      file(`${HEADER}${NUMBER},\0\n${NUMBER},`, Buffer.from([0xff, 0x0a]), `${NUMBER},a`, Buffer.from([0xe0, 0xa4])),
    );
    expect(rows.map(({ line, reason }) => [line, reason])).toEqual([
      [2, 'column name has a control character'],
      [3, expect.stringContaining('bytes that are not text')],
      [4, expect.stringContaining('bytes that are not text')],
    ]);
  });

  test.each([
    { note: 'UTF-8', bytes: Buffer.from(`\uFEFF${HEADER}${NUMBER},a\n`) },
    { note: 'UTF-8 twice', bytes: Buffer.from(`\uFEFF\uFEFF${HEADER}${NUMBER},a\n`) },
    { note: 'UTF-16, little end first', bytes: Buffer.from(`\uFEFF${HEADER}${NUMBER},a\n`, 'utf16le') },
    { note: 'UTF-16, big end first', bytes: Buffer.from(`\uFEFF${HEADER}${NUMBER},a\n`, 'utf16le').swap16() },
  ])('finds its columns behind the byte order mark of $note', async ({ bytes }) => {
    const rows = await read(name, file(...Array.from(bytes, (byte) => Buffer.from([byte]))));
    expect(rows).toHaveLength(1);
    if (name !== 'consents') expect(rows[0]?.reason).toBeUndefined();
  });
});

describe('hostile JSON Lines', () => {
  it('lose one row to values nested deeper than the stack, and to thousands of members', async () => {
    const deep = `{"phone":${'['.repeat(30_000)}${']'.repeat(30_000)}}`;
    const wide = `{"phone":"${NUMBER}",${Array.from({ length: 5000 }, (_, at) => `"c${at}":1`).join(',')}}`;
    const rows = await read('contacts', file(`${deep}\n${wide}\n{"phone":"${NUMBER}"}\n`));
    expect(rows).toMatchObject([
      { line: 1, reason: expect.stringMatching(/neither text nor number|not an object/u), value: '[…]' },
      { line: 2, reason: 'the object has 5001 members, at most 100 are read' },
      { line: 3, kind: 'contact' },
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { readConsents, readMoment, readSuppressions } from '../../../src/outbound/contacts/read-list.ts';

const NOW_MS = Date.UTC(2026, 5, 1, 12);
const list = { list: 'own', addedAtMs: 5, untilMs: undefined, source: 'cli:root' };

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  // Cut anywhere, as a file is read.
  for (let from = 0; from < bytes.length; from += 7) yield bytes.subarray(from, from + 7);
}
const suppressed = async (text: string, defaultRegion?: string) => {
  const rows = [];
  for await (const row of readSuppressions(bytesOf(text), list, { defaultRegion, nowMs: NOW_MS })) rows.push(row);
  return rows;
};
const consented = async (text: string) => {
  const rows = [];
  for await (const row of readConsents(bytesOf(text), { nowMs: NOW_MS })) rows.push(row);
  return rows;
};

describe('lists of numbers not to call', () => {
  it('reads one number a line, and names every bad one', async () => {
    const rows = await suppressed('+91 98765 43210\n(212) 736-5000\nnobody\n\n+919876543210\n', 'US');
    expect(rows).toEqual([
      { line: 1, entry: { ...list, number: '+919876543210', note: undefined } },
      { line: 2, entry: { ...list, number: '+12127365000', note: undefined } },
      {
        line: 3,
        reason: 'not a telephone number',
        column: 'number',
        value: 'nobody',
        accepted: 'a telephone number with + and country code, such as +919876543210, or one of US without it',
      },
      { line: 5, entry: { ...list, number: '+919876543210', note: undefined } },
    ]);
  });

  it('takes a bad first number for a bad row, not for the name of a column', async () => {
    expect(await suppressed('12345678\n+919876543210\n')).toMatchObject([
      { line: 1, reason: expect.stringContaining('default region') },
      { line: 2, entry: { number: '+919876543210' } },
    ]);
  });

  it('reads CSV with end, date and note, whatever the order of its columns', async () => {
    const rows = await suppressed(
      'Note,Mobile,until,added at\n"asked, twice",+919876543210,2027-01-01,2026-03-01T10:00:00+05:30\n,+12127365000,soon,\n',
    );
    expect(rows).toEqual([
      {
        line: 2,
        entry: {
          ...list,
          number: '+919876543210',
          note: 'asked, twice',
          untilMs: Date.UTC(2027, 0, 1),
          addedAtMs: Date.UTC(2026, 2, 1, 4, 30),
        },
      },
      { line: 3, reason: expect.stringContaining('until is no date') },
    ]);
  });

  it('refuses a number that was added in the future', async () => {
    expect(await suppressed('phone,added_at\n+919876543210,2027-01-01\n+919876543210,1900-01-01\n')).toMatchObject([
      { line: 2, reason: 'added_at is in the future' },
      { line: 3, reason: expect.stringContaining('added_at is before 1990') },
    ]);
  });

  it('refuses a file without a column of numbers, and takes an empty one for an empty list', async () => {
    await expect(suppressed('name,street\nAsha,Main\n')).rejects.toThrow(/no column is called one of phone, .*name, street/u);
    await expect(suppressed('hello\nworld\n')).rejects.toMatchObject({ code: 'OFFHOOK_CONTACTS_FILE' });
    expect(await suppressed('')).toEqual([]);
  });
});

describe('lists of consents', () => {
  it('reads consents, gives the same facts the same id, and says what a row lacks', async () => {
    const header = 'phone,level,purposes,given_at,expires_at,evidence,registered_id,evidence_kind,evidence_source\n';
    const row = '+919876543210,written,service;promotional,2026-01-02,,https://example.com/f/1,R7,form,example.com\n';
    const good = ['+919876543210', 'express', 'service', '2026-01-02', '', 'form 17', '', 'form', 'web shop'];
    const bad = [
      [1, 'spoken', 'level has to be'],
      [2, 'sales', 'sales is no purpose'],
      [2, '', 'purposes names none'],
      [3, '', 'given_at is missing'],
      [3, '2026-06-03', 'given_at is in the future'],
      [3, '2026-06-01T12:06:00Z', 'given_at is in the future'],
      [3, '1989-12-31', 'given_at is before 1990'],
      [3, '0001-01-01', 'given_at is before 1990'],
      [4, '2026-01-01', 'expires_at is not after'],
      [5, '', 'evidence is missing'],
      [5, 'x', 'evidence is too short'],
      [5, '- xx -', 'evidence is too short'],
      [5, 'aaaaaaaa', 'evidence is too short'],
      [7, '', 'evidence_kind has to be one of form'],
      [7, 'dream', 'evidence_kind has to be one of form'],
      [8, '', 'evidence_source is missing'],
      [8, '.', 'evidence_source is missing'],
      [8, 's'.repeat(201), 'evidence_source is longer than 200'],
      [0, '12', 'not a telephone number'],
    ] as const;
    const [first, again, ...refused] = await consented(
      `${header}${row}${row}${bad.map(([column, cell]) => good.with(column, cell).join(',')).join('\n')}`,
    );
    expect(first).toMatchObject({
      line: 2,
      entry: {
        number: '+919876543210',
        level: 'written',
        purposes: ['promotional', 'service'],
        givenAtMs: Date.UTC(2026, 0, 2),
        evidence: 'https://example.com/f/1',
        evidenceKind: 'form',
        evidenceSource: 'example.com',
        registeredId: 'R7',
      },
    });
    expect(again).toEqual({ ...first, line: 3 });
    const reasons = refused.map((each) => ('reason' in each ? `${each.line} ${each.reason}` : each));
    expect(reasons).toHaveLength(bad.length);
    for (const [index, [, , words]] of bad.entries()) expect(reasons[index]).toMatch(new RegExp(`^${index + 4} ${words}`, 'u'));
  });

  it('takes today in every zone, and refuses spoken words as the proof of a written consent', async () => {
    const header = 'phone,level,purposes,given_at,evidence,evidence_kind,evidence_source\n';
    const rows = [
      '+919876543210,express,service,2026-06-02,form 17,form,web shop',
      '+919876543210,express,service,2026-06-01T12:03:00Z,call with Asha,verbal,branch Pune',
      '+919876543210,written,service,2026-06-01,call with Asha,verbal,branch Pune',
    ];
    expect(await consented(header + rows.join('\n'))).toMatchObject([
      { entry: { level: 'express' } },
      { entry: { evidenceKind: 'verbal' } },
      { line: 4, reason: expect.stringContaining('verbal proves no written consent') },
    ]);
  });

  it('wants a header', async () => {
    await expect(consented('+919876543210\n')).rejects.toThrow(/no column is called/u);
    await expect(consented('')).rejects.toThrow(/the file is empty/u);
  });
});

it.each([
  ['2026-03-31', Date.UTC(2026, 2, 31)],
  ['2026-03-31T18:00:00+05:30', Date.UTC(2026, 2, 31, 12, 30)],
  ['', undefined],
  [undefined, undefined],
  ['31.03.2026', 'when is no date: 2026-03-31, or a moment such as 2026-03-31T18:00:00+05:30, is expected'],
  ['2026-02-30', undefined],
])('reads the moment %s', (text, expected) => {
  if (text === '2026-02-30') expect(typeof readMoment(text, 'when')).toBe('string');
  else expect(readMoment(text, 'when')).toBe(expected);
});

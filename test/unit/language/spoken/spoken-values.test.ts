import { describe, expect, it } from 'vitest';
import { englishRows } from './english-rows.ts';
import { hindiRows } from './hindi-rows.ts';
import { saidAs, understood } from './spoken-values.ts';

const cases = [
  { language: 'en', rows: englishRows() },
  { language: 'hi', rows: hindiRows() },
] as const;

describe.each(cases)('spoken values in $language', ({ language, rows }) => {
  const context = { language, today: '2026-01-01' } as const;
  const distinct = new Map(rows.map((row) => [`${row.kind} ${row.text}`, row]));

  it('are two thousand and more', () => expect(distinct.size).toBeGreaterThanOrEqual(2000));

  it('are understood', () => {
    const wrong = rows.filter((row) => understood(row, context) !== row.value);
    expect(wrong.map((row) => `${row.text} → ${understood(row, context)}, not ${row.value}`)).toEqual([]);
  });

  it('are said, in the words of the table', () => {
    const wrong = rows.filter((row) => row.said && saidAs(row, context) !== row.text);
    expect(wrong.map((row) => `${row.value} → "${saidAs(row, context)}", not "${row.text}"`)).toEqual([]);
  });

  it('read back to the same value after being spoken', () => {
    const wrong = rows.filter((row) => understood({ ...row, text: saidAs(row, context) }, context) !== row.value);
    expect(wrong.map((row) => `${row.kind} ${row.value} → ${saidAs(row, context)}`)).toEqual([]);
  });
});

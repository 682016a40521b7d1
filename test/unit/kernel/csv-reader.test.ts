import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { CsvReader, type CsvRow } from '../../../src/kernel/csv-reader.ts';

function read(pieces: readonly string[], maxRowCharacters = 1000): CsvRow[] {
  const reader = new CsvReader(maxRowCharacters);
  return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()];
}

/** `line cell|cell`, or `line refused`. */
function told(text: string, maxRowCharacters?: number): string[] {
  return read([text], maxRowCharacters).map((row) => `${row.line} ${'cells' in row ? row.cells.join('|') : 'refused'}`);
}

describe('CsvReader', () => {
  test.each<[note: string, text: string, rows: string[]]>([
    ['plain rows', 'a,b\n1,2\n', ['1 a|b', '2 1|2']],
    ['no end of the last line', 'a,b\n1,2', ['1 a|b', '2 1|2']],
    ['a byte order mark and CRLF', '\uFEFFa,b\r\n1,2\r\n', ['1 a|b', '2 1|2']],
    ['carriage returns alone', 'a,b\r1,2\r', ['1 a|b', '2 1|2']],
    ['semicolons', 'a;b\n"1,5";2\n', ['1 a|b', '2 1,5|2']],
    ['tabs and empty cells', 'a\tb\n\t2\n', ['1 a|b', '2 |2']],
    [
      'quoted newlines, with the line where the row begins',
      'a,b\r\n1,"x\r\n\r\ny"\r\n2,z\r\n',
      ['1 a|b', '2 1|x\r\n\r\ny', '5 2|z'],
    ],
    ['quotes written twice', 'a\n"say ""hi"""\n', ['1 a', '2 say "hi"']],
    ['a quote inside an unquoted cell', 'a,b\n5" pipe,x\n', ['1 a|b', '2 5" pipe|x']],
    ['space around cells', 'a , b\n 1 , "2" \n', ['1 a|b', '2 1|2']],
    ['empty lines', '\n\na,b\n\n1,2\n', ['3 a|b', '5 1|2']],
    ['empty cells beyond the header', 'a,b\n1,2,,\n', ['1 a|b', '2 1|2']],
    ['nothing', '', []],
    ['too few and too many cells', 'a,b\n1\n1,2,3\n4,5\n', ['1 a|b', '2 refused', '3 refused', '4 4|5']],
    // One stray quote loses one line.
    ['a quote that is never closed', 'a,b\n1,"x\n2,y\n3,z\n', ['1 a|b', '2 refused', '3 2|y', '4 3|z']],
    ['a stray quote before a quoted cell', 'a,b\n1,"x\n2,"y"\n3,z\n', ['1 a|b', '2 refused', '3 2|y', '4 3|z']],
    ['text behind a quoted cell', 'a,b\n"x"y,1\n3,z\n', ['1 a|b', '2 refused', '3 3|z']],
  ])('reads %s', (_note, text, rows) => {
    expect(told(text)).toEqual(rows);
  });

  it('refuses a line that is too long and goes on, in bounded memory', () => {
    expect(told(`a,b\n1,${'x'.repeat(60)}\n2,y\n`, 50)).toEqual(['1 a|b', '2 refused', '3 2|y']);
    const pieces = ['a,b\n1,', ...Array.from({ length: 20 }, () => 'x'.repeat(40)), '\r', '\n2,y'];
    expect(read(pieces, 50)).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 2, reason: 'the line is longer than 50 characters' },
      { line: 3, cells: ['2', 'y'] },
    ]);
    expect(told(`a,b\n1,"open\n${'x'.repeat(60)}\n2,y\n`, 50)).toEqual(['1 a|b', '2 refused', '3 refused', '4 2|y']);
  });

  it('finds a stray quote out after five hundred lines, and has lost one of them', () => {
    const rows = Array.from({ length: 2000 }, (_, index) => `${index},x`);
    const found = told(`a,b\n-1,"x\n${rows.join('\n')}\n`, 1_000_000);
    expect(found).toHaveLength(2002);
    expect(found[1]).toBe('2 refused');
    expect(found[2]).toBe('3 0|x');
    expect(found.at(-1)).toBe('2002 1999|x');
  });

  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r\n', ';', ' ', 'ह', '😀') }).map((text) => text.trim());
  const table = fc
    .integer({ min: 1, max: 4 })
    .chain((columns) => fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 6 }));

  it('reads back every table that was written, wherever its text is cut', () => {
    fc.assert(
      fc.property(table, fc.constantFrom('\n', '\r\n'), fc.array(fc.nat({ max: 200 })), (rows, end, cuts) => {
        const header = (rows[0] ?? []).map((_, index) => `c${index}`);
        const lines = [header, ...rows].map((cells) => cells.map((each) => `"${each.replaceAll('"', '""')}"`).join(','));
        const text = lines.join(end);
        const at = [0, ...cuts.filter((cut) => cut < text.length).sort((one, other) => one - other), text.length];
        const pieces = at.slice(1).map((to, index) => text.slice(at[index], to));
        expect(read(pieces, 10_000).map((row) => ('cells' in row ? row.cells : row))).toEqual([header, ...rows]);
      }),
    );
  });

  it('names every line of any text at most once, in order, wherever it is cut', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' '), maxLength: 60 });
    fc.assert(
      fc.property(text, fc.nat({ max: 60 }), (whole, cut) => {
        const rows = read([whole]);
        expect(read([whole.slice(0, cut), whole.slice(cut)])).toEqual(rows);
        expect(read(whole.split(''))).toEqual(rows);
        const lines = rows.map(({ line }) => line);
        expect([...new Set(lines)].sort((one, other) => one - other)).toEqual(lines);
      }),
      { numRuns: 500 },
    );
  });
});

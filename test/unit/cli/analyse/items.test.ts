import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readList } from '../../../../src/cli/analyse/items.ts';
import { csvLines } from '../../../../src/records/analysis/table.ts';

async function rows(text: string | Buffer, column?: string) {
  const found = [];
  for await (const row of readList(Readable.from([text]), column)) found.push(row);
  return found;
}

describe('readList', () => {
  it('reads the recording from its column and the others as metadata', async () => {
    const text = '\uFEFFcampaign,Path,recorded_at,empty\r\nspring,"a, b.wav",2026-03-01T10:00:00Z,\r\n';
    expect(await rows(text)).toEqual([
      {
        line: 2,
        path: 'a, b.wav',
        recordedAtMs: Date.UTC(2026, 2, 1, 10),
        metadata: { campaign: 'spring', recorded_at: '2026-03-01T10:00:00Z' },
      },
    ]);
    expect(await rows('id;url\n7;https://example.com/a.mp3\n')).toMatchObject([
      { line: 2, path: 'https://example.com/a.mp3', metadata: { id: '7' } },
    ]);
    expect(await rows('id,where\n7,x.wav\n', 'where')).toMatchObject([{ path: 'x.wav' }]);
  });

  it('reports broken rows by line and goes on', async () => {
    const text = ['path,agent', 'a.wav,1', 'b.wav,2,3', ',4', 'c.wav,5', 'd.wav', '', 'e.wav,"x"'].join('\n');
    const found = await rows(text);
    const told = found.map((row) => [row.line, 'path' in row ? row.path : 'broken'] as const);
    expect(told.sort(([left], [right]) => left - right)).toEqual([
      [2, 'a.wav'],
      [3, 'broken'],
      [4, 'broken'],
      [5, 'c.wav'],
      [6, 'broken'],
      [8, 'e.wav'],
    ]);
  });

  it('reports each row when no column names a recording, or a time is invalid', async () => {
    expect(await rows('agent,x\n1,2\n')).toMatchObject([{ line: 2, reason: expect.stringContaining('path, file') as string }]);
    expect(await rows('path,recorded_at\na.wav,soon\n')).toMatchObject([
      { line: 2, reason: expect.stringContaining('soon') as string },
    ]);
  });

  it('reads every written cell back, with formulas made harmless', async () => {
    const cell = fc
      .string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r\n', ';', '=', '+', '-', '@', 'ह', ' ', '1') })
      .map((text) => text.trim());
    await fc.assert(
      fc.asyncProperty(fc.array(cell, { minLength: 1, maxLength: 5 }), async (cells) => {
        const columns = cells.map((_, index) => `c${index}`);
        const text = csvLines([
          ['path', ...columns],
          ['x.wav', ...cells],
        ]);
        expect(text.endsWith('\r\n')).toBe(true);
        const [row] = await rows(text);
        const metadata = (row as { metadata: Record<string, string> }).metadata;
        cells.forEach((cell, index) => {
          const back = metadata[`c${index}`] ?? '';
          expect(back === cell || back === `'${cell}`).toBe(true);
          expect(/^[=+@]/.test(back) || (back.startsWith('-') && !/^-?\d+$/.test(back))).toBe(false);
        });
      }),
    );
  });
});

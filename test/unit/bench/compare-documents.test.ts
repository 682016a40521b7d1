import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareDocuments } from '../../../bench/compare-documents.ts';
import { spread } from '../../../bench/document.ts';

describe('compareDocuments', () => {
  it('compares numbers by name, and tells ranges that do not touch', () => {
    const before = { machine: 'm', helpMs: { median: 300, least: 290, most: 320, n: 5 }, calls: 800, rows: [{ cpu: 1 }] };
    const after = { machine: 'm', helpMs: { median: 150, least: 140, most: 289, n: 5 }, calls: null, holes: 0 };
    expect(compareDocuments(before, after)).toEqual([
      { measure: 'helpMs', before: 300, after: 150, ratio: 0.5, apart: true },
      { measure: 'calls', before: 800, after: null, ratio: null, apart: null },
      { measure: 'holes', before: null, after: 0, ratio: null, apart: null },
    ]);
  });

  it('finds no difference between a document and itself', () => {
    const numbers = fc.array(fc.integer({ min: -1_000, max: 1_000 }), { minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), numbers), (lists) => {
        const document = Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, spread(list)]));
        for (const { before, after, ratio, apart } of compareDocuments(document, document)) {
          expect(after).toBe(before);
          expect(ratio === null || ratio === 1).toBe(true);
          expect(apart).toBe(false);
        }
      }),
    );
  });
});

describe('spread', () => {
  it('names a middle that was measured, between the least and the most', () => {
    expect(spread([])).toBeNull();
    expect(spread([3, 1, 2])).toEqual({ median: 2, least: 1, most: 3, n: 3 });
    expect(spread([4, 1, 2, 3])).toEqual({ median: 2, least: 1, most: 4, n: 4 });
  });
});

import { describe, expect, it } from 'vitest';
import { pairTable } from '../../../src/kernel/pair-table.ts';

describe('a table of pairs', () => {
  it('has the entries in their order, with empty values, and = as a key', () => {
    expect([...pairTable(' a=b  c=\n ==equals x=y=z ')]).toEqual([
      ['a', 'b'],
      ['c', ''],
      ['=', 'equals'],
      ['x', 'y=z'],
    ]);
  });

  it('may have values with blanks between other separators', () => {
    expect([...pairTable('ht=Haitian Creole,\n  hi=Hindi,', ',')]).toEqual([
      ['ht', 'Haitian Creole'],
      ['hi', 'Hindi'],
    ]);
  });

  it.each(['a', 'a=b a=c', '=b'])('refuses %s', (text) => expect(() => pairTable(text)).toThrow(RangeError));
});

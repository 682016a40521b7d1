import fc from 'fast-check';
import { expect, it } from 'vitest';
import { storable } from '../../../src/records/record.ts';

it('leaves well-formed values as they are', () => {
  const value = { a: ['ü🙂', 1, null, { b: true }], c: undefined };
  expect(storable(value)).toEqual(value);
});

it('leaves nothing that Postgres refuses, in keys and values alike, and changes no length', () => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(fc.array(fc.oneof(text, fc.constantFrom('\0', '\uD83D', '\uDE42', '\uD83D\uDE42'))), (parts) => {
      const joined = parts.join('');
      const clean = storable({ [joined]: [joined] });
      const json = JSON.stringify(clean);
      expect(json).not.toMatch(/\\u0000|\\ud[89a-f]/i);
      expect(Object.keys(clean as object)[0]).toHaveLength(joined.length);
    }),
  );
});

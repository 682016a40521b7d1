import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeJobId, encodeJobId } from '../../../../src/records/queue/bull-backend.ts';
import { entryName, isEntryName, packEntry, unpackEntry } from '../../../../src/records/outbox/outbox.ts';

describe('an outbox entry', () => {
  const entry = fc.record({ kind: fc.string(), body: fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value))) });

  it('comes back as it was packed', () => {
    fc.assert(
      fc.property(entry, (given) => {
        expect(unpackEntry(packEntry(given))).toEqual(given);
      }),
    );
  });

  it('is not taken for whole when any end of it is missing or any byte is another', () => {
    fc.assert(
      fc.property(entry, fc.nat(), fc.integer({ min: 1, max: 255 }), (given, place, change) => {
        const bytes = packEntry(given);
        expect(unpackEntry(bytes.subarray(0, place % bytes.length))).toBeUndefined();
        const changed = Uint8Array.from(bytes);
        changed[place % bytes.length]! ^= change;
        // Bytes that are no UTF-8 all read as U+FFFD: two such texts may be the same, and then so is what they say.
        const found = unpackEntry(changed);
        if (found !== undefined) expect(found).toEqual(given);
      }),
    );
  });

  it('has a name that sorts by time, then by order', () => {
    const names = [
      entryName(9, 5, 10),
      entryName(10, 5, 0),
      entryName(10, 5, 2),
      entryName(10, 5, 11),
      entryName(1_800_000_000_000, 4_194_304, 1),
    ];
    expect(names.toSorted()).toEqual(names);
    expect(names.every(isEntryName)).toBe(true);
    expect([`.${names[0]}`, 'rejected', `${names[0]}.reason`].some(isEntryName)).toBe(false);
  });
});

describe('a job id', () => {
  it('comes back from its encoded form, which BullMQ accepts, and stays apart from every other', () => {
    // A grapheme may be several characters, and each of those twelve once it is written so.
    const id = fc
      .string({ minLength: 1, maxLength: 20, unit: 'grapheme' })
      .filter((text) => encodeURIComponent(text).length <= 198);
    fc.assert(
      fc.property(id, id, (one, other) => {
        const encoded = encodeJobId(one);
        expect(decodeJobId(encoded)).toBe(one);
        expect(encoded).not.toContain(':');
        expect(`${Number.parseInt(encoded, 10)}`).not.toBe(encoded);
        expect(encodeJobId(other) === encoded).toBe(one === other);
      }),
    );
  });

  it('is refused empty or too long', () => {
    expect(() => encodeJobId('')).toThrow(TypeError);
    expect(() => encodeJobId('x'.repeat(199))).toThrow(TypeError);
  });
});

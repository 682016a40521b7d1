import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64Length, decodeBase64Into, encodeBase64Into } from '../../../src/carriers/base64.ts';

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'.split('');
const digitCodes = new Set(digits.map((digit) => digit.charCodeAt(0)));
const foreign = Array.from({ length: 256 }, (_, code) => code).filter((code) => !digitCodes.has(code));
const bytes = fc.uint8Array({ maxLength: 400 });
/** Texts of nothing but digits, the bits behind the last whole byte included; never one of a length that is none. */
const digitTexts = fc
  .string({ unit: fc.constantFrom(...digits), maxLength: 400 })
  .map((text) => (text.length % 4 === 1 ? text.slice(1) : text));

/** Decodes a text that stands among others, and checks that nothing is written behind what it can give. */
function decoded(text: string | Uint8Array, before = 'AA=', after = 'A='): Uint8Array | undefined {
  const data = Buffer.concat([Buffer.from(before), Buffer.from(text as string), Buffer.from(after)]);
  const most = Math.floor((text.length * 3) / 4);
  const out = new Uint8Array(most + 8).fill(0xa5);
  const length = decodeBase64Into(data, before.length, data.length - after.length, out);
  expect(out.subarray(most).every((byte) => byte === 0xa5)).toBe(true);
  if (length === -1) return undefined;
  expect(out.subarray(length).every((byte) => byte === 0xa5)).toBe(true);
  return out.subarray(0, length);
}

describe('base64 in bytes', () => {
  it('gives back any bytes, with padding and without, wherever it stands', () => {
    fc.assert(
      fc.property(bytes, fc.string(), fc.string(), (given, before, after) => {
        const text = Buffer.from(given).toString('base64');
        const [ahead, behind] = [before, after].map((one) =>
          Buffer.from(one)
            .toString('latin1')
            .replaceAll(/[^ -~]/g, '='),
        );
        expect([...decoded(text, ahead, behind)!]).toEqual([...given]);
        expect([...decoded(text.replaceAll('=', ''), ahead, behind)!]).toEqual([...given]);
      }),
    );
  });

  it('reads any digits as Buffer does', () => {
    fc.assert(
      fc.property(digitTexts, (text) => {
        expect([...decoded(text)!]).toEqual([...Buffer.from(text, 'base64')]);
      }),
    );
  });

  it('tells each foreign byte from a digit, at every place of a group', () => {
    for (let at = 0; at < 7; at += 1) {
      const accepted = foreign.filter((code) => {
        const text = Buffer.alloc(7, '/');
        text[at] = code;
        return decodeBase64Into(text, 0, 7, new Uint8Array(5)) !== -1;
      });
      expect(accepted).toEqual([]);
    }
  });

  it('refuses every text with a foreign byte, however long', () => {
    fc.assert(
      fc.property(digitTexts, fc.nat(), fc.constantFrom(...foreign), (text, place, code) => {
        const at = place % (text.length + 1);
        const given = Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.of(code), Buffer.from(text.slice(at))]);
        const isPadding = code === 0x3d && at === text.length && given.length % 4 === 0;
        expect(decoded(given) === undefined).toBe(!isPadding);
      }),
    );
  });

  it.each([
    '=',
    '==',
    '===',
    '====',
    'A',
    'A=',
    'A==',
    'A===',
    'AA=',
    'AAA==',
    'AAAA=',
    'AAAA==',
    'AAAA====',
    'AA==AAAA',
    'AAAAA',
  ])('refuses "%s"', (text) => expect(decoded(text)).toBeUndefined());

  it('makes nothing of no text', () => expect(decoded('')).toHaveLength(0));

  it('throws for a place outside the text, and for too little room', () => {
    const text = Buffer.from('AAAAAAAA');
    expect(decodeBase64Into(text, 0, 8, new Uint8Array(6))).toBe(6);
    expect(() => decodeBase64Into(text, 0, 8, new Uint8Array(5))).toThrow(RangeError);
    expect(() => decodeBase64Into(text, 0, 7, new Uint8Array(4))).toThrow(RangeError);
    expect(() => decodeBase64Into(text, 4, 9, new Uint8Array(6))).toThrow(RangeError);
    expect(() => decodeBase64Into(text, 5, 4, new Uint8Array(6))).toThrow(RangeError);
    expect(() => decodeBase64Into(text, -1, 4, new Uint8Array(6))).toThrow(RangeError);
  });

  it('is written as Buffer writes it, where it is asked for and nowhere else', () => {
    fc.assert(
      fc.property(bytes, fc.nat(20), (given, at) => {
        const out = Buffer.alloc(at + base64Length(given.length) + 5, '.');
        const end = encodeBase64Into(given, out, at);
        expect(out.toString()).toBe(`${'.'.repeat(at)}${Buffer.from(given).toString('base64')}.....`);
        expect(end).toBe(out.length - 5);
      }),
    );
  });

  it('refuses to be written where there is no room for all of it', () => {
    expect(() => encodeBase64Into(new Uint8Array(4), new Uint8Array(9), 2)).toThrow('out holds 9 bytes, 10 are needed');
  });
});

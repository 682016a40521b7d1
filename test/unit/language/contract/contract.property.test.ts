import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkHolds } from '../../../../src/language/understand/check-digits.ts';
import { answerContract, type AnswerContract } from '../../../../src/language/contract/contract.ts';
import { contractHints } from '../../../../src/language/contract/hints.ts';
import { readAnswer, readParts } from '../../../../src/language/contract/read-answer.ts';
import type { AnswerPart } from '../../../../src/language/contract/reading.ts';
import { sayAnswer } from '../../../../src/language/contract/say-answer.ts';
import { addDays } from '../../../../src/language/understand/calendar.ts';
import { englishRows } from '../spoken/english-rows.ts';
import { hindiRows } from '../spoken/hindi-rows.ts';

const TODAY = '2026-01-01';
const language = fc.constantFrom('en' as const, 'hi' as const);
const digits = (least: number, most = least) => fc.stringMatching(new RegExp(`^[0-9]{${least},${most}}$`));
const contracts: readonly AnswerContract[] = [
  { kind: 'digits', length: 6 },
  { kind: 'digits', least: 2, most: 9, check: 'luhn' },
  { kind: 'phone', region: 'IN' },
  { kind: 'phone', region: 'US' },
  { kind: 'date' },
  { kind: 'date', year: true, tense: 'past' },
  { kind: 'time' },
  { kind: 'money', currency: 'INR' },
  { kind: 'money', currency: 'USD' },
  { kind: 'yes-no' },
  { kind: 'name', least: 2 },
  { kind: 'email' },
  { kind: 'code', pattern: 'AAX-99/0X' },
  { kind: 'choice', options: [{ name: 'one', phrases: ['the first'], key: '1' }] },
  { kind: 'card' },
  { kind: 'otp', length: 6 },
];
const contract = fc.constantFrom(...contracts);
/** Words that mean something to one kind or another, in any order, and anything else. */
const word = fc.oneof(
  fc.constantFrom(...[...englishRows(), ...hindiRows()].flatMap(({ text }, index) => (index % 7 === 0 ? text.split(' ') : []))),
  fc.string({ maxLength: 8 }),
);
const text = fc.array(word, { maxLength: 12 }).map((words) => words.join(' '));
const part: fc.Arbitrary<AnswerPart> = fc.oneof(
  text.map((said) => ({ by: 'voice' as const, text: said })),
  fc.stringMatching(/^[0-9*#]{1,8}$/).map((keys) => ({ by: 'keys' as const, keys })),
);

describe('a value that is said back', () => {
  it.each([
    ['digits', digits(1, 16), (value: string): AnswerContract => ({ kind: 'digits', length: value.length })],
    [
      'phone',
      fc.tuple(fc.constantFrom('6', '7', '8', '9'), digits(9)).map(([first, rest]) => `+91${first}${rest}`),
      (): AnswerContract => ({ kind: 'phone', region: 'IN' }),
    ],
    [
      'date',
      fc.integer({ min: 0, max: 50_000 }).map((ahead) => addDays('1940-01-01', ahead)),
      (): AnswerContract => ({ kind: 'date', year: true }),
    ],
    [
      'money',
      fc.integer({ min: 0, max: 1e13 }).map((minor) => `${Math.floor(minor / 100)}.${String(minor % 100).padStart(2, '0')}`),
      (): AnswerContract => ({ kind: 'money', currency: 'INR' }),
    ],
    [
      'time',
      fc
        .integer({ min: 0, max: 1439 })
        .map((minute) => `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`),
      (): AnswerContract => ({ kind: 'time' }),
    ],
    ['code', fc.stringMatching(/^[A-Z]{3}[0-9]{4}$/), (): AnswerContract => ({ kind: 'code', pattern: 'AAA9999' })],
    [
      'email',
      fc.stringMatching(/^[a-z]{2,8}([._-][a-z]{1,6}[0-9]{0,3})?@[a-z]{3,8}\.(com|co\.in|org)$/),
      (): AnswerContract => ({ kind: 'email' }),
    ],
  ] as const)('is read as it was: %s', (_kind, values, contractOf) => {
    fc.assert(
      fc.property(
        values as fc.Arbitrary<string>,
        language,
        fc.constantFrom('whole', 'grouped', 'spelled'),
        (value, spokenIn, level) => {
          const context = { language: spokenIn, today: TODAY } as const;
          const given = contractOf(value);
          const said = sayAnswer(given, value, context, level);
          expect({ said, reading: readAnswer(given, context, said) }).toMatchObject({ reading: { status: 'complete', value } });
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('reading', () => {
  it('never throws, and is complete only with a value that would be read again', () => {
    fc.assert(
      fc.property(contract, language, fc.array(part, { maxLength: 4 }), (given, spokenIn, parts) => {
        const context = { language: spokenIn, today: TODAY } as const;
        const reading = readParts(given, context, parts);
        if (reading.status === 'complete') expect(reading.value).not.toBe('');
        if (reading.status === 'incomplete' && reading.missing !== undefined) expect(reading.missing).toBeGreaterThan(0);
        if (reading.status === 'ambiguous') expect(reading.values.length).toBeGreaterThan(1);
      }),
      { numRuns: 600 },
    );
  });

  it('counts the missing digits, however words and keys are cut', () => {
    fc.assert(
      fc.property(
        digits(8),
        language,
        fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.boolean()), { minLength: 8, maxLength: 8 }),
        (value, spokenIn, cuts) => {
          const context = { language: spokenIn, today: TODAY } as const;
          const parts: AnswerPart[] = [];
          let from = 0;
          for (const [length, typed] of cuts) {
            if (from >= value.length) break;
            const piece = value.slice(from, from + length);
            from += piece.length;
            parts.push(
              typed ? { by: 'keys', keys: piece } : { by: 'voice', text: sayAnswer({ kind: 'digits' }, piece, context) },
            );
            const reading = readParts({ kind: 'digits', length: 8 }, context, parts);
            if (from < 8)
              expect(reading).toEqual({ status: 'incomplete', soFar: value.slice(0, from), missing: 8 - from, begun: true });
            else expect(reading).toEqual({ status: 'complete', value, more: 'no' });
          }
        },
      ),
    );
  });
});

describe('check digits', () => {
  const withLuhn = digits(15).map(
    (body) => `${body}${'0123456789'.split('').find((digit) => checkHolds('luhn', body + digit))!}`,
  );
  const withVerhoeff = digits(11).map(
    (body) => `${body}${'0123456789'.split('').find((digit) => checkHolds('verhoeff', body + digit))!}`,
  );

  it.each([
    ['luhn', '4111111111111111'],
    ['luhn', '79927398713'],
    ['verhoeff', '2363'],
    ['verhoeff', '123451'],
    ['mod97', 'GB82WEST12345698765432'],
    ['mod11', '0306406152'],
    ['mod11', '080442957X'],
  ] as const)('hold: %s %s', (kind, value) => expect(checkHolds(kind, value)).toBe(true));

  it('detect one wrong digit, and Verhoeff detects two swapped digits', () => {
    fc.assert(
      fc.property(withLuhn, withVerhoeff, fc.nat(11), fc.integer({ min: 1, max: 9 }), (luhn, verhoeff, place, added) => {
        const wrong = (value: string): string =>
          value.slice(0, place) + ((Number(value[place]) + added) % 10) + value.slice(place + 1);
        expect([checkHolds('luhn', wrong(luhn)), checkHolds('verhoeff', wrong(verhoeff))]).toEqual([false, false]);
        const [left, right] = [verhoeff[place]!, verhoeff[place + 1] ?? verhoeff[place]!];
        const swapped = verhoeff.slice(0, place) + right + left + verhoeff.slice(place + 2);
        if (left !== right && swapped.length === verhoeff.length) expect(checkHolds('verhoeff', swapped)).toBe(false);
      }),
    );
  });
});

it('accepts valid contracts of a dialog, and refuses others', () => {
  for (const given of contracts) expect(answerContract.parse(given)).toEqual(given);
  for (const given of [
    { kind: 'digits', least: 4, most: 2 },
    { kind: 'phone', region: 'XX' },
    { kind: 'code', pattern: '---' },
    { kind: 'code', pattern: 'abc' },
    { kind: 'choice', options: [] },
    { kind: 'nothing' },
  ]) {
    expect(answerContract.safeParse(given).success).toBe(false);
  }
  for (const given of contracts)
    for (const spokenIn of ['en', 'hi'] as const) expect(contractHints(given, spokenIn).length).toBeLessThanOrEqual(10);
});

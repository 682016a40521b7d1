import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AnswerContract } from '../../../../src/language/contract/contract.ts';
import { readAnswer } from '../../../../src/language/contract/read-answer.ts';
import { digitRuns } from '../../../../src/language/understand/digits.ts';
import { findMoney, moneyWords } from '../../../../src/language/understand/money.ts';
import { readName } from '../../../../src/language/understand/name.ts';
import { plainText } from '../../../../src/language/understand/tokens.ts';

afterEach(() => vi.restoreAllMocks());

/** How often words are looked at. */
function looksAt(words: readonly string[], read: (tokens: readonly string[]) => unknown): number {
  let looks = 0;
  read(
    new Proxy(words, {
      get(target, name, receiver): unknown {
        if (typeof name === 'string' && /^\d+$/u.test(name)) looks += 1;
        return Reflect.get(target, name, receiver);
      },
    }),
  );
  return looks;
}

/** How many characters are brought into one spelling. */
function charactersOf(run: () => unknown): number {
  let characters = 0;
  const normalize = Object.getOwnPropertyDescriptor(String.prototype, 'normalize')?.value as (form?: string) => string;
  vi.spyOn(String.prototype, 'normalize').mockImplementation(function (this: string, form?: string) {
    characters += this.length;
    return normalize.call(this, form);
  });
  run();
  vi.restoreAllMocks();
  return characters;
}

const PATTERNS = [
  'one two three four five six seven eight nine oh',
  'nine',
  'five or six or',
  'five hundred and',
  'two lakh fifty thousand three hundred and',
  'change it from fifty to sixty',
  'five rupees one two three four five',
  'rupees five',
  'double',
  'double two',
  'ten point five',
  'twelve million million',
  'and and and',
  '99999999999999',
  'साढ़े तीन लाख',
] as const;
const many = (pattern: string, words: number): string => `${pattern} `.repeat(Math.ceil(words / pattern.split(' ').length));

describe('reading twice as many words takes twice the work', () => {
  it.each(PATTERNS)('for an amount of money: %s', (pattern) => {
    for (const currency of ['INR', 'USD'] as const) {
      const work = (words: number) => looksAt(moneyWords(many(pattern, words)), (tokens) => findMoney(tokens, currency));
      expect(work(4_000)).toBeLessThan(2.2 * work(2_000) + 100);
    }
  });

  it.each(PATTERNS)('for digits: %s', (pattern) => {
    const work = (words: number) => looksAt(moneyWords(many(pattern, words)), digitRuns);
    expect(work(4_000)).toBeLessThan(2.2 * work(2_000) + 100);
  });

  it.each(['a b c', 'j for jaipur', 'double', 'ravi', 'my name is', 'bee o brien', 'b', "b o'brien", 'jay bee'])(
    'for a name: %s',
    (pattern) => {
      const work = (words: number) => charactersOf(() => readName(many(pattern, words)));
      expect(work(4_000)).toBeLessThan(2.2 * work(2_000) + 100);
    },
  );
});

it('ignores a number that is too large for money, and reads the amount after it', () => {
  const read = (text: string) => findMoney(moneyWords(text), 'USD').minor;
  const digits = Array.from({ length: 20 }, () => 'nine').join(' ');
  expect([read(digits), read(`${digits} no five dollars`)]).toEqual([[], [500]]);
});

it('removes the commas of long numbers, but not of an endless list', () => {
  expect(plainText('1,25,000 and 12,34,56,78,901')).toBe('125000 and 12345678901');
  const list = `${'11,'.repeat(200_000)}11`;
  expect(plainText(list)).toBe(list);
});

it.each<AnswerContract>([
  { kind: 'money', currency: 'INR' },
  { kind: 'name' },
  { kind: 'digits', most: 8 },
  { kind: 'phone', region: 'IN' },
  { kind: 'yes-no' },
  { kind: 'date' },
  { kind: 'time' },
  { kind: 'email' },
  { kind: 'code', pattern: 'AA99' },
] as AnswerContract[])('looks at no more of a text of four million characters than of its end: $kind', (contract) => {
  const context = { language: 'en', today: '2026-01-05', order: 'day-first' } as never;
  const work = (words: number) => charactersOf(() => readAnswer(contract, context, many('five rupees a b c', words)));
  expect(work(1_000_000)).toBe(work(10_000));
});

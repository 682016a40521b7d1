import { describe, expect, it } from 'vitest';
import { type Currency, findMoney, moneyWords } from '../../../../src/language/understand/money.ts';

function amounts(text: string, currency: Currency = 'USD'): readonly number[] {
  return findMoney(moneyWords(text), currency).minor.map((minor) => minor / 100);
}

describe('money', () => {
  it.each([
    ['a quarter million', 250_000],
    ['a quarter of a million dollars', 250_000],
    ['half a million', 500_000],
    ['three quarters of a million', 750_000],
    ['a million and a half', 1_500_000],
    ['two and a half thousand', 2_500],
    ['two and a quarter million', 2_250_000],
    ['one and three quarter million', 1_750_000],
    ['two and a quarter dollars', 2.25],
  ])('is read with its fractions: "%s" is %d', (text, value) => expect(amounts(text)).toEqual([value]));

  it.each([
    ['five grand', 5_000],
    ['two and a half grand', 2_500],
    ['twenty five grand', 25_000],
    ['half a grand', 500],
    ['five grand and fifty dollars', 5_050],
  ])('is read in grands: "%s" is %d', (text, value) => expect(amounts(text)).toEqual([value]));

  it.each([
    ["that's grand", 'USD'],
    ['a couple hundred', 'USD'],
    ['a few thousand dollars', 'USD'],
    ['a couple of thousand', 'USD'],
    ['a quarter', 'USD'],
    ['कुछ हज़ार रुपये', 'INR'],
  ] as const)('is no certain amount in "%s"', (text, currency) => expect(amounts(text, currency)).toEqual([]));

  it.each([
    ['five hundred or six hundred dollars', 'USD', [500, 600]],
    ['fifty to a hundred dollars', 'USD', [50, 100]],
    ['पाँच सौ या छह सौ रुपये', 'INR', [500, 600]],
    ['fifty dollars, no, to be sure sixty', 'USD', [60]],
    ['five hundred or five hundred', 'USD', [500]],
    ['I want to pay fifty', 'USD', [50]],
    ['change it from five hundred to six hundred', 'USD', [600]],
  ] as const)('is one of several in "%s", unless the caller corrects it', (text, currency, values) =>
    expect(amounts(text, currency)).toEqual(values),
  );
});

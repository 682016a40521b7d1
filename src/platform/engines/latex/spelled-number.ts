import { z } from 'zod';

const words = (count: number) => z.array(z.string().min(1)).length(count);

/** The words of a language's numbers (config/platform/mathematics/numbers). */
export const numberWordsSchema = z.object({
  language: z.string(),
  /** Where they were taken from; absent: written for Offhook. */
  source: z.string().optional(),
  /** Whether a speaker of the language has checked them. */
  reviewed: z.boolean(),
  /** 0 to 99. */
  below100: words(100),
  /** 100 to 900, with nothing after them. */
  hundreds: words(9),
  /** The same before more, where that differs. */
  hundredsBefore: words(9).optional(),
  /** Thousand, lakh and crore, which follow their number. */
  scales: z.array(z.object({ value: z.number(), say: z.string(), before: z.string().optional() })).length(3),
});

export type NumberWords = z.infer<typeof numberWordsSchema>;

/** Longer ones are read digit by digit. */
const MOST_DIGITS = 15;

/**
 * Spells a numeral: `12,345.6` as a number with its decimals digit by digit, `007` digit by digit.
 * @param numeral ASCII digits, with commas between groups and a decimal point
 * @param point the word of the decimal point
 */
export function spelledNumber(numeral: string, table: NumberWords, point: string): string {
  const [whole = '', decimals] = numeral.replaceAll(',', '').split('.');
  const digits = (text: string): string => Array.from(text, (digit) => table.below100[Number(digit)]).join(' ');
  const asDigits = whole.length > MOST_DIGITS || /^0\d/u.test(whole);
  const spelled = whole === '' || asDigits ? digits(whole || '0') : spelledWhole(Number(whole), table);
  return decimals === undefined || decimals === '' ? spelled : `${spelled} ${point} ${digits(decimals)}`;
}

function spelledWhole(value: number, table: NumberWords): string {
  if (value < 100) return table.below100[value] ?? '';
  const scale = table.scales.findLast((each) => each.value <= value);
  if (scale === undefined) {
    const rest = value % 100;
    const hundreds = rest === 0 ? table.hundreds : (table.hundredsBefore ?? table.hundreds);
    return joined(hundreds[Math.floor(value / 100) - 1] ?? '', rest, table);
  }
  const rest = value % scale.value;
  const name = rest === 0 ? scale.say : (scale.before ?? scale.say);
  return joined(`${spelledWhole(Math.floor(value / scale.value), table)} ${name}`, rest, table);
}

function joined(head: string, rest: number, table: NumberWords): string {
  return rest === 0 ? head : `${head} ${spelledWhole(rest, table)}`;
}

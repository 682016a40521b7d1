import { z } from 'zod';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const words = (count: number) => z.array(z.string().min(1)).length(count);

/** The words of a language's numbers (config/platform/mathematics/numbers). */
const numberWordsSchema = z.object({
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

type NumberWords = z.infer<typeof numberWordsSchema>;

/** Longer ones are read digit by digit. */
const MOST_DIGITS = 15;

/**
 * Spells a numeral: `12,345.6` as a number with its decimals digit by digit, `007` digit by digit.
 * @param numeral ASCII digits, with commas between groups and a decimal point
 * @param point the word of the decimal point
 */
function spelledNumber(numeral: string, table: NumberWords, point: string): string {
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

// The words of mathematics in a language: config/platform/mathematics, data that its speakers can review and correct.

const word = z.object({ say: z.string().min(1), reviewed: z.boolean() });
const wordTable = z.record(z.string(), word);
type Word = z.infer<typeof word>;

const wordsSchema = z.object({
  language: z.string(),
  /** The file of the letters' names. */
  letters: z.string().regex(/^[A-Z][a-z]{3}$/u),
  words: wordTable,
});
const lettersSchema = z.object({ script: z.string(), latin: wordTable, greek: wordTable, words: wordTable });

const FOLDER = new URL('../../../../config/platform/mathematics/', import.meta.url);

function read<Schema extends z.ZodType>(file: string, schema: Schema): z.infer<Schema> {
  return schema.parse(parse(readFileSync(new URL(file, FOLDER), 'utf8')));
}

const GREEK = 'αβγδεζηθικλμνξοπρστυφχψω';

/** A formula has something that the language has no word for. */
export class NoWordError extends Error {
  /** The sign, as it is written. */
  readonly sign: string;
  constructor(sign: string) {
    super(`no word for ${sign}`);
    this.sign = sign;
  }
}

/** Whether formulas are read in this language's own words. */
export function hasMathematics(language: string): boolean {
  return /^[a-z]{2,3}$/u.test(language) && existsSync(fileURLToPath(new URL(`words/${language}.yaml`, FOLDER)));
}

/** Spells the numbers of a language, and tells whether a speaker has checked them. @throws the file system's error */
export function numberSpeller(language: string): {
  readonly reviewed: boolean;
  readonly spell: (numeral: string, point: string) => string;
} {
  const table = read(`numbers/${language}.yaml`, numberWordsSchema);
  return { reviewed: table.reviewed, spell: (numeral, point) => spelledNumber(numeral, table, point) };
}

/** The words of one language. Remembers whether it gave any that no speaker has checked. */
export class Mathematics {
  readonly #words: Readonly<Record<string, Word>>;
  readonly #latin: Readonly<Record<string, Word>>;
  readonly #greek: readonly (Word | undefined)[];
  readonly #numbers: ReturnType<typeof numberSpeller>;
  #unreviewed = false;

  /** @param language one that `hasMathematics` */
  constructor(language: string) {
    const { words, letters } = read(`words/${language}.yaml`, wordsSchema);
    const script = read(`letters/${letters}.yaml`, lettersSchema);
    this.#words = { ...script.words, ...words };
    this.#latin = script.latin;
    this.#greek = Object.values(script.greek);
    this.#numbers = numberSpeller(language);
  }

  /**
   * The word with this key, with parts of the formula in its places `{a}` and `{b}`.
   * @throws NoWordError
   */
  say(key: string, a = '', b = ''): string {
    const { say } = this.#given(this.#words[key], key);
    return say.replaceAll(/\{(?<place>[ab])\}/gu, (_, place: string) => (place === 'a' ? a : b));
  }

  /** The name of a Latin or Greek letter. @throws NoWordError */
  letter(letter: string): string {
    const small = letter.normalize('NFKC').toLowerCase().replace('ς', 'σ');
    const greek = GREEK.indexOf(small);
    return this.#given(greek === -1 ? this.#latin[small] : this.#greek[greek], letter).say;
  }

  number(numeral: string): string {
    if (!this.#numbers.reviewed) this.#unreviewed = true;
    return this.#numbers.spell(numeral, numeral.includes('.') ? this.say('point') : '');
  }

  /** Whether words were given that no speaker has checked, since the last time this was asked. */
  takeUnreviewed(): boolean {
    const unreviewed = this.#unreviewed;
    this.#unreviewed = false;
    return unreviewed;
  }

  #given(found: Word | undefined, sign: string): Word {
    if (found === undefined) throw new NoWordError(sign);
    if (!found.reviewed) this.#unreviewed = true;
    return found;
  }
}

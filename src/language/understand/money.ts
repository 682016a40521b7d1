import { type Language, plainText, tokenise } from './tokens.ts';
import { numberAt } from './numbers.ts';
import { pieceAt, sayInteger } from './digits.ts';
import { type Amount, amountAt } from './amounts.ts';

export type Currency = 'INR' | 'USD';

export interface MoneyReading {
  /** Amounts in hundredths of the currency; two when ambiguous, empty without one. */
  readonly minor: readonly number[];
  /** What may follow: nothing, a smaller unit, or more of the number. */
  readonly ends: 'whole' | 'unit' | 'number' | 'open' | 'dangling';
  /** Another currency was named. */
  readonly foreign: boolean;
}

const UNITS: Readonly<Record<Currency, ReadonlySet<string>>> = {
  INR: words('rupee rupees rs inr रुपये रुपए रुपया रूपये रूपए रुपै रुपयों'),
  USD: words('dollar dollars usd buck bucks डॉलर डालर'),
};
const MINOR: Readonly<Record<Currency, ReadonlySet<string>>> = {
  INR: words('paisa paise paisas पैसे पैसा'),
  USD: words('cent cents सेंट'),
};
const JOINS = words('and और only ओनली');
/** Words between two alternative amounts, or the ends of a range. */
const RANGE = words('or to through या से ya se');
/** "Change it from fifty to sixty" */
const CHANGES = words('change raise increase reduce lower decrease update बदल बदलिए');
const MOST = 1e12;
/** Most alternatives of one answer. */
const MOST_MEANT = 8;

/** Writes signs and figures as words: `₹1,25,000.50` is `125000 point 50 rupees`. */
export function moneyWords(text: string): string[] {
  const plain = plainText(text)
    .replaceAll(/(\d)\.(\d)/g, '$1 point $2')
    .replaceAll(/(?:₹|\brs\.?|\binr\b)\s*(\d+(?: point \d+)?)/giu, '$1 rupees ')
    .replaceAll(/(?:\$|\busd\b)\s*(\d+(?: point \d+)?)/giu, '$1 dollars ')
    .replaceAll('/-', ' rupees ');
  // "₹1.5 lakh": the sign belongs behind the scale.
  return tokenise(plain.replaceAll(/(rupees|dollars)\s+(lakhs?|crores?|thousand|million|लाख|करोड|हजार)/giu, '$2 $1'));
}

/**
 * The last amount of money in an utterance: with unit and smaller unit (`five rupees fifty paise`, `पाँच सौ रुपये`), the
 * unit first, or a number alone. Two adjacent numbers mean hundreds in rupees (`two fifty`); in dollars the second may be cents, and
 * both readings are returned, as for `five hundred or six hundred` and `fifty to a hundred`.
 */
export function findMoney(tokens: readonly string[], currency: Currency): MoneyReading {
  let last: MoneyReading = { minor: [], ends: 'open', foreign: false };
  let foreign = false;
  let lastTo = -1;
  const changes = tokens.some((word) => CHANGES.has(word));
  for (let index = 0; index < tokens.length;) {
    foreign ||= isForeign(tokens[index] ?? '', currency);
    const found = moneyAt(tokens, index, currency);
    if (found?.money !== undefined) {
      const isRange = !changes && lastTo === index - 1 && RANGE.has(tokens[lastTo] ?? '');
      const meant = isRange ? [...new Set([...last.minor, ...found.money.minor])].slice(-MOST_MEANT) : found.money.minor;
      last = { ...found.money, minor: meant };
      lastTo = found.to;
    }
    index = found?.to ?? index + 1;
  }
  return { ...last, foreign };
}

/** @returns `money` undefined for a number that is too large, with the end of its words */
function moneyAt(
  tokens: readonly string[],
  index: number,
  currency: Currency,
): { money: MoneyReading | undefined; to: number } | undefined {
  const inFront = UNITS[currency].has(tokens[index] ?? '');
  const amount = spokenAmount(tokens, inFront ? index + 1 : index, currency);
  if (amount === undefined) return undefined;
  const { values, to, ends } = amount;
  if (values.some((value) => value >= MOST)) return { money: undefined, to };
  if (MINOR[currency].has(tokens[to] ?? ''))
    return moneyOf(
      values.map((value) => Math.round(value)),
      'whole',
      to + 1,
    );
  const minor = values.map((value) => Math.round(value * 100));
  const unit = UNITS[currency].has(tokens[to] ?? '');
  if (!inFront && !unit) return moneyOf(minor, ends, to);
  return withSmallerUnit(tokens, unit ? to + 1 : to, currency, minor);
}

function withSmallerUnit(
  tokens: readonly string[],
  at: number,
  currency: Currency,
  minor: readonly number[],
): { money: MoneyReading; to: number } {
  const joined = JOINS.has(tokens[at] ?? '') ? at + 1 : at;
  const figures = digitByDigit(tokens, joined);
  // "Zero five paise"
  const spelled = figures !== undefined && MINOR[currency].has(tokens[figures.to] ?? '') ? figures : undefined;
  const cents = spelled?.pieces.join('') ?? '';
  const small = spelled !== undefined && cents.length === 2 ? { value: Number(cents), to: spelled.to } : numberAt(tokens, joined);
  const [whole = 0, ...others] = minor;
  if (small === undefined || others.length > 0 || whole % 100 !== 0) {
    const waits = joined > at && joined === tokens.length && tokens[at] !== 'only';
    return moneyOf(minor, waits ? 'dangling' : 'unit', at);
  }
  const named = MINOR[currency].has(tokens[small.to] ?? '');
  // "Five dollars fifty"; a number followed by another unit is another amount.
  if (!named && (joined > at || UNITS[currency].has(tokens[small.to] ?? '') || small.value < 10)) {
    return moneyOf(minor, small.to === tokens.length ? 'dangling' : 'unit', small.to === tokens.length ? small.to : at);
  }
  return moneyOf([whole + small.value], named ? 'whole' : 'unit', named ? small.to + 1 : small.to);
}

function spokenAmount(
  tokens: readonly string[],
  index: number,
  currency: Currency,
): { values: readonly number[]; to: number; ends: MoneyReading['ends'] } | undefined {
  if (index >= tokens.length) return undefined;
  const amount = amountAt(tokens, index);
  const digits = digitByDigit(tokens, index);
  if (digits !== undefined && (amount === undefined || digits.to > amount.to)) {
    const { to, pieces } = digits;
    const [first, second] = pieces;
    const pair = pieces.length === 2 && Number(first) > 0 && Number(first) < 100 && second?.length === 2;
    if (pair && currency === 'USD')
      return { values: [Number(`${first}.${second}`), Number(pieces.join(''))], to, ends: 'number' };
    return { values: [Number(pieces.join(''))], to, ends: pair ? 'number' : 'open' };
  }
  if (amount === undefined) return undefined;
  return { values: [amount.value], to: amount.to, ends: endOf(amount) };
}

function endOf(amount: Amount): MoneyReading['ends'] {
  if (amount.dangling) return 'dangling';
  return amount.ones && amount.value >= 100 ? 'number' : 'open';
}

/** Several numbers in a row that no scale joins: `one two five zero`, `twelve fifty`. */
function digitByDigit(tokens: readonly string[], index: number): { pieces: string[]; to: number } | undefined {
  const pieces: string[] = [];
  let at = index;
  for (;;) {
    const piece = pieceAt(tokens, at);
    if (piece === undefined) break;
    pieces.push(piece.value);
    at = piece.to;
  }
  return pieces.length > 1 ? { pieces, to: at } : undefined;
}

function moneyOf(minor: readonly number[], ends: MoneyReading['ends'], to: number): { money: MoneyReading; to: number } {
  return { money: { minor, ends, foreign: false }, to };
}

function isForeign(word: string, currency: Currency): boolean {
  return currency === 'INR' ? UNITS.USD.has(word) : UNITS.INR.has(word);
}

function words(text: string): ReadonlySet<string> {
  return new Set(tokenise(text));
}

interface UnitNames {
  readonly unit: readonly [string, string];
  readonly minor: readonly [string, string];
}

const NAMES: Readonly<Record<Language, Readonly<Record<Currency, UnitNames>>>> = {
  en: {
    INR: { unit: ['rupee', 'rupees'], minor: ['paisa', 'paise'] },
    USD: { unit: ['dollar', 'dollars'], minor: ['cent', 'cents'] },
  },
  hi: {
    INR: { unit: ['रुपया', 'रुपये'], minor: ['पैसा', 'पैसे'] },
    USD: { unit: ['डॉलर', 'डॉलर'], minor: ['सेंट', 'सेंट'] },
  },
};

/**
 * An amount in the form in which it is kept, with two places: `26.5` is `26.50`, and a third place is rounded.
 * @returns undefined for what is no plain decimal of at most twelve digits before the point
 */
export function amountOf(text: string): string | undefined {
  return /^-?\d{1,12}(?:\.\d{1,20})?$/u.test(text) ? Number(text).toFixed(2) : undefined;
}

/**
 * An amount as it is said: `एक लाख पच्चीस हज़ार रुपये पचास पैसे`, `twelve dollars and fifty cents`. Rupees are cut by lakh
 * and crore in English too.
 * @param amount a decimal with at most two places, `1250.50`; one below zero is said with a minus
 * @throws RangeError for anything else
 */
export function sayMoney(language: Language, amount: string, currency: Currency): string {
  if (amount.startsWith('-')) return `${language === 'hi' ? 'ऋण' : 'minus'} ${sayMoney(language, amount.slice(1), currency)}`;
  const parts = /^(\d{1,12})(?:\.(\d{1,2}))?$/.exec(amount);
  if (parts === null) throw new RangeError(`no amount of money: ${amount.slice(0, 20)}`);
  const whole = Number(parts[1]);
  const minor = Number((parts[2] ?? '').padEnd(2, '0'));
  const names = NAMES[language][currency];
  const named = (value: number, [one, many]: readonly [string, string]): string =>
    `${sayInteger(language, value, currency === 'INR' ? 'indian' : 'western')} ${value === 1 ? one : many}`;
  if (minor === 0) return named(whole, names.unit);
  if (whole === 0) return named(minor, names.minor);
  return `${named(whole, names.unit)}${language === 'en' ? ' and ' : ' '}${named(minor, names.minor)}`;
}

import { type Found, tokenise, type Language } from './tokens.ts';
import { amountAt } from './amounts.ts';
import { numberAt, sayNumber } from './numbers.ts';

const ZERO = new Set(['oh', 'o', 'nought', 'naught', 'nil', 'zero', ...tokenise('ओ')]);
const TIMES: ReadonlyMap<string, number> = new Map([
  ...timed('double डबल', 2),
  ...timed('triple treble ट्रिपल', 3),
  ...timed('quadruple', 4),
]);
const HUNDRED = new Set(tokenise('hundred सौ हंड्रेड हन्ड्रेड'));
const THOUSAND = new Set(tokenise('thousand हज़ार थाउज़ेंड'));
/** Words after a number that make it a wait, not a digit: `one moment`, `एक मिनट`. */
const WAITING = new Set(tokenise('moment second sec minute minutes मिनट सेकंड सेकेंड मोमेंट'));
/** Words before a `one` that is not a digit: `I do not have one`, `the second one`. */
const THING = new Set('have got this that which another every no first second last other right wrong new old same'.split(' '));
/** Words that sound like a digit, which count only between digits. */
const SOUND_ALIKES: ReadonlyMap<string, string> = new Map([
  ['to', '2'],
  ['too', '2'],
  ['for', '4'],
  ['fore', '4'],
  ['ate', '8'],
  ['won', '1'],
]);

/**
 * The longest run of digits in an utterance, as they would be keyed: `four two double seven` is `4277`,
 * `forty two seventy one` is `4271`, `चार दो सात एक` is `4271`, `eight hundred five` is `8005`.
 */
export function findDigits(tokens: readonly string[]): Found<string> | undefined {
  let best: Found<string> | undefined;
  for (const run of digitRuns(tokens)) if (best === undefined || run.value.length > best.value.length) best = run;
  return best;
}

/** All runs of digits, in spoken order. */
export function digitRuns(tokens: readonly string[]): Found<string>[] {
  const runs: Found<string>[] = [];
  for (let index = 0; index < tokens.length;) {
    const run = runAt(tokens, index);
    if (run !== undefined) runs.push(run);
    index = run?.to ?? index + 1;
  }
  return runs;
}

function runAt(tokens: readonly string[], from: number): Found<string> | undefined {
  let value = '';
  let index = from;
  for (let piece = pieceAt(tokens, index); piece !== undefined;) {
    value += piece.value;
    index = piece.to;
    piece = pieceAt(tokens, index) ?? soundAlikeAt(tokens, index);
  }
  return value === '' ? undefined : { value, from, to: index };
}

function soundAlikeAt(tokens: readonly string[], index: number): Found<string> | undefined {
  const value = SOUND_ALIKES.get(tokens[index] ?? '');
  return value === undefined || pieceAt(tokens, index + 1) === undefined ? undefined : { value, from: index, to: index + 1 };
}

/**
 * The digits that one word or phrase at `index` stands for: figures, a number below a hundred, `double five`,
 * `nine hundred`.
 */
export function pieceAt(tokens: readonly string[], index: number): Found<string> | undefined {
  const word = tokens[index] ?? '';
  if (/^\d+:\d+$/.test(word)) return { value: word.replace(':', ''), from: index, to: index + 1 };
  if (ZERO.has(word)) return { value: '0', from: index, to: index + 1 };
  const times = TIMES.get(word);
  if (times !== undefined) {
    if (TIMES.has(tokens[index + 1] ?? '')) return undefined;
    const digit = pieceAt(tokens, index + 1);
    return digit?.value.length === 1 ? { value: digit.value.repeat(times), from: index, to: digit.to } : undefined;
  }
  if (word === 'one' && THING.has(tokens[index - 1] ?? '')) return undefined;
  const number = numberAt(tokens, index);
  const next = number?.to ?? index + 1;
  if (WAITING.has(tokens[next] ?? '') || isCount(tokens, index, next)) return undefined;
  if (/^\d+$/.test(word)) return { value: word, from: index, to: index + 1 };
  if (number === undefined) return undefined;
  if (THOUSAND.has(tokens[next] ?? '')) {
    const amount = amountAt(tokens, index);
    if (amount !== undefined) return { value: String(amount.value), from: index, to: amount.to };
  }
  if (number.value < 1 || !HUNDRED.has(tokens[next] ?? '')) return { ...number, value: String(number.value) };
  // "One hundred twenty three" is 123; "eight hundred five five" is 800 and then digits.
  const rest = numberAt(tokens, tokens[next + 1] === 'and' ? next + 2 : next + 1);
  if (rest !== undefined && rest.value >= 10) return { value: String(number.value * 100 + rest.value), from: index, to: rest.to };
  return { value: `${number.value}00`, from: index, to: next + 1 };
}

/** Whether a number is a count: the four in `the last four are 4271`. */
function isCount(tokens: readonly string[], from: number, to: number): boolean {
  return /^(?:last|first|final)$/.test(tokens[from - 1] ?? '') && /^(?:are|is|digits?|numbers?)$/.test(tokens[to] ?? '');
}

function timed(words: string, times: number): (readonly [string, number])[] {
  return tokenise(words).map((word) => [word, times] as const);
}

/** Grouping of large numbers: lakh and crore, or thousand, million and billion. */
type Scale = 'indian' | 'western';

const MOST = 1e12;

const STEPS: Readonly<Record<'en' | 'western' | 'hi', readonly (readonly [number, string])[]>> = {
  en: [
    [1e7, 'crore'],
    [1e5, 'lakh'],
    [1e3, 'thousand'],
    [100, 'hundred'],
  ],
  western: [
    [1e9, 'billion'],
    [1e6, 'million'],
    [1e3, 'thousand'],
    [100, 'hundred'],
  ],
  hi: [
    [1e7, 'करोड़'],
    [1e5, 'लाख'],
    [1e3, 'हज़ार'],
    [100, 'सौ'],
  ],
};

/**
 * A whole number as it is said: `एक लाख पच्चीस हज़ार`, `one hundred twenty five thousand`. Hindi is always cut by lakh.
 * @param value 0 to 999,999,999,999
 * @throws RangeError for anything else
 */
export function sayInteger(language: Language, value: number, scale: Scale = 'indian'): string {
  if (!Number.isInteger(value) || value < 0 || value >= MOST)
    throw new RangeError(`sayInteger takes 0 to ${MOST - 1}, not ${value}`);
  const steps = STEPS[language === 'hi' ? 'hi' : scale === 'western' ? 'western' : 'en'];
  const words: string[] = [];
  let rest = value;
  for (const [size, name] of steps) {
    const count = Math.floor(rest / size);
    if (count === 0) continue;
    words.push(sayInteger(language, count, scale), name);
    rest -= count * size;
  }
  if (rest > 0 || words.length === 0) words.push(sayNumber(language, rest));
  return words.join(' ');
}

/** Digits one by one, as a number is read out: `four two seven one`. Anything but digits is left out. */
export function sayDigits(language: Language, digits: string): string {
  return (digits.match(/[0-9]/g) ?? []).map((digit) => sayNumber(language, Number(digit))).join(' ');
}

/** Groups of digits with pauses: `four two, seven one`. */
export function sayDigitGroups(language: Language, groups: readonly string[]): string {
  return groups.map((group) => sayDigits(language, group)).join(', ');
}

/** Cuts digits into groups as people say them: four at a time, or three when that avoids a single digit. */
export function digitGroups(digits: string): string[] {
  if (digits.length <= 4) return [digits];
  const size = digits.length % 4 === 0 ? 4 : digits.length % 3 === 0 || digits.length % 3 === 2 ? 3 : 4;
  const groups: string[] = [];
  for (let from = 0; from < digits.length; from += size) groups.push(digits.slice(from, from + size));
  const [last, before] = [groups.at(-1), groups.at(-2)];
  if (last === undefined || last.length > 1 || before === undefined) return groups;
  return [...groups.slice(0, -2), before + last];
}

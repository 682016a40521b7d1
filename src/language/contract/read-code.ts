import { withDevanagari } from '../understand/romanised.ts';
import { type Spelled, spelledAt, spelledWords } from '../understand/spelling.ts';
import { checkHolds } from '../understand/check-digits.ts';
import type { ContractOf } from './contract.ts';
import {
  keyedDigits,
  type AnswerContext,
  type AnswerPart,
  type AnswerReading,
  complete,
  impossible,
  incomplete,
} from './reading.ts';

const SEPARATORS = /[-/]/g;
/** Ambiguous words (`I see`) count as letters only in longer runs than this. */
const LONE_WEAK = 2;

/** Number of spoken signs in a pattern. */
export function signsOf(pattern: string): number {
  return pattern.replaceAll(SEPARATORS, '').length;
}

/**
 * A code said letter by letter and digit by digit in any mix: names, code words, `B for Bombay`, `double nine`, typed
 * digits. For a word with two readings (`oh`) the pattern decides. With more signs than the pattern has, the last ones that fit
 * count, as in a correction.
 */
export function readCode(parts: readonly AnswerPart[], contract: ContractOf<'code'>, context: AnswerContext): AnswerReading {
  const items = parts.flatMap((part) => (part.by === 'voice' ? itemsOf(part.text, context).sure : typed(part.keys)));
  const pattern = contract.pattern.replaceAll(SEPARATORS, '');
  if (items.length === 0) {
    const last = parts.at(-1);
    const begun = last?.by === 'voice' ? fit(itemsOf(last.text, context).perhaps, pattern) : undefined;
    return incomplete(begun ?? '', pattern.length);
  }
  for (let from = 0; from < items.length; from++) {
    const code = fit(items.slice(from), pattern);
    if (code === undefined || code.length < pattern.length) continue;
    const value = written(code, contract.pattern);
    const checked = contract.check === undefined || checkHolds(contract.check, code);
    return checked ? complete(value) : impossible(value, 'check-digit');
  }
  // The longest end that could begin a code; a short one after many other signs is a coincidence.
  for (let from = 0; from <= items.length / 2; from++) {
    const code = fit(items.slice(from), pattern);
    if (code !== undefined) return incomplete(code, pattern.length - code.length);
  }
  const all = items.map(({ value }) => value.toUpperCase()).join('');
  return impossible(all, all.length > pattern.length ? 'too-long' : 'no-such-value');
}

function typed(keys: string): Spelled[] {
  return keyedDigits(keys)
    .split('')
    .map((digit, index) => ({ readings: [digit], value: digit, weak: false, from: index, to: index + 1 }));
}

/** `perhaps`: ambiguous words at the end that may be the first signs (`I`, `जी के`). */
function itemsOf(text: string, context: AnswerContext): { sure: Spelled[]; perhaps: Spelled[] } {
  const written = spelledWords(text);
  const plain = written.map((word) => word.toLowerCase());
  const native = context.language === 'hi' ? withDevanagari(plain) : plain;
  const words = written.map((word, index) => (native[index] === plain[index] ? word : (native[index] ?? word)));
  const items: Spelled[] = [];
  let run: Spelled[] = [];
  let perhaps: Spelled[] = [];
  const close = (): void => {
    if (run.some(({ weak }) => !weak) || run.length > LONE_WEAK) items.push(...run);
    perhaps = run;
    run = [];
  };
  for (let index = 0; index < words.length;) {
    const item = spelledAt(words, index);
    if (item === undefined) close();
    else run.push(item);
    index = item?.to ?? index + 1;
  }
  close();
  return { sure: items, perhaps };
}

/**
 * The items' signs that fit the pattern from its start; undefined when one does not fit. All readings of an item have the same
 * length, so each is chosen by itself.
 */
function fit(items: readonly Spelled[], pattern: string): string | undefined {
  let code = '';
  for (const { readings } of items) {
    const start = code.length;
    const fitting = readings
      .map((reading) => reading.toUpperCase())
      .find((signs) => signs.split('').every((sign, place) => fits(sign, pattern[start + place])));
    if (fitting === undefined) return undefined;
    code += fitting;
  }
  return code;
}

function fits(sign: string, place: string | undefined): boolean {
  if (place === 'X') return /[A-Z0-9]/.test(sign);
  if (place === 'A') return /[A-Z]/.test(sign);
  return place === '9' ? /\d/.test(sign) : sign === place;
}

/** Inserts the pattern's separators. */
function written(code: string, pattern: string): string {
  let at = 0;
  return pattern
    .split('')
    .map((place) => (/[-/]/.test(place) ? place : (code[at++] ?? '')))
    .join('');
}

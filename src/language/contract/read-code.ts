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
/** Words around a code that could be letters (`I see`) need company to be some. */
const LONE_WEAK = 2;

/** How many signs of a pattern are said. */
export function signsOf(pattern: string): number {
  return pattern.replaceAll(SEPARATORS, '').length;
}

/**
 * A code said letter by letter and digit by digit in any mix: names, code words, `B for Bombay`, `double nine`, typed
 * digits. Where a word may be two signs (`oh`), the pattern decides. Of more than the pattern takes, the last signs that
 * fit it count: people correct themselves forwards, and begin with words.
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
  // The longest end that could be the beginning of a code; a short one behind many misfits is a coincidence.
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

/** `perhaps`: what may be the first signs at the end of the words, and may be words (`I`, `जी के`). */
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
 * The signs of the items as a pattern wants them from its start; undefined where one does not fit. Readings of an item are
 * equally long, so each one is chosen by itself.
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

/** Puts the separators of the pattern back. */
function written(code: string, pattern: string): string {
  let at = 0;
  return pattern
    .split('')
    .map((place) => (/[-/]/.test(place) ? place : (code[at++] ?? '')))
    .join('');
}

import type { CheckKind } from '../contract/contract.ts';
import { digitRuns, type SaidSymbol } from './said-symbols.ts';

/**
 * Whether a value's check digits are right. `luhn` and `verhoeff` are over digits (the last one checks); `mod97` is
 * ISO 7064 as in IBAN, over letters and digits with the first four characters moved to the end; `mod11` is ISBN-10.
 */
export function checkHolds(kind: CheckKind, value: string): boolean {
  switch (kind) {
    case 'luhn':
      return /^\d{2,}$/.test(value) && luhn(value);
    case 'verhoeff':
      return /^\d{2,}$/.test(value) && verhoeff(value);
    case 'mod97':
      return /^[A-Z0-9]{5,}$/.test(value) && mod97(value);
    case 'mod11':
      return /^\d{9}[\dX]$/.test(value) && mod11(value);
  }
}

function luhn(digits: string): boolean {
  let sum = 0;
  for (const [place, digit] of digits.split('').reverse().entries()) {
    const doubled = Number(digit) * (place % 2 === 1 ? 2 : 1);
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** Permutation of a digit by its place from the right, mod 8 (J. Verhoeff, Error Detecting Decimal Codes, 1969). */
const VERHOEFF_STEP = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4] as const;

/** The dihedral group of the pentagon: 0-4 turn, 5-9 turn and flip. */
function dihedral(left: number, right: number): number {
  if (left < 5) return right < 5 ? (left + right) % 5 : ((left + right) % 5) + 5;
  return right < 5 ? ((left - right) % 5) + 5 : (left - right + 5) % 5;
}

function verhoeff(digits: string): boolean {
  let state = 0;
  for (const [place, digit] of digits.split('').reverse().entries()) {
    let permuted = Number(digit);
    for (let turn = 0; turn < place % 8; turn++) permuted = VERHOEFF_STEP[permuted] ?? 0;
    state = dihedral(state, permuted);
  }
  return state === 0;
}

function mod97(value: string): boolean {
  let rest = 0;
  for (const sign of value.slice(4) + value.slice(0, 4)) rest = Number(`${rest}${Number.parseInt(sign, 36)}`) % 97;
  return rest === 1;
}

function mod11(value: string): boolean {
  const sum = value.split('').reduce((total, sign, place) => total + (10 - place) * (sign === 'X' ? 10 : Number(sign)), 0);
  return sum % 11 === 0;
}

/** Prefixes and lengths of the large card schemes, with RuPay (ISO/IEC 7812). */
const CARD = /^(?:3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|4\d{12}(?:\d{3}){0,2}|(?:5[0-8]|6\d|8[12]|2[2-7]|35)\d{14})$/u;
const LENGTHS = [19, 16, 15, 14, 13];
/** Fewest digits of a card number; shorter texts are skipped. */
const LEAST = 13;
const SHOWN = 4;
/** Fewest digits of a number that is long. */
const LONG = 7;
const FIGURE = /\p{Nd}/u;

/**
 * Masks card numbers in spoken or written text, except for their last four digits: `my card is ************1111`. A number with the
 * form and the check digit of a card counts as one.
 */
export function withoutCardNumbers(text: string): string {
  let hidden = text;
  // From the end, so that earlier positions stay valid.
  for (const { from, to, digits } of cardsIn(text).reverse()) {
    const shown = '*'.repeat(digits.length - SHOWN) + digits.slice(-SHOWN);
    hidden = hidden.slice(0, from) + shown + hidden.slice(to);
  }
  return hidden;
}

/** Masks every digit of long numbers in words that are still growing: of a card that is half said, no check digit tells. */
export function withoutLongNumbers(text: string): string {
  let hidden = text;
  for (const run of digitRuns(text).reverse())
    if (run.length >= LONG) hidden = hidden.slice(0, run[0]?.from) + '*'.repeat(run.length) + hidden.slice(run.at(-1)?.to);
  return hidden;
}

interface Card {
  readonly from: number;
  readonly to: number;
  readonly digits: string;
}

function cardsIn(text: string): Card[] {
  return text.length < LEAST ? [] : digitRuns(text).flatMap((run) => cardsOf(text, run));
}

function cardsOf(text: string, run: readonly SaidSymbol[]): Card[] {
  const cards: Card[] = [];
  for (let start = 0; start + LEAST <= run.length;) {
    const card = LENGTHS.filter((length) => start + length <= run.length)
      .map((length) => cardOf(text, run.slice(start, start + length)))
      .find((found) => found !== undefined);
    if (card !== undefined) cards.push(card);
    start += card?.digits.length ?? 1;
  }
  return cards;
}

/** A part of a longer figure is no card: one in ten has the right check digit by chance. */
function cardOf(text: string, part: readonly SaidSymbol[]): Card | undefined {
  const digits = part.map(({ value }) => value).join('');
  const [from, to] = [part[0]?.from ?? 0, part.at(-1)?.to ?? 0];
  const inFigure = FIGURE.test(text[from - 1] ?? '') || FIGURE.test(text[to] ?? '');
  return !inFigure && CARD.test(digits) && checkHolds('luhn', digits) ? { from, to, digits } : undefined;
}

import { checkHolds } from './check-digits.ts';
import { digitRuns, type SaidSymbol } from './said-symbols.ts';

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

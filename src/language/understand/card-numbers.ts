import { checkHolds } from './check-digits.ts';
import { digitRuns, type SaidSymbol } from './said-symbols.ts';

/** Of the large card schemes, RuPay among them, by the first digits and the length (ISO/IEC 7812). */
const CARD = /^(?:3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|4\d{12}(?:\d{3}){0,2}|(?:5[0-8]|6\d|8[12]|2[2-7]|35)\d{14})$/u;
const LENGTHS = [19, 16, 15, 14, 13];
/** The least digits that can be one: shorter texts are not looked through. */
const LEAST = 13;
const SHOWN = 4;
const FIGURE = /\p{Nd}/u;

/**
 * Puts stars in the place of card numbers that somebody said or wrote, but for their last four digits: `my card is
 * ************1111`. What has the form of one and a right check digit is one.
 */
export function withoutCardNumbers(text: string): string {
  let hidden = text;
  // From the end, so that what is found before keeps its place.
  for (const { from, to, digits } of cardsIn(text).reverse()) {
    const shown = '*'.repeat(digits.length - SHOWN) + digits.slice(-SHOWN);
    hidden = hidden.slice(0, from) + shown + hidden.slice(to);
  }
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

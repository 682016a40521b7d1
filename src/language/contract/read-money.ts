import { type Currency, findMoney, moneyWords } from '../understand/money.ts';
import { withDevanagari } from '../understand/romanised.ts';
import { keyedDigits, keyedIn, spokenIn } from './parts.ts';
import {
  type AnswerContext,
  type AnswerPart,
  type AnswerReading,
  complete,
  impossible,
  incomplete,
  NOTHING_READ,
} from './reading.ts';

const MOST_KEYS = 12;

/** A decimal with two places. @param minor hundredths */
export function decimal(minor: number): string {
  return `${Math.floor(minor / 100)}.${String(minor % 100).padStart(2, '0')}`;
}

export function readMoney(parts: readonly AnswerPart[], currency: Currency, context: AnswerContext): AnswerReading {
  const keyed = keyedDigits(keyedIn(parts));
  if (keyed !== '') {
    return keyed.length > MOST_KEYS ? impossible(keyed, 'too-long') : complete(`${Number(keyed)}.00`, 'likely');
  }
  const tokens = moneyWords(spokenIn(parts));
  const { minor, ends, foreign } = findMoney(context.language === 'hi' ? withDevanagari(tokens) : tokens, currency);
  const values = minor.map(decimal);
  if (foreign) return impossible(values.join(' '), 'no-such-value');
  if (values.length === 0) return NOTHING_READ;
  if (ends === 'dangling') return incomplete(values[0]!);
  const more = ends === 'whole' ? 'no' : ends === 'open' ? 'likely' : 'unlikely';
  return values.length > 1 ? { status: 'ambiguous', values, more } : complete(values[0]!, more);
}

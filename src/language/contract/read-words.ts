import type { ClockTime } from '../understand/clock-time.ts';
import { DAYTIME } from '../understand/clock-time.ts';
import { dateWords, readDate as dateIn } from '../understand/date.ts';
import { findDayPart } from '../understand/day-part.ts';
import { readEmail as emailIn } from '../understand/email.ts';
import { readName as nameIn } from '../understand/name.ts';
import { withDevanagari } from '../understand/romanised.ts';
import { findTime, timeOfKeys } from '../understand/time.ts';
import { tokenise } from '../understand/tokens.ts';
import type { ContractOf } from './contract.ts';
import { keyedDigits, keyedIn, spokenIn, wordsIn } from './parts.ts';
import {
  type AnswerContext,
  type AnswerPart,
  type AnswerReading,
  complete,
  impossible,
  incomplete,
  NOTHING_READ,
} from './reading.ts';

/** A sentence without a sign, a letter or a digit of an address in it is no address that was begun. */
const MOST_PLAIN_WORDS = 3;

const LEADS_TO_HOUR = new Set(tokenise('at quarter half past to साढ़े सवा पौने करीब'));

/** A date, said, or keyed as day, month and year (`05032026`, the month first where the contract says so). */
export function readDate(parts: readonly AnswerPart[], contract: ContractOf<'date'>, context: AnswerContext): AnswerReading {
  const { tense, year } = contract;
  const order = contract.order ?? context.order;
  const options = { today: context.today, language: context.language, order, tense, year };
  const keyed = keyedDigits(keyedIn(parts));
  if (keyed.length > 8) return impossible(keyed, 'too-long');
  if (keyed !== '' && keyed.length < 8) return incomplete(keyed, 8 - keyed.length);
  const text = keyed === '' ? spokenIn(parts) : `${keyed.slice(0, 2)} ${keyed.slice(2, 4)} ${keyed.slice(4)}`;
  const words = dateWords(text);
  const reading = dateIn(context.language === 'hi' ? withDevanagari(words) : words, options);
  switch (reading.kind) {
    case 'nothing':
      return NOTHING_READ;
    case 'part':
      return incomplete(text);
    case 'no-such-day':
      return impossible(text, 'no-such-value');
    case 'days': {
      const [first, ...others] = reading.days;
      if (others.length > 0) return { status: 'ambiguous', values: reading.days, more: reading.mayGoOn };
      return complete(first!, reading.mayGoOn);
    }
  }
}

export function readTime(parts: readonly AnswerPart[], contract: ContractOf<'time'>, context: AnswerContext): AnswerReading {
  const window = { from: (contract.from ?? DAYTIME.from) as ClockTime, to: (contract.to ?? DAYTIME.to) as ClockTime }; // form checked by the schema
  const keyed = keyedDigits(keyedIn(parts));
  if (keyed !== '') {
    const time = timeOfKeys(keyed, window);
    if (keyed.length < 3) return time === undefined ? incomplete(keyed, 4 - keyed.length) : complete(time, 'likely');
    return time === undefined ? impossible(keyed, 'no-such-value') : complete(time, keyed.length === 4 ? 'no' : 'likely');
  }
  const tokens = wordsIn(spokenIn(parts), context.language);
  const found = findTime(tokens, { window, bare: true });
  const part = findDayPart(tokens);
  if (found === undefined) {
    // "In the morning, at", "साढ़े": the hour comes next.
    const begun = part !== undefined || LEADS_TO_HOUR.has(tokens.at(-1) ?? '');
    return begun ? incomplete(spokenIn(parts)) : NOTHING_READ;
  }
  if (part !== undefined) return complete(found.value, 'unlikely');
  const settled = contract.from !== undefined && contract.to !== undefined;
  const minutes = !found.value.endsWith(':00') || found.to - found.from > 1;
  // Morning or evening may follow where only that tells which hour is meant, and minutes after an hour alone.
  return complete(found.value, settled && minutes ? 'unlikely' : 'likely');
}

export function readName(parts: readonly AnswerPart[], contract: ContractOf<'name'>): AnswerReading {
  const names = nameIn(spokenIn(parts));
  const least = contract.least ?? 1;
  if (names.length < least) return incomplete(names.join(' '), least - names.length);
  // One name more than was asked for is common, two are not.
  return complete(names.join(' '), names.length > Math.max(1, least) ? 'unlikely' : 'likely');
}

export function readEmail(parts: readonly AnswerPart[]): AnswerReading {
  const text = spokenIn(parts);
  const { address, soFar, ends } = emailIn(text);
  if (address !== undefined) return complete(address, ends === 'whole' ? 'no' : ends === 'maybe' ? 'unlikely' : 'likely');
  const plain = !/[@.\d]|\b\p{L}\b/u.test(soFar + text) && text.trim().split(/\s+/).length > MOST_PLAIN_WORDS;
  return plain ? NOTHING_READ : incomplete(soFar);
}

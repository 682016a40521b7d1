import { type Currency, findMoney, moneyWords } from '../understand/money.ts';
import { withDevanagari } from '../understand/romanised.ts';
import {
  keyedDigits,
  keyedIn,
  spokenIn,
  type AnswerContext,
  type AnswerPart,
  type AnswerReading,
  complete,
  impossible,
  incomplete,
  NOTHING_READ,
  wordsIn,
} from './reading.ts';
import { findChoice, tokenise } from '../understand/tokens.ts';
import { digitRuns } from '../understand/digits.ts';
import { findYesNo } from '../understand/yes-no.ts';
import type { ContractOf } from './contract.ts';
import { type ClockTime, DAYTIME, findDayPart, findTime, timeOfKeys } from '../understand/time.ts';
import { dateWords, readDate as dateIn } from '../understand/date.ts';
import { readEmail as emailIn } from '../understand/email.ts';
import { readName as nameIn } from '../understand/name.ts';

/** A longer sentence without a sign, single letter or digit is not an unfinished address. */
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
      return complete(first, reading.mayGoOn);
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
  // More may follow: morning or evening when the hour is ambiguous, and minutes after an hour alone.
  return complete(found.value, settled && minutes ? 'unlikely' : 'likely');
}

export function readName(parts: readonly AnswerPart[], contract: ContractOf<'name'>): AnswerReading {
  const names = nameIn(spokenIn(parts));
  const least = contract.least ?? 1;
  if (names.length < least) return incomplete(names.join(' '), least - names.length);
  // One name more than required is common, two are not.
  return complete(names.join(' '), names.length > Math.max(1, least) ? 'unlikely' : 'likely');
}

export function readEmail(parts: readonly AnswerPart[]): AnswerReading {
  const text = spokenIn(parts);
  const { address, soFar, ends } = emailIn(text);
  if (address !== undefined) return complete(address, ends === 'whole' ? 'no' : ends === 'maybe' ? 'unlikely' : 'likely');
  const plain = !/[@.\d]|\b\p{L}\b/u.test(soFar + text) && text.trim().split(/\s+/).length > MOST_PLAIN_WORDS;
  return plain ? NOTHING_READ : incomplete(soFar);
}

/** `yes` is key 1, `no` is key 2. */
export function readYesNo(parts: readonly AnswerPart[], context: AnswerContext): AnswerReading {
  const keyed = keyedDigits(keyedIn(parts));
  if (keyed === '1' || keyed === '2') return complete(keyed === '1' ? 'yes' : 'no');
  if (keyed !== '') return impossible(keyed, 'no-such-value');
  const found = findYesNo(wordsIn(spokenIn(parts), context.language));
  // "No" may become "no problem", and "yes" "yes but".
  return found === undefined ? NOTHING_READ : complete(found.value, 'unlikely');
}

export function readChoice(parts: readonly AnswerPart[], contract: ContractOf<'choice'>, context: AnswerContext): AnswerReading {
  const keyed = keyedDigits(keyedIn(parts));
  if (keyed !== '') return chosenByKey(keyed, contract);
  const tokens = wordsIn(spokenIn(parts), context.language);
  const choices = contract.options.map(({ name, phrases }) => ({ name, phrases: phrases.map(tokenise) }));
  const found = findChoice(tokens, choices);
  if (found !== undefined) return complete(found.value, 'unlikely');
  const named = choices.filter((choice) => findChoice(tokens, [choice]) !== undefined).map(({ name }) => name);
  if (named.length > 1) return { status: 'ambiguous', values: named, more: 'likely' };
  // "Number two", "press two": the key, said instead of pressed.
  const [number, ...others] = digitRuns(tokens);
  if (number === undefined || others.length > 0 || tokens.length > number.value.length + 2) return NOTHING_READ;
  const reading = chosenByKey(number.value, contract);
  return reading.status === 'complete' ? { ...reading, more: 'unlikely' } : NOTHING_READ;
}

function chosenByKey(keyed: string, contract: ContractOf<'choice'>): AnswerReading {
  const option = contract.options.find(({ key }) => key === keyed);
  const longer = contract.options.some(({ key }) => key !== undefined && key !== keyed && key.startsWith(keyed));
  if (option !== undefined) return complete(option.name, longer ? 'likely' : 'no');
  return longer ? incomplete(keyed) : impossible(keyed, 'no-such-value');
}

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
  const [first, ...others] = values;
  if (first === undefined) return NOTHING_READ;
  if (ends === 'dangling') return incomplete(first);
  const more = ends === 'whole' ? 'no' : ends === 'open' ? 'likely' : 'unlikely';
  return others.length > 0 ? { status: 'ambiguous', values, more } : complete(first, more);
}

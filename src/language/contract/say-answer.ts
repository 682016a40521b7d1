import { calendarDay, type CalendarDay, daysBetween, weekdayOf, sayDate, sayWeekday } from '../understand/calendar.ts';
import { type ClockTime, sayTime } from '../understand/time.ts';
import type { Language } from '../understand/tokens.ts';
import { sayLetter, sayLetterClearly } from '../understand/spelling.ts';
import { sayNumber } from '../understand/numbers.ts';
import { digitGroups, sayDigitGroups, sayDigits } from '../understand/digits.ts';
import { phoneGroups } from '../understand/phone-number.ts';
import { sayEmail } from '../understand/email.ts';
import { amountOf, sayMoney } from '../understand/money.ts';
import type { AnswerContract } from './contract.ts';
import type { AnswerContext } from './reading.ts';

/** The style of a read-back: as people say it, in groups with pauses, or sign by sign. */
export type ReadBackLevel = 'whole' | 'grouped' | 'spelled';

/** Signs between two pauses. */
const SIGNS_A_BREATH = 5;

/**
 * A contract's value as spoken text. A password is never spoken, and of a card only the last four digits.
 * @param value in the form of `AnswerContract`; anything else is spoken as it is
 */
export function sayAnswer(
  contract: AnswerContract,
  value: string,
  context: AnswerContext,
  level: ReadBackLevel = 'whole',
): string {
  const { language, today } = context;
  switch (contract.kind) {
    case 'digits':
      return level === 'spelled'
        ? oneByOne(value, language)
        : sayDigitGroups(language, level === 'whole' ? [value] : digitGroups(value));
    case 'phone':
      if (!/^\+\d{11,15}$/.test(value)) return value;
      return level === 'spelled' ? oneByOne(phoneGroups(value).join(''), language) : sayDigitGroups(language, phoneGroups(value));
    case 'date':
      return isDay(value) ? sayDay(value, language, today, level) : value;
    case 'time':
      return /^\d{2}:\d{2}$/.test(value) ? sayTime(language, value as ClockTime, true) : value;
    case 'money': {
      const amount = amountOf(value);
      if (amount === undefined) return value;
      return level === 'whole'
        ? sayMoney(language, amount, contract.currency)
        : moneyInDigits(contract.currency, amount, language);
    }
    case 'yes-no':
      return language === 'hi' ? (value === 'yes' ? 'हाँ' : 'नहीं') : value;
    case 'choice':
      return contract.options.find(({ name }) => name === value)?.phrases[0] ?? value;
    case 'name':
      return level === 'whole'
        ? value
        : value
            .split(' ')
            .map((word) => `${word}, ${spelled(word, language, level)}`)
            .join('. ');
    case 'email':
      return level === 'whole' ? sayEmail(language, value) : spelledEmail(value, language, level);
    case 'code':
      return sayCode(value, language, level);
    case 'card':
      return sayDigits(language, value.slice(-4));
    case 'otp':
      return '';
  }
}

function isDay(value: string): value is CalendarDay {
  try {
    return calendarDay(value) === value;
  } catch {
    return false;
  }
}

/** A date near today has its weekday, and every date has it from the second read-back on. */
function sayDay(day: CalendarDay, language: Language, today: CalendarDay, level: ReadBackLevel): string {
  const date = sayDate(language, day);
  const near = Math.abs(daysBetween(today, day)) < 7;
  return near || level !== 'whole' ? `${sayWeekday(language, weekdayOf(day))}, ${date}` : date;
}

function oneByOne(digits: string, language: Language): string {
  return digits
    .split('')
    .map((digit) => sayDigits(language, digit))
    .join(', ');
}

/** An amount digit by digit: `one two five zero rupees`. */
function moneyInDigits(currency: 'INR' | 'USD', value: string, language: Language): string {
  const [whole, minor] = value.split('.') as [string, string];
  const unit = (amount: string): string => sayMoney(language, amount, currency).split(' ').at(-1) ?? '';
  const main = `${sayDigits(language, whole)} ${unit('2')}`;
  return minor === '00' ? main : `${main}${language === 'en' ? ' and' : ''} ${sayDigits(language, minor)} ${unit('0.02')}`;
}

function signs(text: string): string[] {
  return text.match(/[\p{L}\p{M}]|\d|[^\s\p{L}\p{M}\d]/gu) ?? [];
}

function spelled(word: string, language: Language, level: ReadBackLevel): string {
  // Hindi words are spelled by syllables.
  if (/\p{Script=Devanagari}/u.test(word)) {
    const syllables = [...new Intl.Segmenter('hi', { granularity: 'grapheme' }).segment(word)].map(({ segment }) => segment);
    return syllables.join(', ');
  }
  return signs(word)
    .map((sign) => saySign(sign, language, level))
    .join(level === 'spelled' ? ', ' : ' ');
}

function saySign(sign: string, language: Language, level: ReadBackLevel): string {
  if (/^\d$/.test(sign)) return sayNumber(language, Number(sign));
  if (/^[a-z]$/i.test(sign)) return level === 'spelled' ? sayLetterClearly(language, sign) : sayLetter(language, sign);
  return sayEmail(language, sign);
}

/** Spells only the part before the `@`: domains are well known. */
function spelledEmail(address: string, language: Language, level: ReadBackLevel): string {
  const at = address.indexOf('@');
  const [local, domain] = [address.slice(0, at), address.slice(at)];
  if (level === 'spelled') return `${spelled(local, language, level)}, ${sayEmail(language, domain)}`;
  const letters = signs(local).map((sign) => saySign(sign, language, level));
  const breaths: string[] = [];
  for (let from = 0; from < letters.length; from += SIGNS_A_BREATH)
    breaths.push(letters.slice(from, from + SIGNS_A_BREATH).join(' '));
  return `${breaths.join(', ')}, ${sayEmail(language, domain)}`;
}

/** Letters and digits one by one, with pauses between groups; from `spelled` on with a word for each letter. */
function sayCode(value: string, language: Language, level: ReadBackLevel): string {
  const groups = value.match(/[A-Z]+|\d+/g) ?? [];
  const cut = groups.flatMap((group) => (/^\d/.test(group) ? digitGroups(group) : [group]));
  const said = cut.map((group) =>
    group
      .split('')
      .map((sign) => saySign(sign, language, level))
      .join(level === 'spelled' ? ', ' : ' '),
  );
  return said.join(level === 'whole' ? ' ' : ', ');
}

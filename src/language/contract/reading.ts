import { type Language, languageOf } from '../understand/language.ts';
import { withDevanagari } from '../understand/romanised.ts';
import { tokenise } from '../understand/tokens.ts';
import { dayInZone, type CalendarDay } from '../understand/calendar-day.ts';

/** What reading an answer depends on besides its contract. */
export interface AnswerContext {
  readonly language: Language;
  readonly today: CalendarDay;
  /** Which of day and month comes first in figures where this language is spoken; undefined: either. */
  readonly order?: 'day-month' | 'month-day';
}

/** A piece of an answer, as it came: words, or keys. */
export type AnswerPart = { readonly by: 'voice'; readonly text: string } | { readonly by: 'keys'; readonly keys: string };

/**
 * Whether a value that could end here may go on. `no`: every further word would belong to something else. `unlikely`:
 * it could, and mostly does not (`five rupees` and paise). `likely`: it is no more whole than its beginning was.
 */
export type More = 'no' | 'unlikely' | 'likely';

export type Impossible =
  | 'too-long'
  /** A check digit tells that something was misheard or mistyped. */
  | 'check-digit'
  /** No number, day, code of this form exists. */
  | 'no-such-value'
  /** The caller did not agree to any value that was read back. */
  | 'not-agreed'
  /** This kind of answer is taken from the keypad only. */
  | 'keypad-only';

/** What an answer says so far. */
export type AnswerReading =
  | { readonly status: 'complete'; readonly value: string; readonly more: More }
  /**
   * `soFar` is empty when nothing of the value has been said; `missing` where it can be counted. `begun`: more is certain
   * to come, since part of it was said or led up to (`my number is`).
   */
  | { readonly status: 'incomplete'; readonly soFar: string; readonly missing: number | undefined; readonly begun: boolean }
  | { readonly status: 'impossible'; readonly soFar: string; readonly why: Impossible }
  /** Several values are meant equally well; the caller has to be asked. */
  | { readonly status: 'ambiguous'; readonly values: readonly string[]; readonly more: More };

export const NOTHING_READ: AnswerReading = incomplete('');

export function complete(value: string, more: More = 'no'): AnswerReading {
  return { status: 'complete', value, more };
}

export function incomplete(soFar: string, missing?: number): AnswerReading {
  return { status: 'incomplete', soFar, missing, begun: soFar !== '' };
}

export function impossible(soFar: string, why: Impossible): AnswerReading {
  return { status: 'impossible', soFar, why };
}

/** Regions that write the month first. */
const MONTH_FIRST = new Set(['US', 'PH', 'FM']);

/** What answers are read by in this language, at this moment, where this caller's day is counted. @param language such as `hi-IN` */
export function answerContext(language: string, wallMs: number, timeZone: string): AnswerContext {
  const region = language.split('-')[1]?.toUpperCase();
  const order = region === undefined ? {} : ({ order: MONTH_FIRST.has(region) ? 'month-day' : 'day-month' } as const);
  return { language: languageOf(language), today: dayInZone(wallMs, timeZone), ...order };
}

/** Words of an answer as the tables of its language read them. */
export function wordsIn(text: string, language: Language): string[] {
  return language === 'hi' ? withDevanagari(tokenise(text)) : tokenise(text);
}

/** Keyed digits after the last `*`, which starts over; `#` ends an answer and is none of it. */
export function keyedDigits(keys: string): string {
  return keys.slice(keys.lastIndexOf('*') + 1).replaceAll('#', '');
}

/**
 * One sequence of words for spoken and keyed digits in the order in which they came: `four two` and the keys 71 are
 * `four two 71`. A `*` takes back all that was typed in its part.
 */
export function fused(parts: readonly AnswerPart[], language: Language): string[] {
  return parts.flatMap((part) => (part.by === 'voice' ? wordsIn(part.text, language) : keyedDigits(part.keys).split('')));
}

/** All that was said, without what was keyed. */
export function spokenIn(parts: readonly AnswerPart[]): string {
  return parts.flatMap((part) => (part.by === 'voice' ? [part.text] : [])).join(' ');
}

/** All that was keyed, without what was said. */
export function keyedIn(parts: readonly AnswerPart[]): string {
  return parts.flatMap((part) => (part.by === 'keys' ? [part.keys] : [])).join('');
}

import { type Language, languageOf, tokenise } from '../understand/tokens.ts';
import { withDevanagari } from '../understand/romanised.ts';
import { dayInZone, type CalendarDay } from '../understand/calendar.ts';

/** The context of an answer besides its contract. */
export interface AnswerContext {
  readonly language: Language;
  readonly today: CalendarDay;
  /** Order of day and month in figures in this region; undefined: either. */
  readonly order?: 'day-month' | 'month-day';
}

/** A part of an answer: words or keys. */
export type AnswerPart = { readonly by: 'voice'; readonly text: string } | { readonly by: 'keys'; readonly keys: string };

/**
 * Whether more may follow a complete value. `no`: further words would be something else. `unlikely`: possible but rare (paise after
 * `five rupees`). `likely`: the value may well be unfinished.
 */
export type More = 'no' | 'unlikely' | 'likely';

export type Impossible =
  | 'too-long'
  /** The check digit is wrong: something was misheard or mistyped. */
  | 'check-digit'
  /** No number, day, code of this form exists. */
  | 'no-such-value'
  /** The caller agreed to no read-back. */
  | 'not-agreed'
  /** This kind is accepted from the keypad only. */
  | 'keypad-only';

/** The reading of an answer so far. */
export type AnswerReading =
  | { readonly status: 'complete'; readonly value: string; readonly more: More }
  /**
   * `soFar` is empty when no part of the value was said; `missing` is set when countable. `begun`: more will follow, since a part was
   * said or led up to (`my number is`).
   */
  | { readonly status: 'incomplete'; readonly soFar: string; readonly missing: number | undefined; readonly begun: boolean }
  | { readonly status: 'impossible'; readonly soFar: string; readonly why: Impossible }
  /** Several values fit equally; the caller has to choose. */
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

/** The context for answers in this language, at this time, in this time zone. @param language such as `hi-IN` */
export function answerContext(language: string, wallMs: number, timeZone: string): AnswerContext {
  const region = language.split('-')[1]?.toUpperCase();
  const order = region === undefined ? {} : ({ order: MONTH_FIRST.has(region) ? 'month-day' : 'day-month' } as const);
  return { language: languageOf(language), today: dayInZone(wallMs, timeZone), ...order };
}

/** The tokens of an answer in its language. */
export function wordsIn(text: string, language: Language): string[] {
  return language === 'hi' ? withDevanagari(tokenise(text)) : tokenise(text);
}

/** Keyed digits after the last `*`, which restarts the answer; without `#`, which ends it. */
export function keyedDigits(keys: string): string {
  return keys.slice(keys.lastIndexOf('*') + 1).replaceAll('#', '');
}

/**
 * Spoken and keyed digits as one sequence of tokens, in order: `four two` and the keys 71 are `four two 7 1`. A `*` drops the keys
 * before it in its part.
 */
export function fused(parts: readonly AnswerPart[], language: Language): string[] {
  return parts.flatMap((part) => (part.by === 'voice' ? wordsIn(part.text, language) : keyedDigits(part.keys).split('')));
}

/** All words, without keys. */
export function spokenIn(parts: readonly AnswerPart[]): string {
  return parts.flatMap((part) => (part.by === 'voice' ? [part.text] : [])).join(' ');
}

/** All keys, without words. */
export function keyedIn(parts: readonly AnswerPart[]): string {
  return parts.flatMap((part) => (part.by === 'keys' ? [part.keys] : [])).join('');
}

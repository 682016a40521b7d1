import type { CalendarDay } from '../understand/calendar-day.ts';
import type { Language } from '../understand/language.ts';

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

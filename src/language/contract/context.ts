import { dayInZone } from '../understand/calendar-day.ts';
import { languageOf } from '../understand/language.ts';
import type { AnswerContext } from './reading.ts';

/** Regions that write the month first. */
const MONTH_FIRST = new Set(['US', 'PH', 'FM']);

/** What answers are read by in this language, at this moment, where this caller's day is counted. @param language such as `hi-IN` */
export function answerContext(language: string, wallMs: number, timeZone: string): AnswerContext {
  const region = language.split('-')[1]?.toUpperCase();
  const order = region === undefined ? {} : ({ order: MONTH_FIRST.has(region) ? 'month-day' : 'day-month' } as const);
  return { language: languageOf(language), today: dayInZone(wallMs, timeZone), ...order };
}

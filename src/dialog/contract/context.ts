import { dayInZone } from '../understand/calendar-day.ts';
import { languageOf } from '../understand/language.ts';
import type { AnswerContext } from './reading.ts';

/** What answers are read by in this language, at this moment, where this caller's day is counted. @param language such as `hi-IN` */
export function answerContext(language: string, wallMs: number, timeZone: string): AnswerContext {
  return { language: languageOf(language), today: dayInZone(wallMs, timeZone) };
}

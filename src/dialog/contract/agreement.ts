import { findYesNo, type YesNo } from '../understand/yes-no.ts';
import type { AnswerContext } from './reading.ts';
import { wordsIn } from './parts.ts';

/** Whether a read-back was agreed to. */
export function agreement(text: string, context: AnswerContext): YesNo | undefined {
  return findYesNo(wordsIn(text, context.language))?.value;
}

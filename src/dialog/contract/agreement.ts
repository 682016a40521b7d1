import { findAgreement, findYesNo, leadingYesNo, type YesNo } from '../understand/yes-no.ts';
import type { AnswerContext } from './reading.ts';
import { wordsIn } from './parts.ts';

/** Whether a read-back was agreed to. */
export function agreement(text: string, context: AnswerContext): YesNo | undefined {
  return findAgreement(wordsIn(text, context.language))?.value;
}

/**
 * What is said besides the yes or no that an answer begins with, where any words could be the value: `no, it's Jon`. Empty where
 * more of it says yes or no (`no, that's wrong`), or is thanks.
 */
export function besidesAgreement(text: string, context: AnswerContext): string {
  const length = leadingYesNo(wordsIn(text, context.language));
  const words = text.trim().split(/\s+/u);
  let from = 0;
  while (from < words.length && wordsIn(words.slice(0, from).join(' '), context.language).length < length) from += 1;
  const rest = words.slice(from).join(' ');
  const says = findYesNo(wordsIn(rest, context.language)) !== undefined || /^(?:thanks|thank you|धन्यवाद|शुक्रिया)/iu.test(rest);
  return says ? '' : rest;
}

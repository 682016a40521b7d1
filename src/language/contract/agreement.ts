import { aroundYesNo, findAgreement, findYesNo, type YesNo } from '../understand/yes-no.ts';
import type { AnswerContext } from './reading.ts';
import { wordsIn } from './parts.ts';

/** Whether a read-back was agreed to. */
export function agreement(text: string, context: AnswerContext): YesNo | undefined {
  return findAgreement(wordsIn(text, context.language))?.value;
}

/**
 * What is said besides the yes or no that an answer begins or ends with, where any words could be the value: `no, it's Jon`, `Jon,
 * okay`. Empty where more of it says yes or no, or is thanks.
 */
export function besidesAgreement(text: string, context: AnswerContext): string {
  const around = aroundYesNo(wordsIn(text, context.language));
  const words = text.trim().split(/\s+/u);
  const count = (to: number): number => wordsIn(words.slice(0, to).join(' '), context.language).length;
  let from = 0;
  while (from < words.length && count(from) < around.from) from += 1;
  let to = words.length;
  while (to > from && count(to - 1) >= around.to) to -= 1;
  const rest = words.slice(from, to).join(' ');
  const says = findYesNo(wordsIn(rest, context.language)) !== undefined || /^(?:thanks|thank you|धन्यवाद|शुक्रिया)/iu.test(rest);
  return says ? '' : rest;
}

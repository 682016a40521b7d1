import { findYesNo, type YesNo } from '../understand/yes-no.ts';
import type { AnswerContext } from './reading.ts';
import { wordsIn } from './parts.ts';

/**
 * Whether a read-back was agreed to. A yes with a no behind it (`जी वो नहीं`, `yes, no wait`) is neither: taking a wrong
 * value costs more than asking once more.
 */
export function agreement(text: string, context: AnswerContext): YesNo | undefined {
  let tokens = wordsIn(text, context.language);
  const first = findYesNo(tokens);
  if (first === undefined || first.value === 'no') return first?.value;
  for (let found: typeof first | undefined = first; found !== undefined; found = findYesNo(tokens)) {
    if (found.value === 'no') return undefined;
    tokens = tokens.slice(found.to);
  }
  return 'yes';
}

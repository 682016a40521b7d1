import type { DayPart } from './clock-time.ts';
import { numberAt } from './numbers.ts';
import { type Found, phraseAt, phraseTable } from './tokens.ts';

const PARTS = phraseTable<DayPart>([
  ['am', ['am', 'एएम']],
  ['pm', ['pm', 'पीएम']],
  ['morning', ['in the morning', 'morning', 'सुबह', 'सवेरे', 'सबेरे', 'सुबह सुबह']],
  ['afternoon', ['in the afternoon', 'afternoon', 'दोपहर', 'दोपहर में', 'दिन में', 'दोपहर को']],
  ['evening', ['in the evening', 'evening', 'शाम', 'शाम को', 'सायं']],
  ['night', ['at night', 'tonight', 'night', 'रात', 'रात को', 'रात में']],
]);

/** The part of the day that an utterance names, wherever it stands; the last of several. */
export function findDayPart(tokens: readonly string[]): Found<DayPart> | undefined {
  let last: Found<DayPart> | undefined;
  for (let index = 0; index < tokens.length;) {
    const found = phraseAt(tokens, index, PARTS);
    // "I am" names no part of the day; "ten am" does.
    const spare = found?.value === 'am' && !afterNumber(tokens, index);
    if (found !== undefined && !spare) last = found;
    index = found?.to ?? index + 1;
  }
  return last;
}

function afterNumber(tokens: readonly string[], index: number): boolean {
  return /^\d{1,2}:\d{2}$/.test(tokens[index - 1] ?? '') || numberAt(tokens, index - 1) !== undefined;
}

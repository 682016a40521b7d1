/** Sentence marks that count only before a space: a dot also stands in numbers, addresses and abbreviations. */
const SPACED_MARKS = '.!?…؟';
/** Sentence marks that nothing else looks like: danda and double danda, Urdu, Santali, Manipuri, Sinhala, Burmese, Khmer, CJK. */
const SURE_MARKS = '।॥۔᱾᱿꯫෴။។。！？';
const CLAUSE_MARKS = ',;:—–،؛';
const SURE_CLAUSE_MARKS = '，、；：';
const CLOSING = `"'”’)\\]}»」』）`;

const ENDING = new RegExp(`[${SPACED_MARKS}${SURE_MARKS}]*[${CLOSING}]*$`, 'u');
const IS_SURE = new RegExp(`[${SURE_MARKS}]`, 'u');
const IS_MARK = new RegExp(`[${SPACED_MARKS}${SURE_MARKS}]`, 'u');

/** Never end a sentence: a name, a number or an example follows. */
const TITLES = new Set(
  'dr mr mrs ms mx prof st rev hon gen capt lt col sgt smt shri sri adv fr vs viz cf e.g i.e approx dept govt डॉ श्री श्रीमती प्रो'.split(
    ' ',
  ),
);
/** End a sentence unless a number follows. */
const BEFORE_NUMBERS = new Set('no nos rs re fig ext sec vol art ph tel pin pp ch रु नं'.split(' '));
/** End a sentence unless it visibly goes on in lower case or with a number. */
const OPEN_ENDED = new Set('etc al co inc ltd pvt sr jr'.split(' '));

export function isSentenceMark(character: string): boolean {
  return IS_MARK.test(character);
}

/** Whether a cut may stand behind this clause mark. @param next the character after it, empty at the end */
export function endsClause(character: string, next: string): boolean {
  return SURE_CLAUSE_MARKS.includes(character) || (CLAUSE_MARKS.includes(character) && /\s/u.test(next));
}

/** Marks and closing quotes at the end of the text, for example `?!”`. */
export function endingOf(text: string): string {
  return ENDING.exec(text)?.[0] ?? '';
}

/** Whether what stands behind the ending must be a space for it to count. */
export function needsSpace(ending: string): boolean {
  return !IS_SURE.test(ending);
}

/**
 * Whether a dot behind these words belongs to them and ends no sentence.
 * @param words the sentence so far, without its ending
 * @param next the first character after the space, empty at the end
 */
export function isAbbreviation(words: string, next: string): boolean {
  const word = /[^\s"'“‘([«]+$/u.exec(words)?.[0]?.toLowerCase() ?? '';
  const isNumberNext = /^\p{Nd}/u.test(next);
  if (TITLES.has(word) || /^\p{L}$/u.test(word)) return true;
  if (BEFORE_NUMBERS.has(word)) return isNumberNext;
  // The number of an item in a list.
  if (/^\s*\p{Nd}{1,3}$/u.test(words)) return true;
  const goesOn = isNumberNext || /^\p{Ll}/u.test(next);
  return goesOn && (OPEN_ENDED.has(word) || /^(?:\p{L}\.)+\p{L}$/u.test(word));
}

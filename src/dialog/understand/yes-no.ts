import { type Found, phraseAt, phraseTable } from './tokens.ts';

export type YesNo = 'yes' | 'no';

const TABLE = phraseTable<YesNo>([
  ['yes', ['yes', 'yeah', 'yep', 'yup', 'yes please', 'sure', 'correct', 'right', 'ok', 'okay', 'of course', 'exactly', 'fine']],
  [
    'yes',
    ['absolutely', 'certainly', 'definitely', 'perfect', 'sounds good', 'go ahead', 'no problem', 'not a problem', 'not bad'],
  ],
  ['yes', ['that is right', "that's right", 'that is correct', 'why not', 'great', 'good', 'true']],
  ['no', ['no', 'nope', 'nah', 'not', 'no thanks', 'no thank you', 'wrong', 'incorrect', 'never', "don't", 'do not', 'false']],
  ['no', ['not right', 'not correct', 'not really', 'not quite', "that's not right", 'that is not right', 'is not', "isn't"]],
  ['yes', ['हाँ', 'हां', 'हा', 'जी', 'जी हाँ', 'हाँ जी', 'जी जी', 'ठीक', 'ठीक है', 'सही', 'सही है', 'बिल्कुल', 'बिलकुल', 'अच्छा', 'ओके']],
  [
    'yes',
    [
      'हाँ ठीक है',
      'जी ठीक है',
      'बिल्कुल सही',
      'चलेगा',
      'ज़रूर',
      'यस',
      'कोई बात नहीं',
      'haan',
      'ji',
      'ji haan',
      'haan ji',
      'theek hai',
      'sahi hai',
    ],
  ],
  [
    'no',
    ['नहीं', 'नही', 'जी नहीं', 'नहीं जी', 'ना', 'न', 'मत', 'गलत', 'गलत है', 'ठीक नहीं', 'सही नहीं', 'नो', 'nahi', 'nahin', 'ji nahi'],
  ],
  ['no', ['ji nahin', 'jee nahin', 'nahin ji', 'nahi ji', 'naa', 'mat', 'galat', 'galat hai', 'sahi nahi', 'sahi nahin']],
  ['yes', ['haa', 'haanji', 'jee', 'jee haan', 'ji ji', 'thik hai', 'bilkul', 'accha', 'sahi']],
]);

/**
 * Whether an utterance says yes or no, in either language. The first word or phrase of either kind decides, the longest
 * reading of it: `not right` is no, `no problem` is yes, `जी नहीं` is no.
 */
export function findYesNo(tokens: readonly string[]): Found<YesNo> | undefined {
  for (let index = 0; index < tokens.length; index++) {
    const found = phraseAt(tokens, index, TABLE);
    if (found !== undefined) return found;
  }
  return undefined;
}

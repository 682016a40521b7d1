import { allSpans, type Mask, wordPattern } from './masking.ts';

/**
 * Redacts the caller's terms, each replaced with four asterisks: in any case, also when the recogniser split a word of
 * it, whole words only (ASR doc, parameter hash_keywords).
 */
export function hashKeywords(keywords: readonly string[]): Mask {
  const terms = keywords.flatMap((keyword) => {
    const pattern = wordPattern(keyword, { split: true });
    return pattern === undefined ? [] : [{ pattern, letters: lettersOf(keyword) }];
  });
  return {
    spans: (text) => {
      // A pattern costs much more than this, and most of a thousand terms are not said.
      const said = lettersOf(text);
      const likely = terms.filter(({ letters }) => said.includes(letters));
      return allSpans(
        text,
        likely.map(({ pattern }) => pattern),
      );
    },
    cover: () => '****',
  };
}

/** The text in one case without anything that a match may pass over. */
function lettersOf(text: string): string {
  const letters = text.normalize('NFC').replaceAll(/[\s\p{P}\p{M}\u200b-\u200d]/gu, '');
  // Three times, so that every pair of letters that differ in case alone becomes one (ß and ẞ, σ and ς).
  return letters.toLowerCase().toUpperCase().toLowerCase();
}

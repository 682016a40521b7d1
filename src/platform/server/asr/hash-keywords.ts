import { allSpans, type Mask, wordPattern } from './masking.ts';

/**
 * Redacts the caller's terms, each replaced with four asterisks: in any case, also when the recogniser split a word of
 * it, whole words only (ASR doc, parameter hash_keywords).
 */
export function hashKeywords(keywords: readonly string[]): Mask {
  const patterns = keywords.flatMap((keyword) => wordPattern(keyword, { split: true }) ?? []);
  return { spans: (text) => allSpans(text, patterns), cover: () => '****' };
}

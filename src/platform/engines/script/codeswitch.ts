import type { Replacement } from '../analyse/glossary.ts';
import { englishOf } from './loan-words.ts';
import { spokenNumbers } from './spoken-numbers.ts';

/**
 * The code-switch pass (ASR doc, parameter codeswitch): English words in Latin script, names in their spelling, spoken
 * numbers as digits.
 */
export function codeswitch(words: readonly string[]): Replacement[] {
  const numbers = spokenNumbers(words);
  const taken = new Set(numbers.flatMap(({ from, count }) => Array.from({ length: count }, (_, index) => from + index)));
  const spelt = words.flatMap((word, from): Replacement[] => {
    const [, before = '', bare = '', after = ''] = /^([^\p{L}]*)(.*?)([^\p{L}\p{M}\p{N}]*)$/u.exec(word) ?? [];
    const english = taken.has(from) ? undefined : englishOf(bare);
    return english === undefined ? [] : [{ from, count: 1, text: before + english + after }];
  });
  return [...numbers, ...spelt].sort((a, b) => a.from - b.from);
}

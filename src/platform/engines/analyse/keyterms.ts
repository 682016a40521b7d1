import type { Glossary } from './glossary.ts';
import { isStopWord, stem, wordsOf } from './words.ts';

const MOST = 10;
const LONGEST = 3;

/**
 * The key terms of a transcript, at most ten: terms of the glossary first, in its spelling, then runs of words between stop words,
 * the most frequent and longest first.
 */
export function keytermsOf(utterances: readonly string[], glossary: Glossary): string[] {
  const named: string[] = [];
  const runs = new Map<string, { term: string; count: number; words: number }>();
  for (const utterance of utterances) {
    // A redacted term ends a run, as punctuation does.
    for (const clause of utterance.split(/[.,;:?!।*()"]+/u)) {
      const words = clause.split(/\s+/).filter((word) => word !== '');
      const found = glossary.replacements(words);
      named.push(...found.map(({ text }) => text));
      const rest = words.map((word, index) =>
        found.some(({ from, count }) => index >= from && index < from + count) ? '.' : word,
      );
      for (const run of runsOf(rest)) {
        const key = run.map(stem).join(' ');
        const entry = runs.get(key) ?? { term: run.join(' '), count: 0, words: run.length };
        runs.set(key, { ...entry, count: entry.count + 1 });
      }
    }
  }
  const sums = occurrences(runs);
  const ranked = [...runs]
    .map(([key, run]) => ({ ...run, worth: (sums.get(key) ?? 0) * Math.sqrt(run.words) }))
    .sort((a, b) => b.worth - a.worth)
    .map(({ term }) => term);
  return [...new Set([...named, ...ranked])].slice(0, MOST);
}

/** How often each run of words occurs, also inside longer runs. */
function occurrences(runs: ReadonlyMap<string, { readonly count: number }>): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const [key, { count }] of runs) {
    const parts = key.split(' ');
    for (let from = 0; from < parts.length; from += 1) {
      for (let to = from + 1; to <= parts.length; to += 1) {
        const inner = parts.slice(from, to).join(' ');
        sums.set(inner, (sums.get(inner) ?? 0) + count);
      }
    }
  }
  return sums;
}

function runsOf(words: readonly string[]): string[][] {
  const runs: string[][] = [[]];
  for (const raw of words) {
    const word = wordsOf(raw).join(' ');
    const last = runs.at(-1) ?? [];
    if (word === '' || isStopWord(word) || /^\p{N}+$/u.test(word)) runs.push([]);
    else if (last.length === LONGEST) runs.push([word]);
    else last.push(word);
  }
  return runs.filter((run) => run.join('').length > 2);
}

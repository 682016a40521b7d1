import { isStopWord, stem, wordsOf } from './words.ts';

/** Share of the sentences in the summary. */
const SHARE = 1 / 3;

/**
 * An extractive summary: the sentences with the most frequent terms, in their order.
 * @param maxWords words the summary may have; a single longer sentence is cut
 */
export function summaryOf(utterances: readonly string[], maxWords: number): string {
  const sentences = utterances
    .flatMap((utterance) => utterance.split(/(?<=[.?!।])\s+/u))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
  const terms = sentences.map((sentence) =>
    wordsOf(sentence)
      .filter((word) => !isStopWord(word))
      .map(stem),
  );
  const counts = new Map<string, number>();
  for (const term of terms.flat()) counts.set(term, (counts.get(term) ?? 0) + 1);
  const ranked = sentences
    .map((sentence, index) => ({ sentence, index, worth: worthOf(terms[index] ?? [], counts, index) }))
    .sort((a, b) => b.worth - a.worth || a.index - b.index);
  const kept: { sentence: string; index: number }[] = [];
  let words = 0;
  for (const candidate of ranked) {
    const length = candidate.sentence.split(/\s+/).length;
    // A sentence said twice is kept once.
    if (kept.some(({ sentence }) => sentence === candidate.sentence)) continue;
    if (kept.length >= Math.max(1, Math.ceil(sentences.length * SHARE)) || (kept.length > 0 && words + length > maxWords))
      continue;
    kept.push(candidate);
    words += length;
  }
  const text = kept
    .sort((a, b) => a.index - b.index)
    .map(({ sentence }) => sentence)
    .join(' ');
  return text.split(/\s+/).slice(0, maxWords).join(' ');
}

/** Sums the frequencies of the terms, normalised by length; early sentences, where callers say what they want, weigh a little more. */
function worthOf(terms: readonly string[], counts: ReadonlyMap<string, number>, index: number): number {
  const sum = [...new Set(terms)].reduce((total, term) => total + (counts.get(term) ?? 0), 0);
  return (sum / Math.sqrt(Math.max(3, terms.length))) * (1 + 0.3 / (index + 1));
}

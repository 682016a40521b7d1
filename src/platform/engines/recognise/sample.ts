import type { WordNetwork } from './network.ts';

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Random utterances of a grammar, as word indexes; what has been said least often comes first, so that words appear
 * about equally often and next to many neighbours.
 */
export function sampleUtterances(network: WordNetwork, count: number, random: () => number): number[][] {
  const wordCounts = new Map<number, number>();
  const pairCounts = new Map<string, number>();
  const bump = <Key>(counts: Map<Key, number>, key: Key): unknown => counts.set(key, (counts.get(key) ?? 0) + 1);
  return Array.from({ length: count }, () => {
    const utterance: number[] = [];
    for (let node = 0; ;) {
      const arcs = network.arcs[node]!;
      const stop = network.final[node]! && (arcs.length === 0 || random() < 0.25 + utterance.length * 0.08);
      if (stop) return utterance;
      const last = utterance.at(-1) ?? -1;
      const cost = (word: number): number =>
        (wordCounts.get(word) ?? 0) + 3 * (pairCounts.get(`${last} ${word}`) ?? 0) + random() * 2;
      const arc = arcs.map((arc) => ({ arc, cost: cost(arc.word) })).reduce((a, b) => (b.cost < a.cost ? b : a)).arc;
      bump(wordCounts, arc.word);
      bump(pairCounts, `${last} ${arc.word}`);
      utterance.push(arc.word);
      node = arc.to;
    }
  });
}

/** The text of an utterance as it is spoken and shown. */
export function utteranceText(network: WordNetwork, utterance: readonly number[]): string {
  return utterance.map((word) => shownWord(network.words[word]!)).join(' ');
}

export function shownWord(word: string): string {
  return word.replaceAll('_', ' ');
}

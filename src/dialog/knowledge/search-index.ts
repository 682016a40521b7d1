/** One searchable piece of a document. */
export interface Passage {
  /** Where it stands, for people: `prices.md › Deliveries`, `manual.pdf, page 3`. */
  readonly source: string;
  readonly text: string;
}

export interface Hit extends Passage {
  readonly score: number;
}

// Okapi BM25 with the usual constants; a heading's words count like the text's.
const K1 = 1.2;
const B = 0.75;

/** Words that carry no topic: a passage that shares only these with the question does not answer it. */
const COMMON = new Set(
  (
    'a an the and or of to in on at for from by with is are am was were be been do does did have has had it its i you he she we they me my your our ' +
    'this that these those what when where which who how why can could will would shall should may please tell about there any not no yes ' +
    'का के की को से में पर और या है हैं था थे थी हो हूँ मैं आप वह यह हम मुझे मेरा आपका क्या कब कहाँ कौन कैसे क्यों कितना कितने कितनी बताइए कृपया नहीं हाँ ने तो भी कर'
  )
    .split(' ')
    .map((word) => word.normalize('NFKC')),
);

/** Full-text search over passages in memory; built once, then read only. */
export class SearchIndex {
  readonly #passages: readonly Passage[];
  /** Of each term, the passages that have it and how often: pairs in one list. */
  readonly #postings = new Map<string, number[]>();
  /** Of each passage, how much its length weighs against it: the second part of BM25's denominator. */
  readonly #weights: Float64Array;

  constructor(passages: readonly Passage[]) {
    this.#passages = passages;
    const lengths = new Float64Array(passages.length);
    for (const [index, { source, text }] of passages.entries()) {
      const terms = termsOf(`${source} ${text}`);
      lengths[index] = terms.length;
      const counts = new Map<string, number>();
      for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
      for (const [term, count] of counts) {
        const known = this.#postings.get(term);
        if (known === undefined) this.#postings.set(term, [index, count]);
        else known.push(index, count);
      }
    }
    const meanLength = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, passages.length);
    this.#weights = lengths.map((length) => K1 * (1 - B + (B * length) / meanLength));
  }

  get size(): number {
    return this.#passages.length;
  }

  /** The best passages for a question, best first; none where they share only common words with it. */
  search(query: string, most: number): Hit[] {
    const scores = new Float64Array(this.#passages.length);
    for (const term of new Set(termsOf(query))) {
      if (COMMON.has(term)) continue;
      const postings = this.#postings.get(term) ?? [];
      const having = postings.length / 2;
      const rarity = Math.log(1 + (this.#passages.length - having + 0.5) / (having + 0.5));
      for (let at = 0; at < postings.length; at += 2) {
        const index = postings[at] ?? 0;
        const count = postings[at + 1] ?? 0;
        scores[index] = (scores[index] ?? 0) + (rarity * count * (K1 + 1)) / (count + (this.#weights[index] ?? 0));
      }
    }
    return this.#best(scores, most);
  }

  #best(scores: Float64Array, most: number): Hit[] {
    const best: Hit[] = [];
    for (const [index, passage] of this.#passages.entries()) {
      const score = scores[index] ?? 0;
      if (score === 0 || (best.length === most && score <= (best.at(-1)?.score ?? 0))) continue;
      const place = best.findIndex((hit) => hit.score < score);
      best.splice(place < 0 ? best.length : place, 0, { ...passage, score });
      best.length = Math.min(best.length, most);
    }
    return best;
  }
}

/** The words of a text in any script, in lower case; English plurals lose their ending. */
export function termsOf(text: string): string[] {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return words.map((word) => (/^[a-z]{4,}$/u.test(word) ? word.replace(/ies$/u, 'y').replace(/(?<![su])s$/u, '') : word));
}

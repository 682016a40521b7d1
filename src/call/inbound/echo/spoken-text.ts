import { plainWords } from '../../turn/transcript.ts';

/** Share of a long text's words that must match: a recogniser may mishear a quarter of them over an echo. */
const LEAST_SHARE = 0.75;
/** Up to this many words, all must match in sequence. */
const FEW_WORDS = 3;
/** Age after which a sentence cannot be in a transcript: echo delay plus recognition. */
const KEPT_MS = 10_000;

interface Spoken {
  readonly unitId: string;
  readonly words: readonly string[];
  untilMs: number;
}

/** What the bot has been saying lately, to compare with what the recogniser hears. */
export class SpokenText {
  #sentences: Spoken[] = [];

  /** Part of a sentence is sent. @param untilMs when it will have been played */
  sounds(unitId: string, text: string, untilMs: number): void {
    const last = this.#sentences.at(-1);
    if (last?.unitId === unitId) last.untilMs = untilMs;
    else {
      this.#sentences = this.#sentences.filter((sentence) => sentence.untilMs > untilMs - KEPT_MS);
      this.#sentences.push({ unitId, words: wordsOf(text), untilMs });
    }
  }

  /** Whether the recognised words are, in order, words the bot was saying until `nowMs`. */
  contains(text: string, nowMs: number): boolean {
    const heard = wordsOf(text);
    const said = this.#sentences.filter(({ untilMs }) => untilMs > nowMs - KEPT_MS).flatMap(({ words }) => words);
    if (heard.length === 0) return false;
    if (heard.length <= FEW_WORDS) return ` ${said.join(' ')} `.includes(` ${heard.join(' ')} `);
    return commonWords(heard, said) >= LEAST_SHARE * heard.length;
  }
}

function wordsOf(text: string): readonly string[] {
  return plainWords(text)
    .split(' ')
    .filter((word) => word !== '');
}

/** Length of the longest sequence of words that occurs in both, in order. */
function commonWords(a: readonly string[], b: readonly string[]): number {
  let above = Array.from({ length: b.length + 1 }, () => 0);
  for (const word of a) {
    const row = [0];
    for (const [index, other] of b.entries())
      row.push(word === other ? above[index]! + 1 : Math.max(above[index + 1]!, row[index]!));
    above = row;
  }
  return above[b.length]!;
}

const RATE_HZ = 8_000;
const WORD_MS = 240;
const PAUSE_MS = 500;
/** A recogniser that closes a segment after this much silence. */
const SEGMENT_PAUSE_MS = 400;
const vocabulary = ['one', 'two', 'three', 'four', 'five'];

/** Words as blocks of a loudness that names them, each with a pause behind it. */
export function wordsOf(words: readonly string[]): Int16Array {
  const perWord = ((WORD_MS + PAUSE_MS) * RATE_HZ) / 1000;
  const voiced = (WORD_MS * RATE_HZ) / 1000;
  return Int16Array.from({ length: words.length * perWord }, (_, index) => {
    if (index % perWord >= voiced) return 0;
    const loudness = 2_000 * (1 + vocabulary.indexOf(words[Math.floor(index / perWord)]!));
    return index % 2 === 0 ? loudness : -loudness;
  });
}

/**
 * A recogniser that knows such words and nothing else: it hears samples alone, so that a word which is sent twice is heard
 * twice and one that is cut is heard cut.
 */
export class SpokenWords {
  /** Words begun. */
  started = 0;
  readonly #say: (event: object) => void;
  readonly #how: { readonly tellsEnd: boolean; readonly marks: boolean };
  #heard = 0;
  #silence = 0;
  #word: { loudness: number; samples: number } | undefined;
  #segment: string[] = [];
  #seg = 0;

  constructor(say: (event: object) => void, how: { readonly tellsEnd: boolean; readonly marks: boolean }) {
    this.#say = say;
    this.#how = how;
  }

  hear(pcm: Buffer): void {
    for (let at = 0; at < pcm.length; at += 2) this.#sample(pcm.readInt16LE(at));
  }

  commit(): void {
    this.#final(true);
  }

  #sample(sample: number): void {
    this.#heard += 1;
    if (sample === 0) {
      this.#silence += 1;
      if (this.#word !== undefined) this.#wordOver(this.#word);
      if (this.#segment.length > 0 && this.#silence === (SEGMENT_PAUSE_MS * RATE_HZ) / 1000) this.#final(false);
      return;
    }
    this.#silence = 0;
    if (this.#word === undefined) {
      this.started += 1;
      this.#word = { loudness: Math.abs(sample), samples: 0 };
    }
    this.#word.samples += 1;
  }

  #wordOver({ loudness, samples }: { loudness: number; samples: number }): void {
    this.#word = undefined;
    const whole = samples === (WORD_MS * RATE_HZ) / 1000;
    this.#segment.push(whole ? vocabulary[loudness / 2_000 - 1]! : `(${samples} samples)`);
  }

  #final(committed: boolean): void {
    const text = this.#segment.join(' ');
    this.#segment = [];
    this.#say({
      type: 'final',
      seg: this.#seg,
      text,
      ...(this.#how.marks ? { end_of_utterance: committed } : {}),
      ...(this.#how.tellsEnd ? { end: this.#heard / RATE_HZ } : {}),
    });
    this.#seg += 1;
  }
}

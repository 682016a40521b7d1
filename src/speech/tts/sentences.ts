import { pieceUnits } from './piece.ts';

/** Longest piece that is synthesized at once, in code points (TTS doc: under 500 is recommended). */
const MOST_CHARACTERS = 499;
/** A first sentence longer than this begins with its first clauses, so that speech starts early. */
const MOST_FIRST_CHARACTERS = 100;

/**
 * Cuts a text into what is synthesized one by one, mostly sentences; joined the pieces are the text. A cut stands behind a
 * sentence mark and the space after it, in every script the platform speaks, never inside a number, a time, an
 * abbreviation, a grapheme cluster or a formula `$…$`; a sentence that is too long is cut behind a clause, else at a space.
 * @param mostCharacters longest piece in code points; only a single cluster or formula may be longer
 */
export function splitForSpeech(text: string, mostCharacters = MOST_CHARACTERS): string[] {
  const cutter = new SentenceCutter(mostCharacters);
  return [...cutter.push(text), ...cutter.flush()];
}

/**
 * Cuts a text that comes in parts, such as a streamed reply. However the text is cut into parts, the pieces are those of
 * `splitForSpeech`; each is given as soon as nothing that follows can change it.
 */
export class SentenceCutter {
  readonly #mostCharacters: number;
  #text = '';
  #isFirst = true;

  /** @throws RangeError for a limit that is not a whole number, 1 or more */
  constructor(mostCharacters = MOST_CHARACTERS) {
    if (!Number.isInteger(mostCharacters) || mostCharacters < 1)
      throw new RangeError(`a piece has 1 character or more, not ${mostCharacters}`);
    this.#mostCharacters = mostCharacters;
  }

  /** @returns the pieces that are certain now, oldest first */
  push(text: string): string[] {
    this.#text += text;
    return this.#take(false);
  }

  /** The text is over. @returns what was left of it; the cutter may then be used for another text */
  flush(): string[] {
    const pieces = this.#take(true);
    this.#isFirst = true;
    return pieces;
  }

  #take(isEnd: boolean): string[] {
    const pieces: string[] = [];
    while (this.#text !== '') {
      const most = this.#mostCharacters;
      const mostBeforeClause = this.#isFirst ? Math.min(most, MOST_FIRST_CHARACTERS) : most;
      const units = pieceUnits(this.#text, { most, mostBeforeClause }, isEnd);
      if (units === undefined) break;
      pieces.push(this.#text.slice(0, units));
      this.#text = this.#text.slice(units);
      this.#isFirst = false;
    }
    return pieces;
  }
}

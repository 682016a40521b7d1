import { codePoints } from './speech-fields.ts';

/** Longest text of one synthesis, in code points (TTS doc: under 500 is recommended). */
const MOST_CHARACTERS = 499;
/** A longer first sentence is cut after its first clauses, so that speech starts early. */
const MOST_FIRST_CHARACTERS = 100;

/**
 * Cuts a text into pieces to synthesise, mostly sentences; the joined pieces are the text. A cut is after a sentence mark and its
 * space, in every script that the platform speaks, and never inside a number, a time, an abbreviation, a grapheme cluster or a
 * formula `$…$`. A sentence that is too long is cut after a clause, else at a space.
 * @param mostCharacters longest piece in code points; only a single cluster or formula may be longer
 */
export function splitForSpeech(text: string, mostCharacters = MOST_CHARACTERS): string[] {
  const cutter = new SentenceCutter(mostCharacters);
  return [...cutter.push(text), ...cutter.flush()];
}

/** Cuts a text at sentence ends into as few pieces as fit into requests of this many characters (code points). */
export function splitForRequests(text: string, mostCharacters: number): string[] {
  const pieces: string[] = [];
  let last = '';
  for (const sentence of splitForSpeech(text, mostCharacters)) {
    if (last !== '' && codePoints(last) + codePoints(sentence) > mostCharacters) {
      pieces.push(last);
      last = '';
    }
    last += sentence;
  }
  return [...pieces, last].filter((piece) => piece.trim() !== '');
}

/**
 * Cuts a streamed text. The pieces are those of `splitForSpeech`, however the text arrives; each is returned as soon as no further
 * text can change it.
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

  /** @returns the pieces that are final now, oldest first */
  push(text: string): string[] {
    this.#text += text;
    return this.#take(false);
  }

  /** Ends the text. @returns the remaining pieces; the cutter can then be used for another text */
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

interface PieceLimits {
  /** Longest piece, in code points. */
  readonly most: number;
  /** A longer sentence is cut at the last clause mark before this, in code points. */
  readonly mostBeforeClause: number;
}

/** A grapheme cluster or a formula, which is never cut. Positions in UTF-16 units. */
interface Atom {
  readonly from: number;
  readonly until: number;
  readonly isFormula: boolean;
}

/** Shortest clause that is spoken by itself, in code points. */
const LEAST_CLAUSE = 12;
/** Longer than any formula with the characters that decide it. */
const FORMULA_WINDOW = 256;

const segmenter = new Intl.Segmenter();
const sayable = /[\p{L}\p{N}]/u;

/**
 * Length of the first piece in UTF-16 units: a sentence with its space, or as much of a longer one as the limits allow. It never
 * ends inside a grapheme cluster or a formula, nor between digits if another place exists.
 * @param isEnd whether the text is complete
 * @returns undefined when it depends on further text; a result never changes when the text grows
 */
function pieceUnits(text: string, limits: PieceLimits, isEnd: boolean): number | undefined {
  const cuts = new Cuts(text, limits);
  for (const atom of atoms(text, isEnd)) {
    if (atom === undefined) return undefined;
    const cut = cuts.add(atom);
    if (cut !== undefined) return cut;
    const end = atom.isFormula ? 0 : sentenceUnits(text, atom, limits.most, isEnd);
    if (end === undefined) return undefined;
    if (end === 0 || !cuts.fits(end) || !sayable.test(text.slice(0, end))) continue;
    if (sayable.test(text.slice(end))) return end;
    // A tail without words belongs to this sentence, unless more text gives it words.
    if (!isEnd) return undefined;
    return cuts.fits(text.length) ? text.length : end;
  }
  return isEnd ? text.length : undefined;
}

/** The atoms of a text; undefined for one that further text may change. */
function* atoms(text: string, isEnd: boolean): Generator<Atom | undefined> {
  let formulaUntil = 0;
  for (const { segment, index: from } of segmenter.segment(text)) {
    if (from < formulaUntil) continue;
    const until = from + segment.length;
    const units = segment === '$' && text[from - 1] !== '\\' ? formulaAt(text, from, isEnd) : 0;
    // The last cluster may grow, and half a surrogate pair is no character yet.
    if (units === undefined || (!isEnd && until >= text.length - 1)) {
      yield undefined;
      return;
    }
    formulaUntil = from + units;
    yield { from, until: Math.max(until, formulaUntil), isFormula: units > 0 };
  }
}

function formulaAt(text: string, from: number, isEnd: boolean): number | undefined {
  const window = text.slice(from, from + FORMULA_WINDOW);
  return formulaUnits(window, isEnd && from + window.length === text.length);
}

/**
 * End of the sentence whose last mark or closing quote is this atom, with its space; 0 when no sentence ends here, undefined when
 * further text decides. At most `most` spaces are searched.
 */
function sentenceUnits(text: string, atom: Atom, most: number, isEnd: boolean): number | undefined {
  const head = text.slice(0, atom.until);
  const isBreak = /\n\r?\n$/u.test(head.slice(-3));
  const ending = endingOf(head.slice(-16));
  const marks = Array.from(ending).filter(isSentenceMark).join('');
  if (!isBreak && marks === '') return 0;
  const space = /^\s*/u.exec(text.slice(atom.until, atom.until + most + 1))?.[0] ?? '';
  const next = text.slice(atom.until + space.length, atom.until + space.length + 2);
  if (next.length < 2 && !isEnd) return undefined;
  // Marks and quotes that follow directly belong to the same ending.
  const isTouched = !isBreak && space === '' && next !== '';
  if (isTouched && (endingOf(next.slice(0, 1)) !== '' || needsSpace(ending) || /^\p{N}/u.test(next))) return 0;
  if (marks === '.' && isAbbreviation(head.slice(0, -ending.length), next)) return 0;
  const end = head.length + space.length;
  // A mark that combines with the space would be torn from it.
  const [cluster] = segmenter.segment(text.slice(end - 1, end + 2));
  return cluster?.segment.length === 1 || next === '' ? end : 0;
}

/** Collects the places where a long sentence can be cut. */
class Cuts {
  readonly #text: string;
  readonly #limits: PieceLimits;
  #points = 0;
  #isSayable = false;
  #clause = 0;
  #space = 0;
  #boundary = 0;
  #numberBoundary = 0;

  constructor(text: string, limits: PieceLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  fits(units: number): boolean {
    return units <= this.#limits.most || Array.from(this.#text.slice(0, units)).length <= this.#limits.most;
  }

  /** Adds an atom. @returns where to cut once the limit is exceeded */
  add({ from, until, isFormula }: Atom): number | undefined {
    const before = this.#points;
    const text = this.#text.slice(from, until);
    this.#points += Array.from(text).length;
    const { most, mostBeforeClause } = this.#limits;
    const places = [this.#clause, this.#space, this.#boundary, this.#numberBoundary];
    if (this.#points > most && before > 0) return places.find((place) => place > 0);
    if (this.#points > mostBeforeClause && this.#clause > 0) return this.#clause;
    const next = this.#text.slice(until, until + 2);
    const isInNumber = /\p{N}[\s.,:]?$/u.test(this.#text.slice(Math.max(0, until - 3), until)) && /^[\s.,:]?\p{N}/u.test(next);
    if (isInNumber) {
      this.#numberBoundary = until;
      return undefined;
    }
    this.#boundary = until;
    this.#isSayable ||= sayable.test(text);
    if (this.#isSayable && /^\s/u.test(text)) this.#space = until;
    const isClause = !isFormula && /\s$/u.test(text) && endsClause(this.#text.slice(0, from).trimEnd().slice(-1), ' ');
    if ((isClause || endsClause(text, '')) && this.#points >= LEAST_CLAUSE) this.#clause = until;
    return undefined;
  }
}

/** Longest formula: text after a lone `$` must not wait for another one without end. */
const MOST_UNITS = 200;

/** `$5`, `$1,200.50`: money, when no letter or operator follows at once. */
const PRICE = /^\$\d[\d.,]*(?:[\s)\]'"”’?!;:%-]|$)/u;
// No combining character may follow the closing sign.
const INLINE = /^\$[^$]*(?<!\s)\$(?![\d\p{M}\p{EMod}\u200c\u200d])/u;
const DISPLAY = /^\$\$[^$]+\$\$(?![\p{M}\p{EMod}\u200c\u200d])/u;

/**
 * Length of the formula `$…$` or `$$…$$` at the text's beginning, in UTF-16 units; 0 for a lone sign or a price. No space follows the
 * opening sign or precedes the closing one, and no digit follows.
 * @param isEnd whether the text is complete
 * @returns undefined when further text decides
 */
function formulaUnits(text: string, isEnd: boolean): number | undefined {
  const head = text.slice(0, MOST_UNITS + 2);
  const isWhole = isEnd || text.length > head.length;
  if (head.length < 2) return isWhole ? 0 : undefined;
  const price = PRICE.exec(head);
  // At the very end of an unfinished text more digits may follow.
  if (price !== null) return isWhole || price[0].length < head.length ? 0 : undefined;
  const isDisplay = head.startsWith('$$');
  if (!isDisplay && /^\s/u.test(head.slice(1))) return 0;
  const formula = (isDisplay ? DISPLAY : INLINE).exec(head);
  if (formula !== null) return isWhole || formula[0].length < head.length ? formula[0].length : undefined;
  const closed = head.indexOf('$', isDisplay ? 2 : 1);
  const isDecided = isWhole || (closed !== -1 && closed + 1 < head.length);
  return isDecided ? 0 : undefined;
}

/** Sentence marks that count only before a space: a dot also stands in numbers, addresses and abbreviations. */
const SPACED_MARKS = '.!?…؟';
/** Unambiguous sentence marks: danda and double danda, Urdu, Santali, Manipuri, Sinhala, Burmese, Khmer, CJK. */
const SURE_MARKS = '।॥۔᱾᱿꯫෴။។。！？';
const CLAUSE_MARKS = ',;:—–،؛';
const SURE_CLAUSE_MARKS = '，、；：';
const CLOSING = `"'”’)\\]}»」』）`;

const ENDING = new RegExp(`[${SPACED_MARKS}${SURE_MARKS}]*[${CLOSING}]*$`, 'u');
const IS_SURE = new RegExp(`[${SURE_MARKS}]`, 'u');
const IS_MARK = new RegExp(`[${SPACED_MARKS}${SURE_MARKS}]`, 'u');

/** Never end a sentence: a name, a number or an example follows. */
const TITLES = new Set(
  'dr mr mrs ms mx prof st rev hon gen capt lt col sgt smt shri sri adv fr vs viz cf e.g i.e approx dept govt डॉ श्री श्रीमती प्रो'.split(
    ' ',
  ),
);
/** End a sentence unless a number follows. */
const BEFORE_NUMBERS = new Set('no nos rs re fig ext sec vol art ph tel pin pp ch रु नं'.split(' '));
/** End a sentence unless it visibly goes on in lower case or with a number. */
const OPEN_ENDED = new Set('etc al co inc ltd pvt sr jr'.split(' '));

function isSentenceMark(character: string): boolean {
  return IS_MARK.test(character);
}

/** Whether a text may be cut after this clause mark. @param next the character after it, empty at the end */
function endsClause(character: string, next: string): boolean {
  return SURE_CLAUSE_MARKS.includes(character) || (CLAUSE_MARKS.includes(character) && /\s/u.test(next));
}

/** Marks and closing quotes at the end of the text, for example `?!”`. */
function endingOf(text: string): string {
  return ENDING.exec(text)?.[0] ?? '';
}

/** Whether the ending counts only before a space. */
function needsSpace(ending: string): boolean {
  return !IS_SURE.test(ending);
}

/**
 * Whether a dot after these words belongs to an abbreviation and does not end the sentence.
 * @param words the sentence so far, without its ending
 * @param next the first character after the space, empty at the end
 */
function isAbbreviation(words: string, next: string): boolean {
  const word = /[^\s"'“‘([«]+$/u.exec(words)?.[0]?.toLowerCase() ?? '';
  const isNumberNext = /^\p{Nd}/u.test(next);
  if (TITLES.has(word) || /^\p{L}$/u.test(word)) return true;
  if (BEFORE_NUMBERS.has(word)) return isNumberNext;
  // The number of an item in a list.
  if (/^\s*\p{Nd}{1,3}$/u.test(words)) return true;
  const goesOn = isNumberNext || /^\p{Ll}/u.test(next);
  return goesOn && (OPEN_ENDED.has(word) || /^(?:\p{L}\.)+\p{L}$/u.test(word));
}

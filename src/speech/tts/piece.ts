import { formulaUnits } from './formula.ts';
import { endingOf, endsClause, isAbbreviation, isSentenceMark, needsSpace } from './sentence-marks.ts';

export interface PieceLimits {
  /** Longest piece, in code points. */
  readonly most: number;
  /** A sentence longer than this is cut at the last clause mark before it, in code points. */
  readonly mostBeforeClause: number;
}

/** A grapheme cluster or a formula: what is never cut. Positions in UTF-16 units. */
interface Atom {
  readonly from: number;
  readonly until: number;
  readonly isFormula: boolean;
}

/** A clause shorter than this, in code points, is not spoken by itself. */
const LEAST_CLAUSE = 12;
/** More than any formula and what decides whether it is one. */
const FORMULA_WINDOW = 256;

const segmenter = new Intl.Segmenter();
const sayable = /[\p{L}\p{N}]/u;

/**
 * How many UTF-16 units at the head of the text are spoken as one: a sentence with the space behind it, or as much of a
 * longer one as the limits allow. Never ends inside a grapheme cluster or a formula, nor between digits while there is
 * another place.
 * @param isEnd whether nothing follows the text
 * @returns undefined when that depends on what follows; an answer never changes when the text grows
 */
export function pieceUnits(text: string, limits: PieceLimits, isEnd: boolean): number | undefined {
  const cuts = new Cuts(text, limits);
  for (const atom of atoms(text, isEnd)) {
    if (atom === undefined) return undefined;
    const cut = cuts.add(atom);
    if (cut !== undefined) return cut;
    const end = atom.isFormula ? 0 : sentenceUnits(text, atom, limits.most, isEnd);
    if (end === undefined) return undefined;
    if (end === 0 || !cuts.fits(end) || !sayable.test(text.slice(0, end))) continue;
    if (sayable.test(text.slice(end))) return end;
    // A tail that nobody can say belongs to this sentence; more text may still give it words.
    if (!isEnd) return undefined;
    return cuts.fits(text.length) ? text.length : end;
  }
  return isEnd ? text.length : undefined;
}

/** The atoms of a text; undefined in place of one that what follows may still change. */
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
 * Where the sentence ends that has its last mark or closing quote in this atom, the space behind it included; 0 when none
 * does, undefined when what follows decides it. More space than `most` is not gone through: such a sentence fits nowhere.
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

/** The places where a sentence that is too long can be cut, as they pass by. */
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

  /** Counts an atom in. @returns where to cut when it no longer fits */
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

import { pairTable } from '../../kernel/pair-table.ts';
import { numberAt } from './numbers.ts';
import { tokenise } from './tokens.ts';

/** A written or spoken letter or digit, with its position in the text. */
export interface SaidSymbol {
  /** One of `0` to `9`, `A` to `Z`. */
  readonly value: string;
  readonly from: number;
  readonly to: number;
  /** Whether it is a word, not a figure. */
  readonly spoken: boolean;
}

interface Piece {
  readonly token: string;
  readonly from: number;
  readonly to: number;
}

const PIECES = /[\p{L}\p{M}]+|\p{Nd}+/gu;

/** Text between the digits of one number: blanks, signs and filler words. */
const BETWEEN = /^(?:[\s.,()/+\u2010-\u2015-]|plus|and|then|um|uh|er|okay|ok|yes|yeah|और|फिर|जी|हाँ|हां)*$/iu;

const ZERO = new Set(['oh', 'o', 'nought', 'naught', 'nil', 'zero']);
const TIMES: ReadonlyMap<string, number> = new Map([
  ['double', 2],
  ['triple', 3],
  ['डबल', 2],
  ['ट्रिपल', 3],
]);

/** The letters' names as Hindi speakers say them. */
const LETTERS = pairTable(
  `ए=A बी=B सी=C डी=D ई=E एफ=F जी=G एच=H आई=I जे=J के=K एल=L एम=M
  एन=N ओ=O पी=P क्यू=Q आर=R एस=S टी=T यू=U वी=V डब्ल्यू=W एक्स=X वाई=Y जेड=Z
  bee=B cee=C see=C dee=D eff=F gee=G aitch=H jay=J kay=K ell=L em=M en=N pee=P queue=Q are=R ess=S tee=T you=U vee=V ex=X why=Y zed=Z zee=Z`,
);

/**
 * Runs of digits in a text, written in figures of any script or said in English or Hindi words (`nine eight double seven`,
 * `ninety eight seventy seven`, `नौ आठ`), with nothing between them but blanks, signs and noises.
 */
export function digitRuns(text: string): SaidSymbol[][] {
  const pieces = piecesOf(text);
  const tokens = pieces.map(({ token }) => token);
  return runs(text, (index) => digitsAt(pieces, tokens, index), pieces.length);
}

/** Runs of single letters and digits, as in `A B C P K one two three four F`; `B for Bombay` is one letter. */
export function codeRuns(text: string): SaidSymbol[][] {
  const pieces = piecesOf(text);
  const tokens = pieces.map(({ token }) => token);
  return runs(text, (index) => letterAt(text, pieces, index) ?? digitsAt(pieces, tokens, index), pieces.length);
}

interface Read {
  readonly symbols: readonly SaidSymbol[];
  readonly next: number;
}

function runs(text: string, read: (index: number) => Read | undefined, length: number): SaidSymbol[][] {
  const found: SaidSymbol[][] = [];
  let run: SaidSymbol[] = [];
  for (let index = 0; index < length;) {
    const got = read(index);
    if (got === undefined) {
      index += 1;
      continue;
    }
    const last = run.at(-1);
    if (last !== undefined && !BETWEEN.test(text.slice(last.to, got.symbols[0]?.from))) {
      found.push(run);
      run = [];
    }
    run.push(...got.symbols);
    index = got.next;
  }
  if (run.length > 0) found.push(run);
  return found;
}

function piecesOf(text: string): Piece[] {
  return [...text.matchAll(PIECES)].map((match) => ({
    // Filler words have no token, and are not digits.
    token: /^\p{Nd}+$/u.test(match[0]) ? ascii(match[0]) : (tokenise(match[0])[0] ?? match[0].toLowerCase()),
    from: match.index,
    to: match.index + match[0].length,
  }));
}

function digitsAt(pieces: readonly Piece[], tokens: readonly string[], index: number): Read | undefined {
  const piece = pieces[index];
  if (piece === undefined) return undefined;
  const { token, from, to } = piece;
  if (/^\d+$/.test(token)) {
    const width = (to - from) / token.length;
    const symbols = Array.from(token, (value, at) => ({
      value,
      from: from + at * width,
      to: from + (at + 1) * width,
      spoken: false,
    }));
    return { symbols, next: index + 1 };
  }
  if (ZERO.has(token)) return { symbols: [{ value: '0', from, to, spoken: true }], next: index + 1 };
  const times = TIMES.get(token);
  if (times !== undefined) {
    const next = tokens[index + 1];
    const one = next === undefined || TIMES.has(next) ? undefined : digitsAt(pieces, tokens, index + 1);
    const [symbol] = one?.symbols ?? [];
    if (one === undefined || symbol === undefined || one.symbols.length !== 1) return undefined;
    return { symbols: Array.from({ length: times }, () => ({ ...symbol, from })), next: one.next };
  }
  const number = numberAt(tokens, index);
  if (number === undefined) return undefined;
  const end = pieces[number.to - 1]?.to ?? to;
  return {
    symbols: Array.from(String(number.value), (value) => ({ value, from, to: end, spoken: true })),
    next: number.to,
  };
}

function letterAt(text: string, pieces: readonly Piece[], index: number): Read | undefined {
  const piece = pieces[index];
  if (piece === undefined) return undefined;
  const { token, from, to } = piece;
  const value = /^[a-z]$/.test(token)
    ? token.toUpperCase()
    : (LETTERS.get(text.slice(from, to).toLowerCase()) ?? LETTERS.get(token));
  if (value === undefined) return undefined;
  const joint = pieces[index + 1];
  const word = pieces[index + 2];
  const spells =
    joint !== undefined &&
    word !== undefined &&
    ['for', 'as', 'like', 'से', 'फॉर'].includes(text.slice(joint.from, joint.to).toLowerCase()) &&
    word.token.toUpperCase().startsWith(value);
  const symbol = { value, from, to: spells ? word.to : to, spoken: true };
  return { symbols: [symbol], next: spells ? index + 3 : index + 1 };
}

/** Converts digits of any script to ASCII: the ten digits of a script are adjacent in Unicode. */
function ascii(figures: string): string {
  return Array.from(figures, (figure) => {
    const code = figure.codePointAt(0) ?? 0;
    if (code < 0x80) return figure;
    let zero = code;
    while (zero > 0 && code - zero < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
    return String(code - zero);
  }).join('');
}

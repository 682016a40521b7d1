/** Longest sentence; a longer one is cut at a comma or a space. */
const MAX_CHARS = 240;
/** After a danda or a line break, and after other marks followed by white space (not in "3.5" and "a.m"). */
const SENTENCE_END = /(?<=[.!?؟۔]['"”’)]?)\s+|(?<=[।॥])|\n+/u;

/**
 * Splits text into sentences (Latin and Indic marks, line breaks), so that speech starts after the first one. Only white space is lost;
 * no piece is empty.
 */
export function sentences(text: string, maxChars = MAX_CHARS): string[] {
  return text
    .split(SENTENCE_END)
    .flatMap((sentence) => cutLong(sentence.trim(), maxChars))
    .filter((sentence) => sentence !== '');
}

/** A first piece this long is worth cutting, so that speech starts sooner; the cut leaves at least some words on each side. */
const MAX_FIRST_CHARS = 60;
const LEAST_CHARS = 12;

/** Cuts the first sentence, if it is long, after its first comma or similar mark. */
export function withShortStart(pieces: readonly string[]): string[] {
  const [first = '', ...rest] = pieces;
  if (first.length <= MAX_FIRST_CHARS) return [...pieces];
  for (const { index } of first.matchAll(/(?<=[,;:\u060c\u2014])\s+/gu)) {
    const pieceOf = [first.slice(0, index), first.slice(index).trim()];
    if (pieceOf.every((piece) => piece.length >= LEAST_CHARS)) return [...pieceOf, ...rest];
  }
  return [...pieces];
}

function cutLong(sentence: string, maxChars: number): string[] {
  const pieces: string[] = [];
  let rest = sentence;
  while (rest.length > maxChars) {
    const window = rest.slice(0, maxChars);
    const comma = Math.max(window.lastIndexOf(', '), window.lastIndexOf('; '), window.lastIndexOf(': ')) + 1;
    const space = window.lastIndexOf(' ');
    const cut = comma > maxChars / 3 ? comma : space > 0 ? space : maxChars;
    pieces.push(rest.slice(0, cut).trim());
    rest = rest.slice(cut).trim();
  }
  return [...pieces, rest];
}

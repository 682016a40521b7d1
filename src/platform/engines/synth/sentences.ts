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

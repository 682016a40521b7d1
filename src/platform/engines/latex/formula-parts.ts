/** A stretch of text, or a formula without its delimiters. */
export type TextPart = { readonly type: 'text'; readonly text: string } | { readonly type: 'formula'; readonly latex: string };

/**
 * `$$…$$`, `\[…\]`, `\(…\)`, or `$…$` whose dollars touch the formula and are followed by no digit ("from $5 to $6" is
 * money). A backslash keeps a dollar a dollar.
 */
const DELIMITED =
  /\\\$|\$\$(?<display>[^$]+)\$\$|\\\[(?<bracket>.+?)\\\]|\\\((?<paren>.+?)\\\)|\$(?<inline>(?:[^\s$\\]|\\.)(?:(?:[^$\\]|\\.)*(?:[^\s$\\]|\\.))?)\$(?!\d)/gsu;

const COMMAND = /\\[a-z]+/i;
/** A sub- or superscript of something. */
const SCRIPT = /[\p{L}\p{N})}\]][\^_][\p{L}\p{N}{\\(+-]/u;
const WORD = /\p{L}{3}/u;

/** `x^2` and `\frac{a}{b}` need no delimiters; `file_name` is no formula. */
function isBareLatex(text: string): boolean {
  return COMMAND.test(text) || (SCRIPT.test(text) && !WORD.test(text));
}

/**
 * Takes a text with formulas apart, in order. Without any delimiter, a text that is written in LaTeX is one formula.
 */
export function formulaParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let plain = '';
  let at = 0;
  const flush = (): void => {
    if (plain !== '') parts.push({ type: 'text', text: plain });
    plain = '';
  };
  for (const match of text.matchAll(DELIMITED)) {
    plain += text.slice(at, match.index);
    at = match.index + match[0].length;
    const { display, bracket, paren, inline } = match.groups ?? {};
    const latex = display ?? bracket ?? paren ?? inline;
    if (latex === undefined) {
      plain += '$';
      continue;
    }
    flush();
    parts.push({ type: 'formula', latex: latex.trim() });
  }
  plain += text.slice(at);
  flush();
  const bare = parts.every(({ type }) => type === 'text') && isBareLatex(text);
  return bare ? [{ type: 'formula', latex: text.trim() }] : parts;
}

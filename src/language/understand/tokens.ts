/** Languages with understanding and speech of days, times, digits and yes/no. */
export const LANGUAGES = ['en', 'hi'] as const;

export type Language = (typeof LANGUAGES)[number];

/** The language for a code such as `hi-IN`; English for all others. */
export function languageOf(code: string): Language {
  return code.split('-')[0]?.toLowerCase() === 'hi' ? 'hi' : 'en';
}

/** A value found in an utterance, and the words that said it: `from` up to, not including, `to`. */
export interface Found<Value> {
  readonly value: Value;
  readonly from: number;
  readonly to: number;
}

/** Filler and polite words, dropped so that phrases match. */
const FILLERS = new Set(['a', 'an', 'the', 'my', 'me', 'please', 'um', 'uh', 'er', 'erm', 'uhm', 'कृपया', 'पलीज', 'प्लीज', 'जरा']);

const NUKTA = '\u093C';
const CHANDRABINDU = '\u0901';
const ANUSVARA = '\u0902';

/**
 * Normalises spelling variants: the nukta is dropped and chandrabindu becomes
 * anusvara (हाँ and हां, साढ़े and साढे), Devanagari digits become ASCII, and the commas of a long number go
 * (`1,25,000`). Case and all other marks stay.
 */
export function plainText(text: string): string {
  return text
    .normalize('NFC')
    .replaceAll(/[\u{200B}-\u{200D}\u{FEFF}]/gu, '')
    .replaceAll(NUKTA, '')
    .replaceAll(CHANDRABINDU, ANUSVARA)
    .replaceAll(/[०-९]/g, (digit) => String(digit.charCodeAt(0) - 0x0966))
    .replaceAll(/[’'`]/g, '')
    .replaceAll(/(?<!\d)\d{1,3}(?:,\d{2,3}){0,9},\d{3}(?![\d,])/g, (number) => number.replaceAll(',', ''));
}

/**
 * Cuts an utterance into normalised words: lower case, without punctuation and articles, spelled as by `plainText`.
 * `10.30 a.m.` becomes `10:30 am`.
 */
export function tokenise(text: string): string[] {
  const plain = plainText(text)
    .toLowerCase()
    .replaceAll(/\b([ap])(?:\.\s?|\s)m\b\.?/g, '$1m')
    .replaceAll(/(\d{1,2})[.:](\d{2})(?!\d)/g, '$1:$2')
    .replaceAll(/(\d)([ap]m)\b/g, '$1 $2');
  const words = plain.match(/\d{1,2}:\d{2}|[\p{L}\p{M}]+|\d+/gu) ?? [];
  return words.filter((word) => !FILLERS.has(word));
}

/** Index of a phrase in the words, from `start` on; -1 when absent. An empty phrase is always absent. */
export function findPhrase(tokens: readonly string[], phrase: readonly string[], start = 0): number {
  if (phrase.length === 0) return -1;
  for (let index = start; index + phrase.length <= tokens.length; index++) {
    if (phrase.every((word, offset) => tokens[index + offset] === word)) return index;
  }
  return -1;
}

/** The longest phrase that begins exactly at `index`, with its value. */
export function phraseAt<Value>(
  tokens: readonly string[],
  index: number,
  phrases: ReadonlyMap<string, Value>,
  mostWords = 5,
): Found<Value> | undefined {
  for (let length = Math.min(mostWords, tokens.length - index); length > 0; length--) {
    const value = phrases.get(tokens.slice(index, index + length).join(' '));
    if (value !== undefined) return { value, from: index, to: index + length };
  }
  return undefined;
}

/** Whether an utterance consists of these phrases, at least one. */
export function isMadeOf(tokens: readonly string[], phrases: ReadonlyMap<string, true>): boolean {
  let at = 0;
  for (let found = phraseAt(tokens, at, phrases); found !== undefined; found = phraseAt(tokens, at, phrases)) at = found.to;
  return at > 0 && at === tokens.length;
}

/**
 * A table from phrases to values, keyed for `phraseAt`.
 * @param cut cuts phrases into words as the utterance was cut
 */
export function phraseTable<Value>(
  rows: Iterable<readonly [Value, readonly string[]]>,
  cut: (phrase: string) => readonly string[] = tokenise,
): ReadonlyMap<string, Value> {
  const table = new Map<string, Value>();
  for (const [value, phrases] of rows) for (const phrase of phrases) table.set(cut(phrase).join(' '), value);
  return table;
}

/** One thing to choose, with the phrases that mean it, cut by `tokenise`. */
interface Choice {
  readonly name: string;
  readonly phrases: readonly (readonly string[])[];
}

/**
 * The choice whose phrase covers most words of the utterance; undefined on a tie of two choices (`book or cancel`), so that the
 * caller is asked again.
 */
export function findChoice(tokens: readonly string[], choices: readonly Choice[]): Found<string> | undefined {
  let best: Found<string> | undefined;
  let tied = false;
  for (const { name, phrases } of choices) {
    for (const phrase of phrases) {
      const from = findPhrase(tokens, phrase);
      if (from < 0) continue;
      const length = best === undefined ? 0 : best.to - best.from;
      if (phrase.length > length) {
        best = { value: name, from, to: from + phrase.length };
        tied = false;
      } else if (phrase.length === length && best?.value !== name) tied = true;
    }
  }
  return tied ? undefined : best;
}

import { literalPattern } from '../kernel/literal-pattern.ts';

/** Words as they are written, and how they are spoken. */
export type Pronunciation = Readonly<Record<string, string>>;

/** No word is spoken otherwise than it is written. */
export const AS_WRITTEN: Pronunciation = {};

/** A letter, a mark of one, or a digit: where one stands beside a match, the match is a part of a word. */
const IN_WORD = String.raw`[\p{L}\p{M}\p{N}]`;

interface Compiled {
  readonly pattern: RegExp;
  readonly spoken: ReadonlyMap<string, string>;
}

const compiled = new WeakMap<Pronunciation, Compiled | undefined>();

/**
 * A text as a synthesizer is to get it. Whole words are replaced, the longest first, and nothing is replaced twice. A word written without capitals
 * stands for any case; one with capitals for itself alone, so that `US` leaves `us` as it is.
 */
export function pronounced(text: string, words: Pronunciation): string {
  if (!compiled.has(words)) compiled.set(words, compile(words));
  const rules = compiled.get(words);
  if (rules === undefined) return text;
  return text.replaceAll(rules.pattern, (found) => rules.spoken.get(found) ?? rules.spoken.get(found.toLowerCase()) ?? found);
}

function compile(words: Pronunciation): Compiled | undefined {
  const keys = Object.keys(words).sort((a, b) => b.length - a.length);
  if (keys.length === 0) return undefined;
  const pattern = keys.map((key) => (key === key.toLowerCase() ? anyCase(key) : literalPattern(key))).join('|');
  return {
    pattern: new RegExp(`(?<!${IN_WORD})(?:${pattern})(?!${IN_WORD})`, 'gu'),
    spoken: new Map(Object.entries(words)),
  };
}

function anyCase(key: string): string {
  return Array.from(key, (sign) => {
    const upper = sign.toUpperCase();
    return upper === sign || upper.length !== sign.length ? literalPattern(sign) : `[${sign}${upper}]`;
  }).join('');
}

/** Reads the setting `speech.pronounce`: `Offhook=off-hook, Rs=rupees`. @throws TypeError for a part without a word or without `=` */
export function readPronunciation(text: string): Pronunciation {
  const parts = text.split(',').filter((part) => part.trim() !== '');
  return Object.fromEntries(
    parts.map((part) => {
      const [word = '', spoken = '', ...more] = part.split('=').map((side) => side.trim());
      if (word === '' || spoken === '' || more.length > 0) throw new TypeError(`"${part.trim()}" is not WORD=SPOKEN`);
      return [word, spoken];
    }),
  );
}

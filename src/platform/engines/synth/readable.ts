import { letterSubstitutes } from './letter-substitutes.ts';
import { meiteiToBengali } from './meitei-mayek.ts';
import { olChikiToDevanagari } from './ol-chiki.ts';

/** Marks of the Arabic script beyond the short vowels, which the engine would spell out. */
const RARE_ARABIC_MARKS = /[\u0610-\u061a\u064d\u0653-\u065f\u06d6-\u06dc\u06e1-\u06e4\u06e7\u06e8\u06ed]/g;
/** Further vowel marks that the Sindhi voice spells out. */
const SINDHI_MARKS = /[\u064c\u0652]/g;

const patterns = new Map(
  Object.entries(letterSubstitutes).map(([language, letters]) => {
    // The longest first: a letter with its dot before the letter alone.
    const keys = Object.keys(letters).sort((a, b) => b.length - a.length);
    return [language, { letters, pattern: new RegExp(keys.join('|'), 'gu') }];
  }),
);

/** Rewrites scripts that no engine can read (Meitei Mayek, Ol Chiki); other text is normalised (NFC). */
export function inReadableScript(text: string): string {
  return meiteiToBengali(olChikiToDevanagari(text.normalize('NFC')));
}

/**
 * Replaces letters that an espeak language would spell out by name.
 * @param language espeak's identifier, from `espeakLanguage`
 */
export function readable(text: string, language: string): string {
  const entry = patterns.get(language);
  if (entry === undefined) return text;
  const marked = language === 'ur' || language === 'sd' ? text.replaceAll(RARE_ARABIC_MARKS, '') : text;
  const bare = language === 'sd' ? marked.replaceAll(SINDHI_MARKS, '') : marked;
  return bare.replaceAll(entry.pattern, (letter) => entry.letters[letter] ?? '');
}

const SLOWEST = { baseS: 2, letterS: 0.3, otherS: 1.2 };
const FASTEST_LETTER_S = 0.015;
/** With fewer letters the length says nothing. */
const TELLING_LETTERS = 4;

/**
 * Whether speech of this length can be this text. Longer speech spelled letters out by name, shorter speech skipped most of them.
 * @param durationS at speed 1
 */
export function soundsRead(text: string, durationS: number): boolean {
  const letters = text.match(/[\p{L}\p{M}]/gu)?.length ?? 0;
  if (letters < TELLING_LETTERS) return true;
  const others = text.match(/[\p{N}\p{S}\p{P}]/gu)?.length ?? 0;
  const longest = SLOWEST.baseS + SLOWEST.letterS * letters + SLOWEST.otherS * others;
  return durationS <= longest && durationS >= FASTEST_LETTER_S * letters;
}

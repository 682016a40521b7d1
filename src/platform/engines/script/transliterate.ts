import { pairTable } from '../../../kernel/pair-table.ts';
import { type BrahmicScript, type Sign, signsOf, writeBrahmic } from './brahmic.ts';
import { readLatin, itrans, plainLatin, writeLatin } from './latin.ts';

/** Letters of the Arabic script in Urdu, Sindhi and Kashmiri. Short vowels are not written, so the Latin text lacks them. */
const letters = pairTable(
  `ا=a آ=aa ب=b پ=p ت=t ٹ=t ث=s ج=j چ=ch ح=h خ=kh د=d ڈ=d ذ=z ر=r ڑ=r ز=z ژ=zh س=s ش=sh ص=s ض=z ط=t ظ=z ع=a غ=gh ف=f ق=q
  ک=k ك=k گ=g ل=l م=m ن=n ں=n و=o ہ=h ه=h ھ=h ة=t ی=i ي=i ى=a ے=e ئ=y ؤ=o أ=a إ=i ء= َ=a ِ=i ُ=u ّ= ْ= ً=an ٰ=a ۔=. ،=, ؟=? ؛=;`,
);

/** Replaces letters of the Arabic script with Latin ones, and digits with European ones. */
function arabicToLatin(text: string): string {
  return text
    .replaceAll(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) - (digit < '\u06f0' ? 0x660 : 0x6f0)))
    .replaceAll(/\p{Script=Arabic}|[\u060c\u061b\u061f]|[\u064b-\u0652]/gu, (letter) => letters.get(letter) ?? '');
}

/** Scripts for a transcript; `auto` keeps its own (reference, fact 10b). */
export const outputScripts = [
  'auto',
  'devanagari',
  'bengali',
  'gurmukhi',
  'gujarati',
  'odia',
  'tamil',
  'telugu',
  'kannada',
  'malayalam',
  'latin',
  'itrans',
] as const;
export type OutputScript = (typeof outputScripts)[number];

/**
 * Writes text in another script, sign by sign: from the nine parallel Indian scripts, Latin and Arabic. Text already in the wanted
 * script, and in any other script, is kept.
 */
export function transliterate(text: string, script: OutputScript): string {
  if (script === 'auto') return text;
  const readable = arabicToLatin(text.normalize('NFC'));
  const signs = signsOf(readable);
  if (script === 'latin') return writeLatin(signs, plainLatin);
  if (script === 'itrans') return writeLatin(signs, itrans);
  return writeBrahmic(withoutLatin(signs, script), script);
}

/** Turns Latin words into signs. Words with digits or asterisks are codes and masks, and are kept. */
function withoutLatin(signs: readonly Sign[], script: BrahmicScript): Sign[] {
  const out: Sign[] = [];
  let word = '';
  const endWord = (): void => {
    out.push(...(/^[\p{Script=Latin}'’]+$/u.test(word) ? readLatin(word, script) : Array.from(word, (other) => ({ other }))));
    word = '';
  };
  for (const sign of signs) {
    if ('other' in sign && /[\p{Script=Latin}\p{M}\p{Nd}'’]/u.test(sign.other)) {
      word += sign.other;
      continue;
    }
    endWord();
    out.push(sign);
  }
  endWord();
  return out;
}

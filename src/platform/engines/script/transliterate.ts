import { type BrahmicScript, type Sign, signsOf, writeBrahmic } from './brahmic.ts';
import { readLatin } from './from-latin.ts';
import { itrans, plainLatin, writeLatin } from './to-latin.ts';
import { arabicToLatin } from './urdu.ts';

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

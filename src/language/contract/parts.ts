import type { Language } from '../understand/language.ts';
import { withDevanagari } from '../understand/romanised.ts';
import { tokenise } from '../understand/tokens.ts';
import type { AnswerPart } from './reading.ts';

/** Words of an answer as the tables of its language read them. */
export function wordsIn(text: string, language: Language): string[] {
  return language === 'hi' ? withDevanagari(tokenise(text)) : tokenise(text);
}

/** Keyed digits after the last `*`, which starts over; `#` ends an answer and is none of it. */
export function keyedDigits(keys: string): string {
  return keys.slice(keys.lastIndexOf('*') + 1).replaceAll('#', '');
}

/**
 * One sequence of words for spoken and keyed digits in the order in which they came: `four two` and the keys 71 are
 * `four two 71`. A `*` takes back all that was typed in its part.
 */
export function fused(parts: readonly AnswerPart[], language: Language): string[] {
  return parts.flatMap((part) => (part.by === 'voice' ? wordsIn(part.text, language) : keyedDigits(part.keys).split('')));
}

/** All that was said, without what was keyed. */
export function spokenIn(parts: readonly AnswerPart[]): string {
  return parts.flatMap((part) => (part.by === 'voice' ? [part.text] : [])).join(' ');
}

/** All that was keyed, without what was said. */
export function keyedIn(parts: readonly AnswerPart[]): string {
  return parts.flatMap((part) => (part.by === 'keys' ? [part.keys] : [])).join('');
}

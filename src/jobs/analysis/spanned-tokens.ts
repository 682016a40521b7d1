import { tokenise } from '../../language/index.ts';

/** A word as `tokenise` makes it, with the characters of the text that it stands for. */
export interface SpannedToken {
  readonly word: string;
  readonly from: number;
  readonly to: number;
}

const PIECES = /\b[ap](?:\.\s?|\s)m\b\.?|\p{Nd}{1,2}[.:]\p{Nd}{2}(?!\p{Nd})|\p{Nd}+|[\p{L}\p{M}'’`\u200B-\u200D]+/giu;

/** The words of a text in the form that bots understand, so that their rules can be used and what they find be pointed at. */
export function spannedTokens(text: string): SpannedToken[] {
  return [...text.matchAll(PIECES)].flatMap(({ index, 0: piece }) =>
    tokenise(piece).map((word) => ({ word, from: index, to: index + piece.length })),
  );
}

/** Where a phrase stands in the words, from and up to; every place, in order. */
export function phrasePlaces(words: readonly string[], phrase: readonly string[]): number[] {
  const places: number[] = [];
  for (let index = 0; phrase.length > 0 && index + phrase.length <= words.length; index += 1)
    if (phrase.every((word, offset) => words[index + offset] === word)) places.push(index);
  return places;
}

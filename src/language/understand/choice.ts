import { findPhrase, type Found } from './tokens.ts';

/** One thing to choose, with the phrases that mean it, cut by `tokenise`. */
export interface Choice {
  readonly name: string;
  readonly phrases: readonly (readonly string[])[];
}

/**
 * The choice whose phrase covers most words of the utterance. Two different ones equally well said are no choice
 * (`book or cancel`): undefined, so that the caller is asked again.
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

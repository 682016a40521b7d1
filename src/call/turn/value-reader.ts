/** A value the dialog asked for, as opaque data: turn-taking only passes it on. */
export interface ExpectedValue {
  readonly contract: { readonly kind: string };
  readonly context: object;
}

/**
 * How much of a value is there. `none`: nothing of it yet. `other`: what was given is no such value. `missing`: more of it is to come.
 * `likely-more`, `unlikely-more`: it can end here, and more may follow. `several`: nothing can follow, and several values fit. `whole`: it
 * is complete, and nothing can follow.
 */
export type ValueProgress = 'none' | 'other' | 'missing' | 'likely-more' | 'unlikely-more' | 'several' | 'whole';

/** What turn-taking has to know of values; the call brings a reader that understands them. */
export interface ValueReader {
  /** Whether the value is taken from keys alone and written down nowhere, as a card number is. */
  isSecret(value: ExpectedValue): boolean;
  /** @param words all words of the answer so far @param keys all keys, pressed behind the words */
  progress(value: ExpectedValue, words: string, keys: string): ValueProgress;
}

/** For calls whose dialogs ask for no values. */
export const NO_VALUES: ValueReader = {
  isSecret: () => false,
  progress: () => 'other',
};

/** A value the dialog asked for, as opaque data: turn-taking only passes it on. */
export interface ExpectedValue {
  readonly contract: { readonly kind: string };
  readonly context: object;
}

/**
 * How much of a value is there. `missing`: more of it is to come. `given`: it can end here, or was something else. `whole`: it is
 * complete, and nothing can follow.
 */
export type ValueProgress = 'missing' | 'given' | 'whole';

/** What turn-taking has to know of values; the call brings a reader that understands them. */
export interface ValueReader {
  /** The shortest silence that ends any value, in ms: nothing is read before. */
  readonly leastSilenceMs: number;
  /** Whether the value is taken from keys alone and written down nowhere, as a card number is. */
  isSecret(value: ExpectedValue): boolean;
  /** @param words all words of the answer so far @param keys all keys, pressed behind the words */
  progress(value: ExpectedValue, words: string, keys: string): ValueProgress;
  /**
   * The silence after the last voiced frame that ends this value, in ms, as far as it has been said; undefined where the words
   * say nothing of it.
   * @param baseMs the silence that ends an ordinary answer
   */
  silenceMs(value: ExpectedValue, words: string, baseMs: number): number | undefined;
}

/** For calls whose dialogs ask for no values. */
export const NO_VALUES: ValueReader = {
  leastSilenceMs: Number.POSITIVE_INFINITY,
  isSecret: () => false,
  progress: () => 'given',
  silenceMs: () => undefined,
};

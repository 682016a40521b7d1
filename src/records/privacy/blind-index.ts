import { createHmac } from 'node:crypto';
import { plainNumber } from '../../config/bots.ts';

/** More different words of one call than this are not found by. */
const MOST_WORDS = 10_000;

/**
 * The words of a text, as they are searched for: in compatibility form, lower case, without the invisible joiners of Indic
 * scripts. Letters with their marks and digits make words, everything else stands between them.
 */
export function wordsOf(text: string): string[] {
  return [...new Set(plainText(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])].slice(0, MOST_WORDS);
}

/** A text as the index compares it. */
export function plainText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\u200B-\u200D\u2060\uFEFF\u00AD]/gu, '');
}

/**
 * Finds without plain text: words and numbers are kept as keyed hashes, so that neither the index nor the remains of a
 * deleted row in a database file say what they were. Whole words are found, not parts of them.
 */
export class BlindIndex {
  readonly #key: Buffer;

  /** @param key the tenant's own: the same word has another hash at another tenant */
  constructor(key: Buffer) {
    this.#key = key;
  }

  /** @returns one signed 64-bit number a different word */
  words(...texts: readonly string[]): bigint[] {
    return wordsOf(texts.join('\n')).map((word) => this.#digest('word', word).readBigInt64BE());
  }

  /** Hash of a variable with its whole value, in any case; differs from any word's hash. */
  variable(name: string, value: string): bigint {
    return this.#digest('variable', `${name}\0${plainText(value).trim()}`).readBigInt64BE();
  }

  /** @param number as written by a person or a carrier; undefined for an empty one */
  number(number: string): string | undefined {
    const plain = plainNumber(number);
    return plain === '' ? undefined : this.#digest('number', plain).toString('base64url', 0, 16);
  }

  #digest(kind: string, text: string): Buffer {
    return createHmac('sha256', this.#key).update(`${kind}\0${text}`).digest();
  }
}

import { createHmac } from 'node:crypto';
import { plainNumber } from '../../config/bots.ts';

/** Most indexed words of a call. */
const MOST_WORDS = 10_000;

/**
 * The searchable words of a text: compatibility form, lower case, without the invisible joiners of Indic scripts. Words consist of letters with their
 * marks, and digits.
 */
export function wordsOf(text: string): string[] {
  return [...new Set(plainText(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])].slice(0, MOST_WORDS);
}

/** A text in the index's form. */
export function plainText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\u200B-\u200D\u2060\uFEFF\u00AD]/gu, '');
}

/**
 * Search without plain text: words and numbers are stored as keyed hashes, so that neither the index nor remains of deleted rows reveal them. Finds
 * whole words.
 */
export class BlindIndex {
  readonly #key: Buffer;

  /** @param key the tenant's: other tenants have other hashes */
  constructor(key: Buffer) {
    this.#key = key;
  }

  /** @returns a signed 64-bit number for each different word */
  words(...texts: readonly string[]): bigint[] {
    return wordsOf(texts.join('\n')).map((word) => this.#digest('word', word).readBigInt64BE());
  }

  /** Hash of a variable with its whole value, in any case; differs from any word's hash. */
  variable(name: string, value: string): bigint {
    return this.#digest('variable', `${name}\0${plainText(value).trim()}`).readBigInt64BE();
  }

  /** @param number in any notation; undefined for an empty one */
  number(number: string): string | undefined {
    const plain = plainNumber(number);
    return plain === '' ? undefined : this.#digest('number', plain).toString('base64url', 0, 16);
  }

  #digest(kind: string, text: string): Buffer {
    return createHmac('sha256', this.#key).update(`${kind}\0${text}`).digest();
  }
}

import { createHash } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import { RateLimit } from './rate-limit.ts';

/** Of all addresses together that have guesses left, and of all that have none: a check takes a fraction of a millisecond. */
const OF_STRANGERS = { burst: 400, perSecond: 200 };
const OF_GUESSERS = { burst: 100, perSecond: 50 };
/** Tokens whose holders are remembered; the one that was used longest ago is forgotten. */
const MOST_REMEMBERED = 10_000;

/**
 * Bounds the signatures that are checked for nothing. A token that was believed once is always checked, whatever others try from
 * its address; of tokens that are new, so many a second are.
 */
export class TokenChecks {
  readonly #strangers: RateLimit;
  readonly #guessers: RateLimit;
  /** Who held a token, by its hash. */
  readonly #believed = new Map<string, string>();

  constructor(clock: Clock) {
    this.#strangers = new RateLimit(clock, OF_STRANGERS);
    this.#guessers = new RateLimit(clock, OF_GUESSERS);
  }

  /** Who held this token when it was believed last; undefined for a new one. */
  holderOf(token: string): string | undefined {
    return this.#believed.get(hashOf(token));
  }

  /** Takes the check of a new token. @returns 0 when it may be made, else the seconds to wait */
  take(hasGuessesLeft: boolean): number {
    return (hasGuessesLeft ? this.#strangers : this.#guessers).take('all');
  }

  believed(token: string, holder: string): void {
    const hash = hashOf(token);
    this.#believed.delete(hash);
    this.#believed.set(hash, holder);
    const [oldest] = this.#believed.keys();
    if (this.#believed.size > MOST_REMEMBERED && oldest !== undefined) this.#believed.delete(oldest);
  }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}

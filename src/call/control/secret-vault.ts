import { randomBytes } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';

/** A value that was not fetched in this time is forgotten: payments are made while the caller waits. */
const KEPT_MS = 15 * 60_000;
const MOST_VALUES = 10_000;

interface Kept {
  readonly botName: string;
  readonly value: string;
  readonly untilMs: number;
}

/**
 * Card numbers and passwords that callers keyed, kept briefly in this process's memory only. A bot gets a token in place of the value; its own server
 * can redeem it once.
 */
export class SecretVault {
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Stores a value for a bot. @returns its token; the oldest value is dropped when too many are kept */
  keep(botName: string, value: string): string {
    this.#forgetOld();
    const token = randomBytes(32).toString('base64url');
    this.#kept.set(token, { botName, value, untilMs: this.#clock.nowMs() + KEPT_MS });
    return token;
  }

  /** Gives a value out, once, to the bot it was stored for; undefined where there is none. */
  redeem(botName: string, token: string): string | undefined {
    this.#forgetOld();
    const kept = this.#kept.get(token);
    if (kept?.botName !== botName) return undefined;
    this.#kept.delete(token);
    return kept.value;
  }

  #forgetOld(): void {
    const nowMs = this.#clock.nowMs();
    for (const [token, { untilMs }] of this.#kept) {
      if (untilMs > nowMs && this.#kept.size < MOST_VALUES) return;
      this.#kept.delete(token);
    }
  }
}

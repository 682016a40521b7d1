import { createHash } from 'node:crypto';
import type { ConsoleKey } from './console-key.ts';

const DAY_S = 86_400;
/** Sessions live up to seven days, so live ones began in this period or the one before. */
const PERIOD_S = 14 * DAY_S;
const LONGEST_SESSION_S = 7 * DAY_S;
/** Most sign-outs of a person in a period; the sign-in after the last one is refused. */
const MOST = 500;

/** Which of a person's sessions are valid: all since the person was last signed out everywhere. */
export interface Generation {
  readonly period: number;
  readonly number: number;
}

/**
 * Ends all sessions of a person at once. A session belongs to a generation of its period; ending one spends its id, and the next session begins the
 * next. So sessions are not stored, and machines share only spent ids.
 */
export class Generations {
  readonly #key: Pick<ConsoleKey, 'spend' | 'isSpent'>;

  constructor(key: Pick<ConsoleKey, 'spend' | 'isSpent'>) {
    this.#key = key;
  }

  /** The generation of a session that begins now. @throws RangeError after too many sign-outs */
  async current(person: string, nowMs: number): Promise<Generation> {
    return this.#first(person, periodAt(nowMs));
  }

  async isOver(person: string, generation: Generation): Promise<boolean> {
    return this.#key.isSpent(idOf(person, generation));
  }

  async end(person: string, nowMs: number): Promise<void> {
    const period = periodAt(nowMs);
    for (const each of [period - 1, period]) {
      const generation = await this.#first(person, each);
      await this.#key.spend(idOf(person, generation), nowMs);
    }
  }

  async #first(person: string, period: number): Promise<Generation> {
    for (let number = 0; number < MOST; number += 1) {
      const generation = { period, number };
      if (!(await this.isOver(person, generation))) return generation;
    }
    throw new RangeError('too many sign-outs of one person');
  }
}

function periodAt(nowMs: number): number {
  return Math.floor(nowMs / 1000 / PERIOD_S);
}

/** It is forgotten when no session of its period can be alive. */
function idOf(person: string, { period, number }: Generation): { readonly jti: string; readonly exp: number } {
  const id = createHash('sha256').update(`${person} ${period} ${number}`).digest('hex').slice(0, 32);
  return { jti: id, exp: (period + 1) * PERIOD_S + LONGEST_SESSION_S };
}

import { type BackoffPolicy, backoffDelayMs } from '../../kernel/backoff.ts';
import { SpeechError } from '../client/errors.ts';

const BACKOFF: BackoffPolicy = { firstMs: 200, factor: 2, maxMs: 4_000, jitter: 0.2 };
/** Time without a working session after which the recogniser is given up, and for one connection; more audio is not kept. */
export const OUTAGE_MS = 10_000;
/** A session that dies younger than this died quickly; three in a row end it. */
const QUICK_DEATH_MS = 5_000;
const MOST_QUICK_DEATHS = 3;

/** How a socket ended, or why it could not be opened. */
export interface Death {
  readonly error: Error;
  /** Close code; undefined when no socket was open. */
  readonly code: number | undefined;
  /** Another token may help; when absent that is so before `ready`. */
  readonly maybeToken?: boolean;
  /** What came over the socket made no sense, which another one may mend; counts as a quick death. */
  readonly isGarbled?: boolean;
}

/** How far the connection had come. */
interface Died {
  readonly name: 'waiting' | 'connecting' | 'handshaking' | 'ready' | 'over';
  /** When its socket opened; undefined where it never did. */
  readonly openedMs?: number;
}

/** What is done then: nothing more, or another connection, at once or at a time. */
type Next = 'give-up' | { readonly freshToken: boolean } | { readonly untilMs: number };

/** Decides whether a lost connection is replaced, and when: within an outage that the kept audio outlives, and not for ever. */
export class Reconnection {
  readonly #random: () => number;
  /** The dialect can have a refused token replaced. */
  readonly #canRenew: boolean;
  #outageSinceMs: number;
  #attempts = 0;
  #quickDeaths = 0;
  #freshTokenTried = false;
  #everReady = false;

  /** @param random gives a number in [0, 1) */
  constructor(random: () => number, canRenew: boolean, nowMs: number) {
    this.#random = random;
    this.#canRenew = canRenew;
    this.#outageSinceMs = nowMs;
  }

  /** Whether any connection has been ready. */
  get everReady(): boolean {
    return this.#everReady;
  }

  connecting(): void {
    this.#attempts += 1;
  }

  ready(): void {
    this.#everReady = true;
    this.#freshTokenTried = false;
    this.#attempts = 0;
  }

  /** @returns what is done now; being asked counts */
  died(nowMs: number, { name, openedMs }: Died, death: Death): Next {
    const { error, code, isGarbled = false, maybeToken = name === 'handshaking' } = death;
    const retryable = isGarbled || (error instanceof SpeechError && error.retryable);
    if (code !== undefined && openedMs !== undefined)
      this.#quickDeaths = isGarbled || nowMs - openedMs < QUICK_DEATH_MS ? this.#quickDeaths + 1 : 0;
    const tooQuick = this.#quickDeaths >= MOST_QUICK_DEATHS;
    if (name === 'ready') {
      if (!retryable || tooQuick) return 'give-up';
      this.#outageSinceMs = nowMs;
      return this.#quickDeaths <= 1 ? { freshToken: false } : { untilMs: nowMs + this.#delayMs(this.#quickDeaths - 2) };
    }
    // Before ready a refused token cannot be told from anything else: one fresh one is tried (document 1, rule 4).
    if (maybeToken && this.#canRenew && !this.#freshTokenTried) {
      this.#freshTokenTried = true;
      return { freshToken: true };
    }
    const mayPass = name === 'connecting' || this.#everReady || isGarbled;
    const untilMs = nowMs + this.#delayMs(this.#attempts - 1);
    return retryable && mayPass && !tooQuick && untilMs - this.#outageSinceMs <= OUTAGE_MS ? { untilMs } : 'give-up';
  }

  #delayMs(attempt: number): number {
    return backoffDelayMs(BACKOFF, attempt, this.#random());
  }
}

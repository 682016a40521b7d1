import { type BackoffPolicy, backoffDelayMs } from '../../kernel/backoff.ts';
import { SpeechError } from '../client/errors.ts';

const BACKOFF: BackoffPolicy = { firstMs: 200, factor: 2, maxMs: 4_000, jitter: 0.2 };
/** Longest outage, and longest connection attempt; as long as the kept audio. */
export const OUTAGE_MS = 10_000;
/** A session that ends sooner than this is a quick death; three in a row end the recognition. */
const QUICK_DEATH_MS = 5_000;
const MOST_QUICK_DEATHS = 3;

/** Why a socket ended or could not be opened. */
export interface Death {
  readonly error: Error;
  /** Close code; undefined when no socket was open. */
  readonly code: number | undefined;
  /** Whether a new token may help; when absent: yes before `ready`. */
  readonly maybeToken?: boolean;
  /** The socket's messages were unreadable; counts as a quick death. */
  readonly isGarbled?: boolean;
}

/** The connection's progress. */
export type ConnectionState =
  | { readonly name: 'waiting'; readonly untilMs: number }
  | { readonly name: 'connecting'; readonly untilMs: number }
  | { readonly name: 'handshaking'; readonly openedMs: number; readonly untilMs: number }
  | { readonly name: 'ready'; readonly openedMs: number }
  | { readonly name: 'over' };

/** The decision: give up, or connect again, now or later. */
type Next = 'give-up' | { readonly freshToken: boolean } | { readonly untilMs: number };

/** Decides whether and when a lost connection is replaced, as long as the kept audio covers the outage. */
export class Reconnection {
  readonly #random: () => number;
  /** Whether a refused token can be replaced. */
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

  /** Counts a death. @returns what to do now */
  died(nowMs: number, state: ConnectionState, death: Death): Next {
    const { name } = state;
    const openedMs = 'openedMs' in state ? state.openedMs : undefined;
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
    // Before ready any failure may be a refused token: one new token is tried (document 1, rule 4).
    if (maybeToken && this.#canRenew && !this.#freshTokenTried) {
      this.#freshTokenTried = true;
      return { freshToken: true };
    }
    const mayPass = name === 'connecting' || this.#everReady || isGarbled;
    const askedMs = error instanceof SpeechError ? (error.waitMs ?? 0) : 0;
    const untilMs = nowMs + Math.max(askedMs, this.#delayMs(this.#attempts - 1));
    return retryable && mayPass && !tooQuick && untilMs - this.#outageSinceMs <= OUTAGE_MS ? { untilMs } : 'give-up';
  }

  #delayMs(attempt: number): number {
    return backoffDelayMs(BACKOFF, attempt, this.#random());
  }
}

import { type Clock, systemClock } from '../../kernel/clock.ts';

/** A token minted by any process with the same API key, which is needed to decrypt it. */
export interface SharedToken {
  /** The token, encrypted with a key made from the API key. */
  readonly sealed: string;
  /** Time until it expires. */
  readonly lifeMs: number;
}

/**
 * Shared by processes with the same API key: its budget of 60 mints a minute (document 1, limits) and its newest token. No method
 * rejects: an unreachable store answers as if it were empty.
 */
export interface TokenStore extends AsyncDisposable {
  /** Takes one of this minute's mints. @returns 0, or the time in ms until the next one may be free */
  takeMint(keyId: string): Promise<number>;
  /** The newest token that has not expired. @param keyId a hash of the API key, as in every method */
  read(keyId: string): Promise<SharedToken | undefined>;
  /** Replaces the stored token. */
  write(keyId: string, token: SharedToken): Promise<void>;
  /** Claims the right to mint for `holdMs`. @returns whether `owner` has it */
  claim(keyId: string, owner: string, holdMs: number): Promise<boolean>;
  /** Releases a claim of this owner. */
  release(keyId: string, owner: string): Promise<void>;
}

/** Mints that the platform allows for one key in a minute (document 1, limits). */
export const MOST_MINTS = 60;
/** The minute of that limit, which slides. */
export const MINT_WINDOW_MS = 60_000;

interface KeyState {
  mintsAtMs: number[];
  token: { readonly sealed: string; readonly untilMs: number } | undefined;
  claim: { readonly owner: string; readonly untilMs: number } | undefined;
}

/** For the clients of one process. */
export class MemoryTokenStore implements TokenStore {
  readonly #clock: Clock;
  readonly #keys = new Map<string, KeyState>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  async takeMint(keyId: string): Promise<number> {
    const nowMs = this.#clock.nowMs();
    const state = this.#state(keyId);
    state.mintsAtMs = state.mintsAtMs.filter((atMs) => atMs > nowMs - MINT_WINDOW_MS);
    const [oldest] = state.mintsAtMs;
    if (oldest !== undefined && state.mintsAtMs.length >= MOST_MINTS) return oldest + MINT_WINDOW_MS - nowMs;
    state.mintsAtMs.push(nowMs);
    return 0;
  }

  async read(keyId: string): Promise<SharedToken | undefined> {
    const { token } = this.#state(keyId);
    const lifeMs = (token?.untilMs ?? 0) - this.#clock.nowMs();
    return token === undefined || lifeMs <= 0 ? undefined : { sealed: token.sealed, lifeMs };
  }

  async write(keyId: string, { sealed, lifeMs }: SharedToken): Promise<void> {
    this.#state(keyId).token = { sealed, untilMs: this.#clock.nowMs() + lifeMs };
  }

  async claim(keyId: string, owner: string, holdMs: number): Promise<boolean> {
    const state = this.#state(keyId);
    const nowMs = this.#clock.nowMs();
    if (state.claim !== undefined && state.claim.untilMs > nowMs && state.claim.owner !== owner) return false;
    state.claim = { owner, untilMs: nowMs + holdMs };
    return true;
  }

  async release(keyId: string, owner: string): Promise<void> {
    const state = this.#state(keyId);
    if (state.claim?.owner === owner) state.claim = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#keys.clear();
  }

  #state(keyId: string): KeyState {
    const known = this.#keys.get(keyId);
    if (known !== undefined) return known;
    const made: KeyState = { mintsAtMs: [], token: undefined, claim: undefined };
    this.#keys.set(keyId, made);
    return made;
  }
}

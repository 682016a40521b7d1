import { SharedRateLimit, type SharedRateLimitParts } from '../api/rate-limit.ts';

/** Wrong passwords from one address: five in a row, then six a minute. */
export const GUESSES = { burst: 5, perSecond: 0.1 };
/** Tries for one account from addresses that never gave the right password: 30 in a row, then 12 a minute. */
const OF_ACCOUNT = { burst: 30, perSecond: 0.2 };
/** Most remembered addresses; the least recent is forgotten first. */
const MOST_KNOWN = 1000;

/** Paces password guesses by address and by account, so that many addresses together get no more tries than one account allows. */
export class PasswordGuesses {
  readonly #ofAddress: SharedRateLimit;
  readonly #ofAccount: SharedRateLimit;
  /** Accounts with addresses that gave the right password: guesses from elsewhere do not lock these out. */
  readonly #known = new Set<string>();

  constructor(parts: SharedRateLimitParts) {
    this.#ofAddress = new SharedRateLimit(parts, 'admin password', GUESSES);
    this.#ofAccount = new SharedRateLimit(parts, 'account password', OF_ACCOUNT);
  }

  /**
   * Paces a guess; a right guess that comes too soon looks like a wrong one.
   * @param check returns undefined for a wrong password
   * @returns the seconds to wait, or the result of `check`
   */
  async guess<Found>(
    { account, address }: { readonly account: string; readonly address: string },
    check: () => Found | undefined,
  ): Promise<{ readonly waitS: number } | { readonly waitS: 0; readonly found: Found | undefined }> {
    const known = `${account} ${address}`;
    const addressS = await this.#ofAddress.wait(address);
    if (addressS > 0) return { waitS: addressS };
    // Taken before the check, so that simultaneous guesses count too.
    const accountS = this.#known.has(known) ? 0 : await this.#ofAccount.take(account);
    if (accountS > 0) return { waitS: accountS };
    const guess = await this.#ofAddress.guess(address, check);
    if ('found' in guess && guess.found !== undefined) this.#remember(known);
    return guess;
  }

  #remember(known: string): void {
    this.#known.delete(known);
    this.#known.add(known);
    const [oldest] = this.#known;
    if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest);
  }
}

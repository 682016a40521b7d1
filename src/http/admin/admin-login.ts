import { SharedRateLimit, type SharedRateLimitParts } from '../rate-limit.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Secret } from '../../config/secrets.ts';
import type { Logger } from '../../observability/logger.ts';
import { sendProblem } from '../problem.ts';
import { isSafeHost, visitorOf } from '../public-addresses.ts';

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

export interface AdminLoginParts {
  readonly password: Secret;
  readonly guesses: PasswordGuesses;
  /** How the gateway is reached from outside. */
  readonly publicUrl: string | undefined;
  readonly logger: Logger;
}

/** The account of the admin's password. */
export const USER = 'admin';
const BASIC = /^Basic ([\w+/-]{1,2048}={0,2})$/iu;
const NOT_SAFE =
  'This page is shown at the https address of publicUrl and at localhost alone, so that its password cannot be read on the way.';

/**
 * Admits requests with the admin password, by HTTP Basic. A browser is asked for it only where it does not travel in the clear, judging by the
 * address it opened.
 */
export class AdminLogin {
  readonly #parts: AdminLoginParts;
  readonly #credentials: Secret;

  constructor(parts: AdminLoginParts) {
    this.#parts = parts;
    this.#credentials = new Secret(`${USER}:${parts.password.reveal()}`);
  }

  /** Sends the answer itself when it refuses. */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    if (!isSafeHost(request.headers.host, this.#parts.publicUrl)) return sendProblem(request, reply, 403, NOT_SAFE);
    const given = BASIC.exec(request.headers.authorization ?? '')?.[1];
    if (given === undefined) return challenge(request, reply);
    const isRight = (): true | undefined =>
      this.#credentials.equals(Buffer.from(given, 'base64').toString('utf8')) ? true : undefined;
    const guess = await this.#parts.guesses.guess({ account: USER, address: visitorOf(request.ip) }, isRight);
    if (!('found' in guess))
      return sendProblem(request, reply.header('retry-after', guess.waitS), 429, 'Too many wrong passwords.');
    if (guess.found) return undefined;
    this.#parts.logger.warn({ requestId: request.id, pii: { address: request.ip } }, 'wrong admin password');
    return challenge(request, reply);
  }
}

function challenge(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header('www-authenticate', 'Basic realm="Offhook", charset="UTF-8"');
  return sendProblem(request, reply, 401, `This needs the user ${USER} and the admin password.`);
}

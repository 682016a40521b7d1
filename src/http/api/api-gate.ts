import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../kernel/clock.ts';
import { RateLimit, SharedRateLimit, type SharedRateLimitParts } from '../rate-limit.ts';
import { sendProblem } from '../problem.ts';
import { visitorOf } from '../public-addresses.ts';
import type { ApiKeyBook, ApiScope, Principal } from './system/api-keys.ts';
import type { Sessions } from '../session/sessions.ts';
import { JwtBearers } from './jwt-bearers.ts';

interface ApiGateParts extends SharedRateLimitParts {
  readonly keys: Pick<ApiKeyBook, 'find'>;
  /** Verifies tokens, where an issuer is configured. */
  readonly tokens?: Pick<JwtBearers, 'verify'> | undefined;
  /** Console sessions, where there is a console. */
  readonly sessions?: Pick<Sessions, 'find' | 'refusal'> | undefined;
}

const WANTED = 'This needs an API key or a token: Authorization: Bearer <key>.';
/** Request rate of one key. */
const API_PACE = { burst: 60, perSecond: 10 };
/** Request rate of one session: a page sends many requests at once, and a person may have several pages open. */
const SESSION_PACE = { burst: 400, perSecond: 40 };

/** Admits requests with a key, token or session that has the route's scope, within its request rate. */
export class ApiGate {
  readonly #parts: ApiGateParts;
  readonly #limit: SharedRateLimit;
  readonly #sessionLimit: SharedRateLimit;
  readonly #checks: TokenChecks;

  constructor(parts: ApiGateParts) {
    this.#parts = parts;
    this.#limit = new SharedRateLimit(parts, 'api', API_PACE);
    this.#sessionLimit = new SharedRateLimit(parts, 'session', SESSION_PACE);
    this.#checks = new TokenChecks(parts.clock);
  }

  /** Sets a request's `principal`; sends the answer itself when it refuses. */
  async admit(request: FastifyRequest, reply: FastifyReply, scope: ApiScope): Promise<FastifyReply | undefined> {
    const bearer = bearerOf(request);
    const guess = `guess ${visitorOf(request.ip)}`;
    const session = bearer === undefined ? await this.#parts.sessions?.find(request) : undefined;
    const notOwn = session && this.#parts.sessions?.refusal(request, session);
    if (notOwn !== undefined) {
      if (hasBody(request)) reply.header('connection', 'close');
      return sendProblem(request, reply, 403, notOwn);
    }
    const found = bearer === undefined ? session?.principal : await this.#find(bearer, guess);
    const refused = found !== undefined && 'refused' in found ? found.refused : undefined;
    const key = found !== undefined && 'scopes' in found ? found : undefined;
    // Guesses are limited by address; a valid key or token is not slowed by other guesses from its address.
    const take = (): Promise<number> =>
      session === undefined ? this.#limit.take(key?.id ?? guess) : this.#sessionLimit.take(session.jti);
    const waitS = found !== undefined && 'waitS' in found ? found.waitS : await take();
    if (key !== undefined && waitS === 0 && key.scopes.includes(scope)) {
      request.principal = key;
      return undefined;
    }
    // The body of a refused request is not read.
    if (hasBody(request)) reply.header('connection', 'close');
    if (waitS > 0) return sendProblem(request, reply.header('retry-after', waitS), 429, 'Too many requests.');
    // Form of RFC 6750, section 3.
    if (key !== undefined) {
      reply.header('www-authenticate', `Bearer error="insufficient_scope", scope="${scope}"`);
      return sendProblem(request, reply, 403, `This needs the scope ${scope}.`);
    }
    const why = refused === undefined ? undefined : `The token is refused: ${refused}.`;
    reply.header('www-authenticate', why === undefined ? 'Bearer' : `Bearer error="invalid_token", error_description="${why}"`);
    return sendProblem(request, reply, 401, why ?? WANTED);
  }

  /** Whether an admitted client still has access: a key may be revoked, a token or a session may end. */
  async holds(request: FastifyRequest, scope: ApiScope): Promise<boolean> {
    const { keys, tokens, sessions } = this.#parts;
    const bearer = bearerOf(request);
    if (bearer === undefined) return (await sessions?.find(request))?.principal.scopes.includes(scope) ?? false;
    const found = tokens !== undefined && JwtBearers.isToken(bearer) ? await tokens.verify(bearer) : await keys.find(bearer);
    return found !== undefined && 'scopes' in found && found.scopes.includes(scope);
  }

  /** @returns `waitS`: seconds until the token may be checked */
  async #find(bearer: string, guess: string): Promise<Principal | { readonly refused: string } | { waitS: number } | undefined> {
    const { keys, tokens } = this.#parts;
    if (tokens === undefined || !JwtBearers.isToken(bearer)) return keys.find(bearer);
    const holder = this.#checks.holderOf(bearer);
    const waitS =
      holder === undefined ? this.#checks.take((await this.#limit.wait(guess)) === 0) : await this.#limit.wait(holder);
    if (waitS > 0) return { waitS };
    const found = await tokens.verify(bearer);
    if ('scopes' in found) this.#checks.believed(bearer, found.id);
    return found;
  }
}

function bearerOf({ headers }: FastifyRequest): string | undefined {
  return /^Bearer (\S{1,8192})$/iu.exec(headers.authorization ?? '')?.[1];
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Checks of new tokens over all addresses with guesses left, and over all without: a check takes a fraction of a millisecond. */
const OF_STRANGERS = { burst: 400, perSecond: 200 };
const OF_GUESSERS = { burst: 100, perSecond: 50 };
/** Most remembered token holders; the least recently used is forgotten. */
const MOST_REMEMBERED = 10_000;

/**
 * Limits signature checks of invalid tokens. A token that was valid before is always checked, whatever else comes from its address; new ones are
 * limited per second.
 */
class TokenChecks {
  readonly #strangers: RateLimit;
  readonly #guessers: RateLimit;
  /** Token holders, by the token's hash. */
  readonly #believed = new Map<string, string>();

  constructor(clock: Clock) {
    this.#strangers = new RateLimit(clock, OF_STRANGERS);
    this.#guessers = new RateLimit(clock, OF_GUESSERS);
  }

  /** The token's holder at its last valid check; undefined for a new one. */
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

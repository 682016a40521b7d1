import type { FastifyRequest } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';
import { Refusal } from '../refusal.ts';
import type { TokenClaims, Tokens, TokenService } from './tokens.ts';

/** The credential of `Authorization: Bearer …`; undefined when absent or of another shape. */
export function bearerOf(headers: IncomingHttpHeaders): string | undefined {
  // RFC 6750, section 2.1; the scheme is case-insensitive (RFC 9110, section 11.1).
  return /^bearer +([\x21-\x7e]+) *$/i.exec(headers.authorization ?? '')?.[1];
}

/**
 * Checks a presented token for a service.
 * @param how where else than in the header a token may stand; for the refusal
 * @throws Refusal 401 when missing or bad, 403 when it is sound but not for this service's endpoints
 */
export async function admit(tokens: Tokens, service: TokenService, token: string | undefined, how = ''): Promise<TokenClaims> {
  if (token === undefined) throw unauthorised(`An access token is required: Authorization: Bearer <ACCESS_TOKEN>${how}`);
  const check = await tokens.check(token, service);
  if (check.type === 'refused') throw unauthorised(check.reason);
  if (!check.claims.scopes.includes(service)) {
    throw new Refusal(403, `The access token lacks the scope "${service}"`);
  }
  return check.claims;
}

function unauthorised(detail: string): Refusal {
  return new Refusal(401, detail, { headers: { 'www-authenticate': 'Bearer' } });
}

/** Lets a request in before its body is read, and remembers whose it is. */
export class Gate {
  readonly #tokens: Tokens;
  readonly #service: TokenService;
  readonly #claims = new WeakMap<FastifyRequest, TokenClaims>();

  constructor(tokens: Tokens, service: TokenService) {
    this.#tokens = tokens;
    this.#service = service;
  }

  /** For `onRequest`, so that a refused upload is not read. */
  readonly open = async (request: FastifyRequest): Promise<void> => {
    this.#claims.set(request, await admit(this.#tokens, this.#service, bearerOf(request.headers)));
  };

  /** @throws TypeError when the route lacks the `open` hook */
  claimsOf(request: FastifyRequest): TokenClaims {
    const claims = this.#claims.get(request);
    if (claims === undefined) throw new TypeError('the route is not behind the gate');
    return claims;
  }
}

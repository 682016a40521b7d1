import type { FastifyRequest } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';
import { Refusal } from '../listener/refusal.ts';
import type { ApiKeys } from '../../keys/api-keys.ts';
import type { TokenClaims, Tokens, TokenService } from '../../keys/tokens.ts';

interface KeyOwner {
  readonly keyId: string;
}

/** The credential of `Authorization: Bearer …`; undefined without one. */
export function bearerOf(headers: IncomingHttpHeaders): string | undefined {
  // RFC 6750, section 2.1; the scheme is case-insensitive (RFC 9110, section 11.1).
  return /^bearer +([\x21-\x7e]+) *$/i.exec(headers.authorization ?? '')?.[1];
}

/**
 * Checks a token for a service.
 * @param how where else the token may be sent; for the error
 * @throws Refusal 401 for a missing or invalid token, 403 for one without this service's scope
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

/** Checks credentials before the body is read, so that a refused upload is not read, and keeps the owner of each request. */
export class Gate {
  readonly #check: (headers: IncomingHttpHeaders) => Promise<KeyOwner>;
  readonly #owners = new WeakMap<FastifyRequest, KeyOwner>();

  /** @param check throws a Refusal for a refused credential */
  constructor(check: (headers: IncomingHttpHeaders) => Promise<KeyOwner>) {
    this.#check = check;
  }

  /** For `onRequest`. */
  readonly open = async (request: FastifyRequest): Promise<void> => {
    this.#owners.set(request, await this.#check(request.headers));
  };

  /** @throws TypeError when the route lacks the `open` hook */
  claimsOf(request: FastifyRequest): KeyOwner {
    const owner = this.#owners.get(request);
    if (owner === undefined) throw new TypeError('the route is not behind the gate');
    return owner;
  }
}

/** A gate for access tokens of a service. */
export function tokenGate(tokens: Tokens, service: TokenService): Gate {
  return new Gate((headers) => admit(tokens, service, bearerOf(headers)));
}

/**
 * A gate for API keys.
 * @param header how to send the key, for the error
 */
export function keyGate(keys: ApiKeys, header: string, secretOf: (headers: IncomingHttpHeaders) => string | undefined): Gate {
  return new Gate(async (headers) => {
    const key = keys.find(secretOf(headers) ?? '');
    if (key?.status !== 'active') throw unauthorised(`An API key is required: ${header}`);
    return { keyId: key.id };
  });
}

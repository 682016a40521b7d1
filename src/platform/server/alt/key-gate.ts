import type { FastifyRequest } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';
import type { ApiKeys } from '../auth/api-keys.ts';
import { Refusal } from '../refusal.ts';

/** Lets requests in by an API key before their body is read, and remembers whose they are. */
export class KeyGate {
  readonly #keys: ApiKeys;
  readonly #secretOf: (headers: IncomingHttpHeaders) => string | undefined;
  readonly #header: string;
  readonly #owners = new WeakMap<FastifyRequest, { readonly keyId: string }>();

  /** @param header how the credential is sent, for the refusal */
  constructor(keys: ApiKeys, header: string, secretOf: (headers: IncomingHttpHeaders) => string | undefined) {
    this.#keys = keys;
    this.#header = header;
    this.#secretOf = secretOf;
  }

  /** For `onRequest`. */
  readonly open = async (request: FastifyRequest): Promise<void> => {
    const key = this.#keys.find(this.#secretOf(request.headers) ?? '');
    if (key?.status !== 'active') {
      throw new Refusal(401, `An API key is required: ${this.#header}`, { headers: { 'www-authenticate': 'Bearer' } });
    }
    this.#owners.set(request, { keyId: key.id });
  };

  /** @throws TypeError when the route lacks the `open` hook */
  claimsOf(request: FastifyRequest): { readonly keyId: string } {
    const owner = this.#owners.get(request);
    if (owner === undefined) throw new TypeError('the route is not behind the gate');
    return owner;
  }
}

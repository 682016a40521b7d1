import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendProblem } from '../problem.ts';
import type { ApiDeps } from './api-deps.ts';
import type { ApiScope } from './api-keys.ts';
import type { Principal } from './api-route.ts';
import { RateLimit } from './rate-limit.ts';

/** Lets in who has a key with the scope of a route, so many requests a second. */
export class ApiGate {
  readonly #deps: Pick<ApiDeps, 'keys' | 'clock'>;
  readonly #limit: RateLimit;
  readonly #admitted = new WeakMap<FastifyRequest, Principal>();

  constructor(deps: Pick<ApiDeps, 'keys' | 'clock'>) {
    this.#deps = deps;
    this.#limit = new RateLimit(deps.clock);
  }

  /** Answers by itself when it refuses. */
  async admit(request: FastifyRequest, reply: FastifyReply, scope: ApiScope): Promise<FastifyReply | undefined> {
    const secret = /^Bearer (\S{1,200})$/iu.exec(request.headers.authorization ?? '')?.[1];
    const key = secret === undefined ? undefined : this.#deps.keys.find(secret);
    // Guessing is limited too, by address.
    const waitS = this.#limit.take(key?.id ?? `guess ${request.ip}`);
    if (key !== undefined && waitS === 0 && key.scopes.includes(scope)) {
      this.#admitted.set(request, key);
      return undefined;
    }
    // A body that comes with it is not read.
    if (hasBody(request)) reply.header('connection', 'close');
    if (waitS > 0) return sendProblem(request, reply.header('retry-after', waitS), 429, 'Too many requests.');
    if (key !== undefined) return sendProblem(request, reply, 403, `This needs the scope ${scope}.`);
    reply.header('www-authenticate', 'Bearer');
    return sendProblem(request, reply, 401, 'This needs an API key: Authorization: Bearer <key>.');
  }

  /** Who asks. Only for requests that were let in. */
  admitted(request: FastifyRequest): Principal {
    const key = this.#admitted.get(request);
    if (key === undefined) throw new TypeError('the request was not let in');
    return key;
  }
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

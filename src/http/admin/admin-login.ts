import type { FastifyReply, FastifyRequest } from 'fastify';
import { Secret } from '../../config/secrets.ts';
import type { Logger } from '../../observability/logger.ts';
import { sendProblem } from '../problem.ts';
import { isSafeHost, visitorOf } from '../public-addresses.ts';
import type { PasswordGuesses } from './password-guesses.ts';

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

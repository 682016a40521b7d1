import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CarrierRequest, ReportDoor, SignedBody } from '../carriers/carrier.ts';
import type { Clock } from '../kernel/clock.ts';
import type { BusinessEvents } from '../observability/events.ts';
import type { SpentIds } from '../hosts/shared-state/port.ts';
import { RateLimit } from './rate-limit.ts';
import { sendProblem } from './problem.ts';
import { isLocal } from './public-addresses.ts';

export interface WebhookAccessDeps {
  /** Name of the carrier. */
  readonly carrier: string;
  readonly door: Pick<ReportDoor, 'header' | 'inQuery' | 'challenge' | 'isProof' | 'isSigned' | 'nonceOf'>;
  /** The proof is a development secret: requests from other machines are refused, even signed ones. */
  readonly loopbackOnly: boolean;
  readonly events: Pick<BusinessEvents, 'webhookRefused'>;
  /** Base addresses, without a trailing slash. */
  readonly addresses: () => readonly string[];
  readonly clock: Clock;
  /** Shared by all machines, where there are several. */
  readonly spent?: SpentIds | undefined;
}

/** Refused webhooks of one address: twenty in a row, then one a second. */
const REFUSALS = { burst: 20, perSecond: 1 };
/** Larger webhooks are not read from an address beyond that pace. The carrier's own have about 1 KB. */
const PACED_BODY_BYTES = 8192;
/** Longest path and query of a webhook. */
const URL_CHARACTERS = 2048;
/** Most nonces kept in this process, and how long machines share them. */
const MOST_NONCES = 100_000;
const SHARED_NONCE_LIFE_MS = 600_000;
const NONCE_CHARACTERS = 256;

/**
 * Admits only a carrier's signed webhooks: 400 without a signature, 403 with a wrong one or, for the development secret, from another machine; 429
 * for refused ones from an address that sends many. All callers may share a proxy's address, so a correctly signed webhook is never refused for other
 * traffic; instead, the cost of each wrong one is bounded.
 */
export class WebhookAccess {
  readonly #deps: WebhookAccessDeps;
  readonly #refusals: RateLimit;
  readonly #nonces = new Set<string>();

  constructor(deps: WebhookAccessDeps) {
    this.#deps = deps;
    this.#refusals = new RateLimit(deps.clock, REFUSALS);
  }

  /** Before the body is read: refuses what no body can correct, and sends the answer itself. */
  admit(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
    const { door, loopbackOnly } = this.#deps;
    if (loopbackOnly && !isLocal(request.socket.remoteAddress, request.headers))
      return this.#refuse(request, reply, [403, 'not-local', 'No carrier secret is configured; only this machine may call.']);
    const proof = proofOf(request, door);
    // Every webhook of such a carrier starts without proof, so it does not count as a failure.
    if (proof === undefined && door.challenge !== undefined) {
      this.#deps.events.webhookRefused({ carrier: this.#deps.carrier, reason: 'challenged', status: 401, address: request.ip });
      return sendProblem(request, reply.header('www-authenticate', door.challenge), 401);
    }
    if (proof === undefined) return this.#refuse(request, reply, [400, 'unsigned', `The ${proofName(door)} is missing.`]);
    if (!door.isProof(proof)) return this.#refuse(request, reply, this.#wrongSignature);
    if (request.url.length > URL_CHARACTERS)
      return this.#refuse(request, reply, [414, 'url', `The address is longer than ${URL_CHARACTERS} characters.`]);
    const bytes = Number(request.headers['content-length'] ?? Number.NaN);
    if (this.#refusals.wait(request.ip) > 0 && !(bytes <= PACED_BODY_BYTES))
      return this.#refuse(request, reply, [429, 'pace', `Meanwhile only bodies of up to ${PACED_BODY_BYTES} bytes are read.`]);
    return undefined;
  }

  /** After the body, which is signed, was parsed. Sends the answer itself when it refuses. */
  async check(request: FastifyRequest, reply: FastifyReply, body: SignedBody): Promise<FastifyReply | undefined> {
    const { door, addresses } = this.#deps;
    const asked = carrierRequest(request, addresses());
    if (!(await door.isSigned(asked, body))) return this.#refuse(request, reply, this.#wrongSignature);
    const nonce = door.nonceOf?.(asked);
    if (nonce !== undefined && !(await this.#isNew(nonce)))
      return this.#refuse(request, reply, [403, 'replayed', 'A webhook with this nonce came before.']);
    return undefined;
  }

  async #isNew(nonce: string): Promise<boolean> {
    if (nonce.length > NONCE_CHARACTERS || this.#nonces.has(nonce)) return false;
    this.#nonces.add(nonce);
    const [oldest] = this.#nonces;
    if (this.#nonces.size > MOST_NONCES && oldest !== undefined) this.#nonces.delete(oldest);
    const { carrier, clock, spent } = this.#deps;
    return (await spent?.spend(`webhook ${carrier} ${nonce}`, clock.wallMs() + SHARED_NONCE_LIFE_MS)) ?? true;
  }

  /** Counts a refused webhook. @returns 0, or the seconds to wait where its address is beyond its pace */
  noteRefusal(request: FastifyRequest, status: number, reason: string): number {
    this.#deps.events.webhookRefused({ carrier: this.#deps.carrier, reason, status, address: request.ip });
    return this.#refusals.take(request.ip);
  }

  get #wrongSignature(): RefusedWebhook {
    return [403, 'signature', `The ${proofName(this.#deps.door)} does not match this address and body.`];
  }

  #refuse(request: FastifyRequest, reply: FastifyReply, [status, reason, detail]: RefusedWebhook): FastifyReply {
    const waitS = this.noteRefusal(request, status, reason);
    if (waitS === 0) return sendProblem(request, reply, status, detail);
    reply.header('retry-after', waitS);
    return sendProblem(request, reply, 429, `Too many webhooks from this address were refused. ${detail}`);
  }
}

type RefusedWebhook = readonly [status: number, reason: string, detail: string];

/** The sender's raw proof. */
export function proofOf(request: FastifyRequest, { header: name, inQuery }: ProofPlace): string | undefined {
  const given = inQuery === true ? (request.query as Record<string, unknown>)[name] : request.headers[name.toLowerCase()];
  return typeof given === 'string' && given !== '' ? given : undefined;
}

type ProofPlace = Pick<ReportDoor, 'header' | 'inQuery'>;

function proofName({ header, inQuery }: ProofPlace): string {
  return inQuery === true ? `parameter ${header} of the address` : `${header} header`;
}

/** A request in the form carriers' checks expect. @param addresses base addresses of the gateway, without a trailing slash */
export function carrierRequest(request: FastifyRequest, addresses: readonly string[]): CarrierRequest {
  return { urls: addresses.map((base) => base + request.url), headers: singleHeaders(request), address: request.ip };
}

export function singleHeaders({ headers }: Pick<FastifyRequest, 'headers'>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}

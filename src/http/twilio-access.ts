import type { FastifyReply, FastifyRequest } from 'fastify';
import { type FormFields, isSignature, isSignedUpgrade, isSignedWebhook } from '../carriers/twilio/signature.ts';
import type { Secret } from '../config/secrets.ts';
import type { Clock } from '../kernel/clock.ts';
import type { BusinessEvents } from '../observability/events.ts';
import { RateLimit } from './api/rate-limit.ts';
import { sendProblem } from './problem.ts';
import { isLocal } from './public-addresses.ts';

/** What proves that a request comes from the carrier. */
export interface TwilioCredentials {
  /** Auth tokens in force; more than one during a rotation. */
  readonly authTokens: readonly Secret[];
  /** The tokens are a development secret: requests from elsewhere are refused, however they are signed. */
  readonly loopbackOnly: boolean;
}

export interface TwilioAccessDeps {
  readonly credentials: TwilioCredentials;
  readonly events: Pick<BusinessEvents, 'webhookRefused'>;
  /** Base addresses, without a trailing slash. */
  readonly addresses: () => readonly string[];
  readonly clock: Clock;
}

/** Refused webhooks of one address: twenty in a row, then one a second. */
const REFUSALS = { burst: 20, perSecond: 1 };
/** Larger webhooks are not read from an address past that pace. The carrier's own have about 1 KB. */
const PACED_BODY_BYTES = 8192;
/** Longest path and query of a webhook. */
const URL_CHARACTERS = 2048;

/**
 * Lets only signed webhooks through: 400 without a signature, 403 with a wrong one or, for the development secret, from another
 * machine; 429 for the refused ones of an address that sends many. All callers may have the address of one proxy, so a webhook
 * that is signed rightly is never refused for what else comes from there; what each wrong one costs is bounded instead.
 */
export class TwilioAccess {
  readonly #deps: TwilioAccessDeps;
  readonly #refusals: RateLimit;

  constructor(deps: TwilioAccessDeps) {
    this.#deps = deps;
    this.#refusals = new RateLimit(deps.clock, REFUSALS);
  }

  /** Before the body is read: refuses what no body can make right. Answers by itself then. */
  admit(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
    const { credentials } = this.#deps;
    if (credentials.loopbackOnly && !isLocal(request.socket.remoteAddress, request.headers))
      return this.#refuse(request, reply, [403, 'not-local', 'No carrier secret is configured; only this machine may call.']);
    const signature = signatureOf(request);
    if (signature === undefined)
      return this.#refuse(request, reply, [400, 'unsigned', 'The X-Twilio-Signature header is missing.']);
    if (!isSignature(signature)) return this.#refuse(request, reply, WRONG_SIGNATURE);
    if (request.url.length > URL_CHARACTERS)
      return this.#refuse(request, reply, [414, 'url', `The address is longer than ${URL_CHARACTERS} characters.`]);
    const bytes = Number(request.headers['content-length'] ?? Number.NaN);
    if (this.#refusals.wait(request.ip) > 0 && !(bytes <= PACED_BODY_BYTES))
      return this.#refuse(request, reply, [429, 'pace', `Meanwhile only bodies of up to ${PACED_BODY_BYTES} bytes are read.`]);
    return undefined;
  }

  /** Once the form has been parsed, whose fields are part of what is signed. Answers by itself when it refuses. */
  check(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
    const signature = signatureOf(request) ?? '';
    const urls = this.#deps.addresses().map((base) => base + request.url);
    const fields = formFields(request.body);
    if (isSignedWebhook(this.#deps.credentials.authTokens, { signature, urls, body: { fields } })) return undefined;
    return this.#refuse(request, reply, WRONG_SIGNATURE);
  }

  /** Counts a webhook that was refused. @returns 0, or the seconds to wait where its address is past its pace */
  noteRefusal(request: FastifyRequest, status: number, reason: string): number {
    this.#deps.events.webhookRefused({ carrier: 'twilio', reason, status, address: request.ip });
    return this.#refusals.take(request.ip);
  }

  #refuse(request: FastifyRequest, reply: FastifyReply, [status, reason, detail]: RefusedWebhook): FastifyReply {
    const waitS = this.noteRefusal(request, status, reason);
    if (waitS === 0) return sendProblem(request, reply, status, detail);
    reply.header('retry-after', waitS);
    return sendProblem(request, reply, 429, `Too many webhooks from this address were refused. ${detail}`);
  }
}

type RefusedWebhook = readonly [status: number, reason: string, detail: string];
const WRONG_SIGNATURE: RefusedWebhook = [403, 'signature', 'The X-Twilio-Signature header does not match this address and body.'];

/** How the upgrade of a media socket was signed. */
export function upgradeSignature(
  deps: Pick<TwilioAccessDeps, 'credentials' | 'addresses'>,
  request: FastifyRequest,
): 'good' | 'missing' | 'wrong' {
  const signature = signatureOf(request);
  if (signature === undefined) return 'missing';
  const urls = deps.addresses().map((base) => base + request.url);
  return isSignedUpgrade(deps.credentials.authTokens, signature, urls) ? 'good' : 'wrong';
}

function signatureOf(request: FastifyRequest): string | undefined {
  const header = request.headers['x-twilio-signature'];
  return typeof header === 'string' && header !== '' ? header : undefined;
}

function formFields(body: unknown): FormFields {
  if (typeof body !== 'object' || body === null) return {};
  const entries = Object.entries(body).filter((entry): entry is [string, string | string[]] => {
    const value: unknown = entry[1];
    return typeof value === 'string' || (Array.isArray(value) && value.every((part) => typeof part === 'string'));
  });
  return Object.fromEntries(entries);
}

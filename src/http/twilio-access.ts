import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FormFields } from '../carriers/twilio/signature.ts';
import { isSignedUpgrade, isSignedWebhook } from '../carriers/twilio/signature.ts';
import type { Secret } from '../config/secrets.ts';
import type { BusinessEvents } from '../observability/events.ts';
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
}

/**
 * A hook that lets only signed webhooks through: 400 without a signature, 403 with a wrong one or, for the development
 * secret, from another machine. Runs when the form has been parsed, as its fields are part of what is signed.
 */
export function requireSignature(deps: TwilioAccessDeps) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const refuse = (status: number, reason: string, detail: string): FastifyReply => {
      deps.events.webhookRefused({ carrier: 'twilio', reason, status, address: request.ip });
      return sendProblem(request, reply, status, detail);
    };
    if (deps.credentials.loopbackOnly && !isLocal(request.socket.remoteAddress, request.headers)) {
      return refuse(403, 'not-local', 'No carrier secret is configured; only this machine may call.');
    }
    const signature = signatureOf(request);
    if (signature === undefined) return refuse(400, 'unsigned', 'The X-Twilio-Signature header is missing.');
    const urls = deps.addresses().map((base) => base + request.url);
    const fields = formFields(request.body);
    if (isSignedWebhook(deps.credentials.authTokens, { signature, urls, body: { fields } })) return undefined;
    return refuse(403, 'signature', 'The X-Twilio-Signature header does not match this address and body.');
  };
}

/** How the upgrade of a media socket was signed. */
export function upgradeSignature(deps: TwilioAccessDeps, request: FastifyRequest): 'good' | 'missing' | 'wrong' {
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

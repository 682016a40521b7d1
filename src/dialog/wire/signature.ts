import { createHash } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

const PREFIX = 'whsec_';

/**
 * Headers that prove to a server that a request is from this gateway, in the Standard Webhooks format.
 * @param secret `whsec_` and base64 as in the format; the bytes of any other text are the key themselves
 */
export function signedHeaders(secret: string, id: string, atWallMs: number, body: string): Record<string, string> {
  const webhook = secret.startsWith(PREFIX) ? new Webhook(secret) : new Webhook(secret, { format: 'raw' });
  const at = new Date(atWallMs);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(atWallMs / 1000)),
    'webhook-signature': webhook.sign(id, at, body),
  };
}

/**
 * The idempotency key of one request within a turn: the same for the same content in every attempt at the turn, else unique.
 * @param turnKey the turn's own idempotency key
 * @param name of the request, such as a tool's name
 */
export function keyWithin(turnKey: string, name: string, content: string): string {
  return `${turnKey}.${name}.${createHash('sha256').update(content).digest('hex').slice(0, 16)}`;
}

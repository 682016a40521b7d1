import { createHash } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

const PREFIX = 'whsec_';

/**
 * Headers that let a bot's server see that a request is ours, in the Standard Webhooks format.
 * @param secret `whsec_` and base64 as the format wants it, or any other text, whose bytes are then the key
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
 * The key of one thing that a turn does: the same for the same content in every attempt at the turn, and for nothing else.
 * @param turnKey the turn's own idempotency key
 * @param name what is done, such as a tool's name
 */
export function keyWithin(turnKey: string, name: string, content: string): string {
  return `${turnKey}.${name}.${createHash('sha256').update(content).digest('hex').slice(0, 16)}`;
}

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

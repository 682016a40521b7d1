import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { Secret } from '../../config/secrets.ts';

/** An older or future signature is a replay. */
const MOST_AGE_SECONDS = 300;
/** Prefix of a 32-byte Ed25519 key as a SubjectPublicKeyInfo (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** Whether a header has the form of a signature: 64 bytes in base64. */
export function isSignature(header: string): boolean {
  return /^[A-Za-z0-9+/]{86}==$/u.test(header);
}

/** Whether this is a public key as shown by the portal: 32 bytes in base64. */
export function isPublicKey(text: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/u.test(text);
}

/** The keys in force; anything else (a development secret) verifies nothing. */
export function publicKeys(secrets: readonly Secret[]): readonly KeyObject[] {
  return secrets
    .map((secret) => secret.reveal())
    .filter(isPublicKey)
    .map((text) =>
      createPublicKey({ key: Buffer.concat([SPKI_PREFIX, Buffer.from(text, 'base64')]), format: 'der', type: 'spki' }),
    );
}

export interface SignedTelnyxWebhook {
  /** `telnyx-signature-ed25519`: base64. */
  readonly signature: string;
  /** `telnyx-timestamp`: Unix seconds. */
  readonly timestamp: string;
  /** The raw body. */
  readonly raw: string;
}

/** Whether one of our keys signed this webhook: Ed25519 over `timestamp|body`, at most five minutes ago. The address is not signed. */
export function isSignedWebhook(
  keys: readonly KeyObject[],
  { signature, timestamp, raw }: SignedTelnyxWebhook,
  wallMs: number,
): boolean {
  if (!/^\d{9,11}$/u.test(timestamp) || !isSignature(signature)) return false;
  if (Math.abs(wallMs / 1000 - Number(timestamp)) > MOST_AGE_SECONDS) return false;
  const signed = Buffer.from(`${timestamp}|${raw}`);
  const bytes = Buffer.from(signature, 'base64');
  return keys.some((key) => verify(null, signed, key, bytes));
}

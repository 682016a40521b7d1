import { createHmac } from 'node:crypto';
import { Secret } from '../../config/secrets.ts';

/**
 * The `Authorization` that Vonage sends when it opens a media socket, if the NCCO asks for it (`authorization` of the type `custom`, as in
 * @vonage/voice 1.21). Derived from the socket's path and the signature secret, so that any process can check it.
 */
export function socketProof(url: string, signatureSecret: Secret): string {
  const { pathname } = new URL(url);
  const hmac = createHmac('sha256', signatureSecret.reveal()).update(`vonage-stream:${pathname}`);
  return `Bearer ${hmac.digest('base64url')}`;
}

/** @param urls addresses under which the socket may have been requested. @param secrets in force; several during a rotation */
export function isSocketProof(header: string, urls: readonly string[], secrets: readonly Secret[]): boolean {
  const expected = urls.flatMap((url) => secrets.map((secret) => new Secret(socketProof(url, secret))));
  return expected.map((proof) => proof.equals(header)).includes(true);
}

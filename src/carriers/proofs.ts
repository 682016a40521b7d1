import { createHmac } from 'node:crypto';
import { Secret } from '../config/secrets.ts';

const MOST_CHARACTERS = 4_096;

/**
 * Whether an `Authorization` header has these Basic credentials (RFC 7617); compared in constant time.
 * @param passwords in force; several during a rotation
 */
export function hasBasicCredentials(header: string | undefined, user: string, passwords: readonly Secret[]): boolean {
  const encoded =
    header === undefined || header.length > MOST_CHARACTERS ? undefined : /^Basic ([\w+/]+={0,2})$/iu.exec(header)?.[1];
  if (encoded === undefined) return false;
  const given = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = given.indexOf(':');
  if (colon === -1) return false;
  const isPassword = passwords.map((password) => password.equals(given.slice(colon + 1))).includes(true);
  return isPassword && given.slice(0, colon) === user;
}

export function basicCredentials(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/*
 * Proofs of addresses that we give out, for carriers that present what they were given: derived from the address and a secret, so that any process can
 * check them.
 */

/** HMAC-SHA256 in base64url, 43 characters. @param about the address, or the part of it that no proxy changes, and what it is for */
export function addressProof(key: Secret, about: string): string {
  return createHmac('sha256', key.reveal()).update(about).digest('base64url');
}

/** Whether a proof is one of the expected; compared in constant time. */
export function isOneOf(given: string, expected: readonly string[]): boolean {
  return expected.map((proof) => new Secret(proof).equals(given)).includes(true);
}

/** What a media socket's upgrade presents, where the carrier presents anything. */
export function presented(given: string | undefined, isRight: (given: string) => boolean): 'good' | 'missing' | 'wrong' {
  if (given === undefined || given === '') return 'missing';
  return isRight(given) ? 'good' : 'wrong';
}

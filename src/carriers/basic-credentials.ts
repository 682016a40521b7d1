import type { Secret } from '../config/secrets.ts';

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

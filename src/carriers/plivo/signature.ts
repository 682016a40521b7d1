import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../config/secrets.ts';

/** Form fields as parsed: a repeated one is a list. Anything else is not signed. */
type Fields = Readonly<Record<string, unknown>>;

/** Signatures of the account and of its parent may come in one header; more than a few are no carrier's. */
const MOST_SIGNATURES = 8;
const NONCE = /^[\w-]{1,128}$/u;

export interface SignedRequest {
  /** The signature headers, as received: each one HMAC-SHA256 in base64, or several with commas between. */
  readonly signatures: readonly (string | undefined)[];
  readonly nonce: string | undefined;
  /** Addresses the carrier may have been given for this request, in full, with their query. */
  readonly urls: readonly string[];
  /** Of the form; undefined where the carrier signs the address alone. */
  readonly fields: Fields | undefined;
}

/** Whether a header has the form of signatures at all. */
export function isSignatures(header: string): boolean {
  const all = signaturesOf(header);
  return all.length > 0 && all.length <= MOST_SIGNATURES && all.every((one) => /^[\w+/]{43}=$/u.test(one));
}

/**
 * Whether any of our auth tokens made any of the signatures of a POST (`X-Plivo-Signature-V3`). What is signed is the address, the fields of the
 * form and a nonce: `plivo-go/utils.go` and `plivo-node/lib/utils/v3Security.js` agree on it for everything that the carrier sends.
 */
export function isSigned(tokens: readonly Secret[], { signatures, nonce, urls, fields }: SignedRequest): boolean {
  if (nonce === undefined || !NONCE.test(nonce)) return false;
  const given = signatures.flatMap((header) => (header === undefined || !isSignatures(header) ? [] : signaturesOf(header)));
  const wanted = [...new Set(urls)].map((url) => signedText(url, fields, nonce));
  const matches = tokens.flatMap((token) =>
    wanted.flatMap((text) => {
      const right = createHmac('sha256', token.reveal()).update(text).digest();
      return given.map((one) => timingSafeEqual(right, Buffer.from(one, 'base64')));
    }),
  );
  return matches.includes(true);
}

/** The text that is signed. Exported for who plays the carrier's part with other code than its own. */
function signedText(url: string, fields: Fields | undefined, nonce: string): string {
  const mark = url.indexOf('?');
  const address = mark === -1 ? url : url.slice(0, mark);
  if (fields === undefined) return `${address}.${nonce}`;
  const query = joined(new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1)), '=', '&');
  const form = joined(pairsOf(fields), '', '');
  if (query === '' && form === '') return `${address}.${nonce}`;
  return `${address}?${query}${query !== '' && form !== '' ? '.' : ''}${form}.${nonce}`;
}

function pairsOf(fields: Fields): [string, string][] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const values: unknown[] = Array.isArray(value) ? value : [value];
    return values.flatMap((one): [string, string][] => (typeof one === 'string' ? [[name, one]] : []));
  });
}

/** In the order of the names, and the values of a repeated one in their own. */
function joined(pairs: Iterable<[string, string]>, between: string, behind: string): string {
  const sorted = [...pairs].toSorted(([one, first], [other, second]) => {
    if (one !== other) return one < other ? -1 : 1;
    return first < second ? -1 : 1;
  });
  return sorted.map(([name, value]) => name + between + value).join(behind);
}

function signaturesOf(header: string): string[] {
  return header
    .split(',', MOST_SIGNATURES + 1)
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

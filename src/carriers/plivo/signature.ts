import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../config/secrets.ts';

/** Parsed form fields; a repeated one is a list. Other values are not signed. */
type Fields = Readonly<Record<string, unknown>>;

/** One header may have the signatures of the account and its parent; a longer list is not from a carrier. */
const MOST_SIGNATURES = 8;
const NONCE = /^[\w-]{1,128}$/u;

export interface SignedRequest {
  /** The signature headers as received: HMAC-SHA256 in base64, or several separated by commas. */
  readonly signatures: readonly (string | undefined)[];
  readonly nonce: string | undefined;
  /** Full addresses, with query, under which the carrier may know this request. */
  readonly urls: readonly string[];
  /** Form fields; undefined where only the address is signed. */
  readonly fields: Fields | undefined;
}

/** Whether a header has the form of signatures. */
export function isSignatures(header: string): boolean {
  const all = signaturesOf(header);
  return all.length > 0 && all.length <= MOST_SIGNATURES && all.every((one) => /^[\w+/]{43}=$/u.test(one));
}

/**
 * Whether any of our auth tokens made any of the signatures of a POST (`X-Plivo-Signature-V3`). Signed are the address, the form's fields and a
 * nonce: `plivo-go/utils.go` and `plivo-node/lib/utils/v3Security.js` agree on this for everything the carrier sends.
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

/** The text that is signed. */
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

/** Sorted by name; values of a repeated name keep their order. */
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

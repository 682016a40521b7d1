import { validateRequest, validateRequestWithBody } from 'twilio/lib/webhooks/webhooks.js';
import type { Secret } from '../../config/secrets.ts';

/** Parsed form fields; a repeated one is a list. */
export type FormFields = Readonly<Record<string, string | string[]>>;

export interface SignedWebhook {
  /** `X-Twilio-Signature`, as received. */
  readonly signature: string;
  /** Full addresses, with query, under which the carrier may know this request. */
  readonly urls: readonly string[];
  /** Form fields, or the raw text of any other body (its hash is then in the query as `bodySHA256`). */
  readonly body: { readonly fields: FormFields } | { readonly raw: string };
}

/** Whether a header has the form of a signature: HMAC-SHA1 in base64. */
export function isSignature(header: string): boolean {
  return /^[\w+/]{27}=$/u.test(header);
}

/**
 * Whether any of our auth tokens (several during a rotation) signed this webhook. The library tries the address with and without its port, and with
 * the query re-encoded.
 */
export function isSignedWebhook(tokens: readonly Secret[], webhook: SignedWebhook): boolean {
  const { signature, urls, body } = webhook;
  if ('raw' in body)
    return tokens.some((token) => urls.some((url) => validateRequestWithBody(token.reveal(), signature, url, body.raw)));
  // The library would sort and join the fields for each form of each address: joined here once, under an empty name.
  const fields = { '': joinedFields(body.fields) };
  return tokens.some((token) => urls.some((url) => validateRequest(token.reveal(), signature, url, fields)));
}

/** Signed names and values: sorted by name, repeated values in order, each once. */
function joinedFields(fields: FormFields): string {
  return Object.entries(fields)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) =>
      typeof value === 'string'
        ? name + value
        : [...new Set(value)]
            .sort()
            .map((each) => name + each)
            .join(''),
    )
    .join('');
}

/**
 * Whether a media socket's upgrade was signed. It is a GET without fields, signed with the scheme `wss` (twilio-labs/twilio-aspnet#162); a trailing
 * slash is undocumented, so both forms are tried.
 * @param urls the stream's http or https addresses
 */
export function isSignedUpgrade(tokens: readonly Secret[], signature: string, urls: readonly string[]): boolean {
  const forms = [...new Set(urls.flatMap(upgradeForms))];
  return tokens.some((token) => forms.some((url) => validateRequest(token.reveal(), signature, url, {})));
}

function upgradeForms(url: string): string[] {
  const bare = url.replace(/\/+$/, '');
  const schemes = bare.startsWith('https:') ? ['wss', 'https'] : ['ws', 'wss', 'http'];
  return schemes.flatMap((scheme) => {
    // The library also tries each form without its port, but takes 80 as the standard port of every scheme but https.
    const form = bare.replace(/^https?/, scheme).replace(/^(wss:\/\/(?:\[[^\]]*\]|[^/:]*))(?=\/|$)/, '$1:443');
    return [form, `${form}/`];
  });
}

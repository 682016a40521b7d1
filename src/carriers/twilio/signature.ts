import { validateRequest, validateRequestWithBody } from 'twilio/lib/webhooks/webhooks.js';
import type { Secret } from '../../config/secrets.ts';

/** Form fields as parsed: a repeated one is a list. */
export type FormFields = Readonly<Record<string, string | string[]>>;

export interface SignedWebhook {
  /** `X-Twilio-Signature`, as received. */
  readonly signature: string;
  /** Addresses the carrier may have been given for this request, in full, with their query. */
  readonly urls: readonly string[];
  /** Form fields, or the raw text of a body of any other kind (its hash is then in the query as `bodySHA256`). */
  readonly body: { readonly fields: FormFields } | { readonly raw: string };
}

/** Whether a header has the form of a signature at all: HMAC-SHA1 in base64. */
export function isSignature(header: string): boolean {
  return /^[\w+/]{27}=$/u.test(header);
}

/**
 * Whether any of our auth tokens signed this webhook; several are in force during a rotation. The library tries the
 * address with and without its port, and with the query encoded again.
 */
export function isSignedWebhook(tokens: readonly Secret[], webhook: SignedWebhook): boolean {
  const { signature, urls, body } = webhook;
  if ('raw' in body)
    return tokens.some((token) => urls.some((url) => validateRequestWithBody(token.reveal(), signature, url, body.raw)));
  // The library would sort and join the fields again for each form of each address: joined here, they are one without a name.
  const fields = { '': joinedFields(body.fields) };
  return tokens.some((token) => urls.some((url) => validateRequest(token.reveal(), signature, url, fields)));
}

/** Names and values as they are signed: in the order of the names, the values of a repeated one in their own, each once. */
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
 * Whether the upgrade of a media socket was signed. It is a GET without fields, and what is signed has the scheme
 * `wss` (twilio-labs/twilio-aspnet#162); nothing official says whether a trailing slash is added, so both are tried.
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
    // The library also tries each form without its port, but takes 80 for the standard port of every scheme but https.
    const form = bare.replace(/^https?/, scheme).replace(/^(wss:\/\/(?:\[[^\]]*\]|[^/:]*))(?=\/|$)/, '$1:443');
    return [form, `${form}/`];
  });
}

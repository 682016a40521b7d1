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

/**
 * Whether any of our auth tokens signed this webhook; several are in force during a rotation. The library tries the
 * address with and without its port, and with the query encoded again.
 */
export function isSignedWebhook(tokens: readonly Secret[], webhook: SignedWebhook): boolean {
  const { signature, body } = webhook;
  return tokens.some((token) =>
    webhook.urls.some((url) =>
      'fields' in body
        ? validateRequest(token.reveal(), signature, url, { ...body.fields })
        : validateRequestWithBody(token.reveal(), signature, url, body.raw),
    ),
  );
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

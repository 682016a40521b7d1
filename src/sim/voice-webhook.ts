import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';

export interface VoiceWebhook {
  readonly callSid: string;
  readonly accountSid: string;
  readonly from: string;
  readonly to: string;
}

/**
 * What Twilio sends of an inbound call to a webhook, signed.
 * @param more of the kind of webhook: the call's status, keys that were gathered
 */
export function signedWebhook(
  address: string,
  authToken: string,
  { callSid, accountSid, from, to }: VoiceWebhook,
  more: Readonly<Record<string, string>>,
  header?: string,
): { readonly method: 'POST'; readonly headers: Record<string, string>; readonly body: URLSearchParams } {
  const fields = {
    CallSid: callSid,
    AccountSid: accountSid,
    From: from,
    To: to,
    Direction: 'inbound',
    ApiVersion: '2010-04-01',
    ...more,
  };
  return signedForm(address, authToken, fields, header);
}

/** Any form, as Twilio posts and signs it. @param header that has the signature, at a carrier that signs as Twilio does */
export function signedForm(
  address: string,
  authToken: string,
  fields: Readonly<Record<string, string>>,
  header = 'x-twilio-signature',
): { readonly method: 'POST'; readonly headers: Record<string, string>; readonly body: URLSearchParams } {
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      [header]: getExpectedTwilioSignature(authToken, address, fields),
    },
    body: new URLSearchParams(fields),
  };
}

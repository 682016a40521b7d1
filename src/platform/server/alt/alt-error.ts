import { detailText, type Refusal } from '../refusal.ts';

const codes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  404: 'not_found',
  405: 'not_found',
  429: 'rate_limited',
};

/** How Variant B says no (ASR doc, errors: success false and an error object of code and message). */
export function altErrorBody(refusal: Refusal): unknown {
  const code = codes[refusal.status] ?? (refusal.status >= 500 ? 'internal_error' : 'invalid_request');
  return { success: false, error: { code, message: detailText(refusal.detail) } };
}

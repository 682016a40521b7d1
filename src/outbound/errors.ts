import { OffhookError } from '../kernel/errors.ts';

/** A call cannot be requested as it was: no carrier, bot or profile of that name can place it. Nothing was written. */
export class DialRequestError extends OffhookError {
  readonly code = 'OFFHOOK_DIAL_REQUEST';
  readonly retryable = false;
}

import { type ErrorDetails, OffhookError } from '../kernel/errors.ts';

/** The carrier refused a request about a call, or could not be reached. */
export class CarrierControlError extends OffhookError {
  readonly code = 'OFFHOOK_CARRIER_CONTROL';
  readonly retryable: boolean;
  /** The carrier certainly did nothing: it refused, or the request never reached it. */
  readonly surelyNotDone: boolean;

  constructor(message: string, details: ErrorDetails & { readonly retryable: boolean; readonly surelyNotDone?: boolean }) {
    super(message, details);
    this.retryable = details.retryable;
    this.surelyNotDone = details.surelyNotDone ?? false;
  }
}

/** A dial order got no answer, so the call may exist: look it up, and never order it again. */
export class DialUnknownError extends OffhookError {
  readonly code = 'OFFHOOK_DIAL_UNKNOWN';
  readonly retryable = false;
}

import { type ErrorDetails, OffhookError } from '../kernel/errors.ts';

/** The carrier refused or could not be reached when it was asked to act on a call. */
export class CarrierControlError extends OffhookError {
  readonly code = 'OFFHOOK_CARRIER_CONTROL';
  readonly retryable: boolean;
  /** The carrier surely did nothing: it refused, or the request never reached it. */
  readonly surelyNotDone: boolean;

  constructor(message: string, details: ErrorDetails & { readonly retryable: boolean; readonly surelyNotDone?: boolean }) {
    super(message, details);
    this.retryable = details.retryable;
    this.surelyNotDone = details.surelyNotDone ?? false;
  }
}

/** The carrier was asked for a call, and nobody knows whether it took the order: it has to be looked up, and not asked for again. */
export class DialUnknownError extends OffhookError {
  readonly code = 'OFFHOOK_DIAL_UNKNOWN';
  readonly retryable = false;
}

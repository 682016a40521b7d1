import { OffhookError } from '../../kernel/errors.ts';

/** A bot's server could not be reached, refused, or broke off. The message never holds what the bot or the caller said. */
export class DialogServerError extends OffhookError {
  readonly code = 'OFFHOOK_DIALOG_SERVER';
  readonly retryable: boolean;

  constructor(message: string, options: { readonly retryable: boolean; readonly cause?: unknown }) {
    super(message, options);
    this.retryable = options.retryable;
  }
}

/** A bot's server did not answer in time. */
export class DialogTimeoutError extends OffhookError {
  readonly code = 'OFFHOOK_DIALOG_TIMEOUT';
  readonly retryable = true;
}

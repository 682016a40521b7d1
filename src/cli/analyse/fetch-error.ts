import { OffhookError } from '../../kernel/errors.ts';

/** A recording could not be fetched from where it is. */
export class FetchError extends OffhookError {
  readonly code = 'OFFHOOK_RECORDING_FETCH';
  readonly retryable: boolean;

  constructor(message: string, retryable: boolean, cause?: unknown) {
    super(message, { cause });
    this.retryable = retryable;
  }
}

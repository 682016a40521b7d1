import { OffhookError } from '../../kernel/errors.ts';

/** Redis, which holds what the machines of a gateway share, does not answer, and there is nothing to go on with instead. */
export class SharedStateUnavailableError extends OffhookError {
  readonly code = 'OFFHOOK_SHARED_STATE_UNAVAILABLE';
  readonly retryable = true;
}

/** A secret of all machines is sealed, and this machine cannot open it: its master key is missing or another one. */
export class SharedSecretError extends OffhookError {
  readonly code = 'OFFHOOK_SHARED_SECRET';
  readonly retryable = false;
}

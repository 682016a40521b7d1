import { OffhookError } from '../kernel/errors.ts';

/** `REDIS_URL` is not an address of one of the forms that are known. */
export class RedisAddressError extends OffhookError {
  readonly code = 'OFFHOOK_REDIS_ADDRESS';
  readonly retryable = false;
}

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

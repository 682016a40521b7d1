import { OffhookError } from '../kernel/errors.ts';

/** Another process owns the embedded store and cannot be reached through its socket. Wait for it, or stop it. */
export class StoreBusyError extends OffhookError {
  readonly code = 'OFFHOOK_STORE_BUSY';
  readonly retryable = true;
}

/** The store could not be created, opened or migrated, or it stopped working. The cause says why. */
export class StoreUnavailableError extends OffhookError {
  readonly code = 'OFFHOOK_STORE_UNAVAILABLE';
  readonly retryable = true;
}

/** A record does not have the shape the store keeps: nothing was written. The same record will never be accepted. */
export class StoreRecordError extends OffhookError {
  readonly code = 'OFFHOOK_STORE_RECORD';
  readonly retryable = false;
}

/** Something sealed cannot be opened: the master key is missing, malformed or another one. Nothing of it is lost by that. */
export class StoreKeyError extends OffhookError {
  readonly code = 'OFFHOOK_STORE_KEY';
  readonly retryable = false;
}

/** The place of recordings did not take, give or remove an object; `status` is the server's, where one answered. */
export class ObjectStoreError extends OffhookError {
  readonly code = 'OFFHOOK_OBJECT_STORE';
  readonly retryable = true;
}

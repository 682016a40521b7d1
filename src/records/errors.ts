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

/**
 * The master key is lost, or another one than the store was sealed under. Nothing is lost while the key can be given back, so that
 * whatever needs it waits.
 */
export class MasterKeyError extends OffhookError {
  readonly code = 'OFFHOOK_MASTER_KEY';
  readonly retryable = true;
}

/** A master key is malformed, or something sealed cannot be opened: it was damaged, or is not what it is taken for. */
export class StoreKeyError extends OffhookError {
  readonly code = 'OFFHOOK_STORE_KEY';
  readonly retryable = false;
}

/** The place of recordings did not take, give or remove an object; `status` is the server's, where one answered. */
export class ObjectStoreError extends OffhookError {
  readonly code = 'OFFHOOK_OBJECT_STORE';
  readonly retryable = true;
}

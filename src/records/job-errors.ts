import { OffhookError } from '../kernel/errors.ts';

/** The job queue could not do this now; nothing was lost that an outbox entry does not still hold. */
export class QueueUnavailableError extends OffhookError {
  readonly code = 'OFFHOOK_QUEUE_UNAVAILABLE';
  readonly retryable = true;
}

/** A call of a campaign found no place or recognition slot in this process: it is tried again, by any process. */
export class DialNoRoomError extends OffhookError {
  readonly code = 'OFFHOOK_DIAL_NO_ROOM';
  readonly retryable = true;
}

/** A call-back that was promised cannot be placed now: it is tried again. */
export class CallBackLaterError extends OffhookError {
  readonly code = 'OFFHOOK_CALL_BACK_LATER';
  readonly retryable = true;
}

/** The outbox holds as much as it may, in entries or in bytes. Nothing was written. */
export class OutboxFullError extends OffhookError {
  readonly code = 'OFFHOOK_OUTBOX_FULL';
  readonly retryable = true;
}

/** The disk under the outbox refused a write; `errno` says how (`ENOSPC` when it is full). Nothing was written. */
export class OutboxWriteError extends OffhookError {
  readonly code = 'OFFHOOK_OUTBOX_WRITE';
  readonly retryable = true;
}

/** A job names a call, or a recording, that is not there. */
export class JobSubjectError extends OffhookError {
  readonly code = 'OFFHOOK_JOB_SUBJECT';
  readonly retryable: boolean;

  /** @param retryable whether it may still appear */
  constructor(message: string, retryable: boolean, facts: OffhookError['facts'], cause?: unknown) {
    super(message, { facts, cause });
    this.retryable = retryable;
  }
}

/** A webhook endpoint did not take a delivery. */
export class WebhookFailedError extends OffhookError {
  readonly code = 'OFFHOOK_WEBHOOK_FAILED';
  readonly retryable: boolean;

  /** @param retryable false when the endpoint wants no more of them */
  constructor(message: string, retryable: boolean, facts: OffhookError['facts']) {
    super(message, { facts });
    this.retryable = retryable;
  }
}

/** A webhook endpoint's address is inside our own network, and its settings do not allow that. Nothing was sent. */
export class WebhookRefusedError extends OffhookError {
  readonly code = 'OFFHOOK_WEBHOOK_REFUSED';
  readonly retryable = false;
}

import { OffhookError } from '../kernel/errors.ts';
import { type Problem, problemText } from '../config/problem.ts';

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

/** An analysis profile that cannot be used. `problems` has all of them, each with its line. */
export class AnalysisProfileError extends OffhookError {
  readonly code = 'OFFHOOK_ANALYSIS_PROFILE';
  readonly retryable = false;
  readonly problems: readonly Problem[];

  constructor(source: string, problems: readonly Problem[]) {
    super(`${source} is no usable analysis profile:\n${problems.map((problem) => `  ${problemText(problem)}`).join('\n')}`, {
      facts: { source, problems: problems.length },
    });
    this.problems = problems;
  }
}

/** What is wrong with a recording, for tables and for telling kinds apart. */
export type RecordingFault = 'missing' | 'empty' | 'not-audio' | 'truncated' | 'no-speech' | 'too-large' | 'too-long';

/** A recording that can never be analysed. No part of it was sent anywhere. */
export class RecordingRefusedError extends OffhookError {
  readonly code = 'OFFHOOK_RECORDING_REFUSED';
  readonly retryable = false;
  readonly fault: RecordingFault;

  constructor(fault: RecordingFault, message: string, cause?: unknown) {
    super(message, { facts: { fault }, cause });
    this.fault = fault;
  }
}

/** The model that fills fields could not be reached, refused, or gave nothing of use. */
export class AnalysisModelError extends OffhookError {
  readonly code = 'OFFHOOK_ANALYSIS_MODEL';
  readonly retryable: boolean;

  constructor(message: string, retryable: boolean, cause?: unknown) {
    super(message, { cause });
    this.retryable = retryable;
  }
}

/** A recording could not be fetched from where it is. */
export class RecordingFetchError extends OffhookError {
  readonly code = 'OFFHOOK_RECORDING_FETCH';
  readonly retryable: boolean;

  constructor(message: string, retryable: boolean, cause?: unknown) {
    super(message, { cause });
    this.retryable = retryable;
  }
}

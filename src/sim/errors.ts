import { OffhookError } from '../kernel/errors.ts';

/** What became of the voice webhook when it did not open a stream. */
export class CallRefused extends OffhookError {
  readonly code = 'OFFHOOK_SIM_CALL_REFUSED';
  readonly retryable = false;
  /** What the caller heard in the carrier's own voice. */
  readonly said: readonly string[];

  constructor(message: string, said: readonly string[], cause?: unknown) {
    super(message, { cause });
    this.said = said;
  }
}

/** The bot did not do what the caller waited for. */
export class CallerTimeout extends OffhookError {
  readonly code = 'OFFHOOK_SIM_CALLER_TIMEOUT';
  readonly retryable = false;

  constructor(waitedFor: string, step: string, afterMs: number) {
    super(`the caller waited ${afterMs} ms for ${waitedFor}, before: ${step}`, { facts: { waitedFor, afterMs } });
  }
}

/** The simulated caller cannot speak: a package that is not installed, or an engine that failed. */
export class CallerVoiceError extends OffhookError {
  readonly code = 'OFFHOOK_SIM_VOICE';
  readonly retryable = false;
}

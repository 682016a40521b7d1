import { type Problem, problemText } from '../../config/problem.ts';
import { OffhookError } from '../../kernel/errors.ts';

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

import { type Problem, problemText } from '../config/problem.ts';
import { OffhookError } from '../kernel/errors.ts';

/** A dialling profile cannot be used; `problems` names every mistake with its line. */
export class DiallingProfileError extends OffhookError {
  readonly code = 'OFFHOOK_DIALLING_PROFILE';
  readonly retryable = false;
  readonly problems: readonly Problem[];

  constructor(source: string, problems: readonly Problem[]) {
    super(`${source} is not a usable dialling profile:\n${problems.map((problem) => `  ${problemText(problem)}`).join('\n')}`, {
      facts: { source, problems: problems.length },
    });
    this.problems = problems;
  }
}

/** A file of contacts cannot be imported as a whole: it is not CSV, names no column of numbers, or is over a limit. */
export class ContactsFileError extends OffhookError {
  readonly code = 'OFFHOOK_CONTACTS_FILE';
  readonly retryable = false;
}

import { OffhookError } from '../../../kernel/errors.ts';

/** An invalid field, as documented for status 422 (ASR doc, errors). */
export interface FieldProblem {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

export interface RefusalExtras {
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

const statusesWorthRetrying = new Set([429, 500, 502, 503, 504]);

/** An error answer: the status, and the `detail` for the client. */
export class Refusal extends OffhookError {
  readonly code = 'OFFHOOK_PLATFORM_REFUSAL';
  readonly retryable: boolean;
  readonly status: number;
  readonly detail: string | readonly FieldProblem[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, detail: string | readonly FieldProblem[], extras: RefusalExtras = {}) {
    super(detailText(detail), { cause: extras.cause, facts: { status } });
    this.status = status;
    this.detail = detail;
    this.headers = extras.headers ?? {};
    this.retryable = statusesWorthRetrying.has(status);
  }
}

/** With `compat`: the documented `detail`, and the error object of OpenAI clients. */
export function compatErrorBody(refusal: Refusal): unknown {
  const { detail, status } = refusal;
  const type = status >= 500 ? 'server_error' : 'invalid_request_error';
  return { detail, error: { message: detailText(detail), type, param: null, code: null } };
}

/** The detail as one line; fields without their leading `body`. */
export function detailText(detail: string | readonly FieldProblem[]): string {
  if (typeof detail === 'string') return detail;
  return detail.map((problem) => `${problem.loc.slice(problem.loc[0] === 'body' ? 1 : 0).join('.')}: ${problem.msg}`).join('; ');
}

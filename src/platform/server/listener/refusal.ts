import { OffhookError } from '../../../kernel/errors.ts';

/** One wrong field, as the documents show it for status 422 (ASR doc, errors). */
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

/** A request that is answered with an error: the status, and the `detail` of its body. The detail is shown to clients. */
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

/** With `compat`: the documents' `detail`, and beside it what clients of OpenAI's shape show to their users. */
export function compatErrorBody(refusal: Refusal): unknown {
  const { detail, status } = refusal;
  const type = status >= 500 ? 'server_error' : 'invalid_request_error';
  return { detail, error: { message: detailText(detail), type, param: null, code: null } };
}

/** The detail as one line; fields stand without the `body` before them. */
export function detailText(detail: string | readonly FieldProblem[]): string {
  if (typeof detail === 'string') return detail;
  return detail.map((problem) => `${problem.loc.slice(problem.loc[0] === 'body' ? 1 : 0).join('.')}: ${problem.msg}`).join('; ');
}

import { OffhookError } from '../../../kernel/errors.ts';
import type { z } from 'zod';

/** An invalid field, as documented for status 422 (ASR doc, errors). */
export interface FieldProblem {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

interface RefusalExtras {
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

const flags: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Reads a flag that is sent as text, case ignored. @returns undefined for any other text */
export function readFlag(text: string): boolean | undefined {
  return flags.get(text.trim().toLowerCase());
}

/** The error text for a flag. */
export const flagRule = 'must be true or false';

/** The first problem of a message as text for the client. @param whole the text when the message is no object at all */
export function firstProblem(error: z.ZodError, whole: string): string {
  const [issue] = error.issues;
  const field = issue?.path.join('.') ?? '';
  return field === '' ? whole : `${field}: ${issue?.message ?? 'malformed'}`;
}

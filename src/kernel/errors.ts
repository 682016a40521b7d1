/** Typed facts of an error: safe to log and to show, never a secret, a token or a caller's words. */
export type ErrorFacts = Readonly<Record<string, string | number | boolean | undefined>>;

export interface ErrorDetails {
  readonly cause?: unknown;
  readonly facts?: ErrorFacts;
}

/**
 * Base of every error that callers are meant to handle. Subclasses fix `code` (stable, listed in docs/errors.md) and
 * `retryable` (the same request may succeed later, unchanged). Messages are free to change.
 */
export abstract class OffhookError extends Error {
  abstract readonly code: `OFFHOOK_${string}`;
  abstract readonly retryable: boolean;
  readonly facts: ErrorFacts;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.facts = details.facts ?? {};
  }
}

/** The text of anything thrown, for logs and messages. */
export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Deeper chains of causes are cut. */
const MOST_CAUSES = 10;

/** The last cause of an error, or the error itself; the first error of an AggregateError. */
export function rootCause(thrown: unknown): unknown {
  let inner = thrown;
  for (let depth = 0; depth < MOST_CAUSES; depth += 1) {
    const cause: unknown = inner instanceof AggregateError ? inner.errors[0] : inner instanceof Error ? inner.cause : undefined;
    if (cause === undefined) break;
    inner = cause;
  }
  return inner;
}

/** The text of anything thrown and of its root cause, for a terminal; credentials in addresses are removed. */
export function errorTextWithCause(thrown: unknown): string {
  const text = errorText(thrown);
  const cause = errorText(rootCause(thrown));
  const whole = text.includes(cause) ? text : `${text}: ${cause}`;
  return whole.replaceAll(/:\/\/\S*@/gu, '://…@');
}

/** Whether an error has one of these system codes, such as `ENOENT`. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code);
}

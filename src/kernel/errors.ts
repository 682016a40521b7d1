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

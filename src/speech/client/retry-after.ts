import { backoffDelayMs, type BackoffPolicy } from '../../kernel/backoff.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { SpeechError } from './errors.ts';

/** Reads a Retry-After header, seconds or a date, as a wait in ms, never below 0; undefined for a missing or unreadable one. */
export function retryAfterMs(header: string | null, wallMs: number): number | undefined {
  if (header === null) return undefined;
  const seconds = Number(header);
  const waitMs = Number.isFinite(seconds) && header.trim() !== '' ? seconds * 1000 : Date.parse(header) - wallMs;
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs);
}

/** A refused or unanswered request, and the wait that the server asked for. */
export interface Refusal {
  readonly error: SpeechError;
  /** As `retryAfterMs` reads it. */
  readonly waitMs: number | undefined;
}

/**
 * The wait before retry number `attempt` (0 is the first): the longer of the back-off and the server's Retry-After.
 * @param untilMs no retry begins later than this
 * @throws the error when the wait is too long, with a note of the server's wish
 */
export function repeatDelayMs(
  { error, waitMs: askedMs = 0 }: Refusal,
  {
    clock,
    policy,
    attempt,
    random,
    untilMs,
  }: { clock: Clock; policy: BackoffPolicy; attempt: number; random: number; untilMs: number },
): number {
  const waitMs = Math.max(askedMs, backoffDelayMs(policy, attempt, random));
  const nowMs = clock.nowMs();
  if (nowMs + waitMs <= untilMs) return waitMs;
  if (askedMs > untilMs - nowMs) error.addNote(waitAsked(askedMs, clock.wallMs()));
  throw error;
}

/** The latest time of a Date; later ones are cut to it. */
const MOST_EPOCH_MS = 8_640_000_000_000_000;

function waitAsked(askedMs: number, wallMs: number): string {
  const until = new Date(Math.min(MOST_EPOCH_MS, wallMs + askedMs)).toISOString();
  return `the platform asks to wait ${Math.round(askedMs / 1000)} s, until ${until}, which is too long to wait here`;
}

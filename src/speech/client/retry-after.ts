import { backoffDelayMs, type BackoffPolicy } from '../../kernel/backoff.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { SpeechError } from './errors.ts';

/**
 * Reads a Retry-After header, seconds or a date, as a wait in ms, never below 0; undefined when there is none that can be read.
 */
export function retryAfterMs(header: string | null, wallMs: number): number | undefined {
  if (header === null) return undefined;
  const seconds = Number(header);
  const waitMs = Number.isFinite(seconds) && header.trim() !== '' ? seconds * 1000 : Date.parse(header) - wallMs;
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs);
}

/** A request that was refused or got no answer, and what the server asked of whoever repeats it. */
export interface Refusal {
  readonly error: SpeechError;
  /** As `retryAfterMs` reads it. */
  readonly waitMs: number | undefined;
}

/**
 * How long to wait before the repeat number `attempt` (0 is the first): as the back-off says, or as long as the server asks,
 * whichever is longer, so that `Retry-After: 0` does not loop hot.
 * @param untilMs no repeat begins later than this
 * @throws the error when that is too late; it says until when the server wants to be left alone
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

/** Times past what a Date holds are the end of time. */
const MOST_EPOCH_MS = 8_640_000_000_000_000;

function waitAsked(askedMs: number, wallMs: number): string {
  const until = new Date(Math.min(MOST_EPOCH_MS, wallMs + askedMs)).toISOString();
  return `the platform asks to wait ${Math.round(askedMs / 1000)} s, until ${until}, which is too long to wait here`;
}

import type { RecognitionEvent } from '../port.ts';

/** Allowed lateness of an empty answer beyond the recogniser's own limit. */
const NOTHING_MARGIN_MS = 250;
/** A session answers a commit that was answered in its place within this time, or not at all. */
const OWED_MS = 3_000;

/** How long the session that hears the call has been waited for, and what it has heard since its last final. */
export class FinalWait {
  /** Since when the final of a commit is waited for. */
  sinceMs = 0;
  /** When the latest interim text with new words came: a session that hears new words is not late. */
  #talkedMs = 0;
  #partial = '';
  /** Until when it may say nothing to the commits that another session has answered with nothing. */
  #owedUntilMs: number[] = [];

  /** Words have been heard since the last final. */
  get isHeard(): boolean {
    return this.#partial !== '';
  }

  /**
   * When a commit is late.
   * @param lateMs what is late for an answer with words
   * @param nothingMs how long the recogniser takes to say that there was nothing
   */
  dueMs(lateMs: number, nothingMs: number | undefined): number {
    const mostMs = this.isHeard || nothingMs === undefined ? lateMs : Math.max(lateMs, nothingMs + NOTHING_MARGIN_MS);
    return Math.max(this.sinceMs, this.#talkedMs) + mostMs;
  }

  /** An interim text came. @returns whether it has new words */
  partial(text: string, nowMs: number): boolean {
    if (text.trim() === '' || text === this.#partial) return false;
    this.#partial = text;
    this.#talkedMs = nowMs;
    return true;
  }

  /** A final came. */
  final(): void {
    this.#partial = '';
  }

  /** Another session has answered a commit in its place: there was nothing. */
  answeredForIt(nowMs: number): void {
    this.#owedUntilMs.push(nowMs + OWED_MS);
  }

  /** Whether a final says nothing to a commit that another session has answered so already. */
  isSaid({ text, endOfUtterance }: RecognitionEvent & { type: 'final' }, nowMs: number): boolean {
    if (text.trim() !== '') this.#owedUntilMs = [];
    if (endOfUtterance === false) return false;
    this.#owedUntilMs = this.#owedUntilMs.filter((untilMs) => untilMs > nowMs);
    return this.#owedUntilMs.shift() !== undefined;
  }

  /** Another session hears the call from now on. */
  restart(nowMs: number): void {
    this.sinceMs = nowMs;
    this.#owedUntilMs = [];
  }
}

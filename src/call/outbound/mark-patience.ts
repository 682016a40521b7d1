/** A mark that has not come back this long after its audio must have ended is lost. */
const LOST_MS = 1_500;
/** The same with a carrier that lost one before: some lose or delay all marks behind a clear (jambonz), and every sentence would end late. */
const LOST_AGAIN_MS = 300;

/** How long marks are waited for, before the playout clock counts in place of them. */
export class MarkPatience {
  readonly #marks: 'native' | 'none';
  /** One was lost, and none has come back in time since. */
  #hasLost = false;

  constructor(marks: 'native' | 'none') {
    this.#marks = marks;
  }

  /** Whether the mark that is due at this time, the oldest of those that are waited for, is given up. */
  isLost(dueMs: number, nowMs: number): boolean {
    const graceMs = this.#marks === 'none' ? 0 : this.#hasLost ? LOST_AGAIN_MS : LOST_MS;
    if (nowMs < dueMs + graceMs) return false;
    this.#hasLost = true;
    return true;
  }

  /** A mark that was due at this time came back, … */
  returned(dueMs: number, nowMs: number): void {
    if (nowMs < dueMs + LOST_AGAIN_MS) this.#hasLost = false;
  }

  /** … or is not waited for any longer, as everything was cleared. @param dueMs of the oldest one; undefined where there is none */
  cleared(dueMs: number | undefined, nowMs: number): void {
    if (dueMs !== undefined && nowMs >= dueMs + LOST_AGAIN_MS) this.#hasLost = true;
  }
}

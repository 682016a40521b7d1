/** A mark that has not come back this long after its audio must have ended is lost. */
const LOST_MS = 1_500;
/** The same with a carrier that lost the mark before it: some lose all marks behind a clear (jambonz), and every sentence would end late. */
const LOST_AGAIN_MS = 300;

interface DueMark {
  readonly name: string;
  readonly dueMs: number;
}

/** How long marks are waited for, before the playout clock counts in place of them. */
export class MarkPatience {
  readonly #marks: 'native' | 'none';
  /** The last mark that was given up, while none has come back since. */
  #lost: DueMark | undefined;

  constructor(marks: 'native' | 'none') {
    this.#marks = marks;
  }

  /** Whether this mark, the oldest of those that are waited for, is given up. */
  isLost({ name, dueMs }: DueMark, nowMs: number): boolean {
    const graceMs = this.#marks === 'none' ? 0 : this.#lost === undefined ? LOST_MS : LOST_AGAIN_MS;
    if (nowMs < dueMs + graceMs) return false;
    this.#lost = { name, dueMs };
    return true;
  }

  /** A mark came back. @param isKnown it was still waited for; else it was given up, perhaps too soon, or is of before a clear */
  returned(name: string, isKnown: boolean, nowMs: number): void {
    const wasLate = name === this.#lost?.name && nowMs - this.#lost.dueMs < LOST_MS;
    if (isKnown || wasLate) this.#lost = undefined;
  }
}

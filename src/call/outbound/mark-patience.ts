/** A mark this long after the end of its audio counts as lost. */
const LOST_MS = 1_500;
/** The same for a carrier that lost one before: some lose or delay all marks after a clear (jambonz), and every sentence would end late. */
const LOST_AGAIN_MS = 300;
/** A lost mark weighs as much as two timely ones, so that a carrier which returns every second one is given up. */
const LOST_WEIGHT = 2;
/** Weight from which marks are not waited for: three losses in a row. */
const GIVEN_UP_WEIGHT = 6;
/** Cap of the weight, so that a few timely marks restore trust. */
const MOST_WEIGHT = 8;
/** Weight of a returned mark with an unknown name: two of them, and no known one, show that the carrier renames marks. */
const FOREIGN_WEIGHT = 3;

/** Decides how long marks are waited for before the playout clock replaces them. */
export class MarkPatience {
  readonly #marks: 'native' | 'none';
  /** Weight of recent losses. */
  #weight = 0;
  #hasReturned = false;

  constructor(marks: 'native' | 'none') {
    this.#marks = marks;
  }

  /** Whether too few marks come back, so that the clock counts instead. Timely marks end that. */
  get hasGivenUp(): boolean {
    return this.#weight >= GIVEN_UP_WEIGHT;
  }

  /**
   * Whether the oldest awaited mark is given up.
   * @param usualMs how late marks usually come back; 0 where none have
   */
  isLost(dueMs: number, nowMs: number, usualMs = 0): boolean {
    if (nowMs < dueMs + this.#graceMs(usualMs)) return false;
    this.#lose(LOST_WEIGHT);
    return true;
  }

  /** A mark came back. */
  returned(dueMs: number, nowMs: number): void {
    this.#hasReturned = true;
    if (nowMs < dueMs + LOST_AGAIN_MS) this.#weight = Math.max(0, this.#weight - 1);
  }

  /** A clear ends the wait for all marks. @param dueMs of the oldest one; undefined where there is none */
  cleared(dueMs: number | undefined, nowMs: number): void {
    if (dueMs !== undefined && nowMs >= dueMs + LOST_AGAIN_MS) this.#lose(LOST_WEIGHT);
  }

  /** Marks were skipped: later ones came back. */
  skipped(count: number): void {
    this.#lose(count * LOST_WEIGHT);
  }

  /** The carrier returned a mark with an unknown name. */
  foreign(): void {
    if (!this.#hasReturned) this.#lose(FOREIGN_WEIGHT);
  }

  #graceMs(usualMs: number): number {
    if (this.#marks === 'none') return 0;
    // Marks later than this arrive too late to be useful.
    if (this.hasGivenUp) return usualMs > LOST_MS ? 0 : Math.min(LOST_AGAIN_MS, usualMs);
    return this.#weight > 0 ? LOST_AGAIN_MS : LOST_MS;
  }

  #lose(weight: number): void {
    this.#weight = Math.min(MOST_WEIGHT, this.#weight + weight);
  }
}

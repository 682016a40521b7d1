/** A mark that has not come back this long after its audio must have ended is lost. */
const LOST_MS = 1_500;
/** The same with a carrier that lost one before: some lose or delay all marks behind a clear (jambonz), and every sentence would end late. */
const LOST_AGAIN_MS = 300;
/** A lost mark weighs as much as two that came back in time, so that a carrier which returns every second one is not waited for. */
const LOST_WEIGHT = 2;
/** From this weight on, marks are not waited for: three in a row. */
const GIVEN_UP_WEIGHT = 6;
/** So that a carrier which was given up is trusted again after a few marks that come back in time. */
const MOST_WEIGHT = 8;
/** A mark under a name that was never sent: two such, and nothing else, and no name of ours will come back. */
const FOREIGN_WEIGHT = 3;

/** How long marks are waited for, before the playout clock counts in place of them. */
export class MarkPatience {
  readonly #marks: 'native' | 'none';
  /** Of what was lost lately. */
  #weight = 0;
  #hasReturned = false;

  constructor(marks: 'native' | 'none') {
    this.#marks = marks;
  }

  /** Too few marks come back: they are not waited for, and the clock counts. Some in time end that. */
  get hasGivenUp(): boolean {
    return this.#weight >= GIVEN_UP_WEIGHT;
  }

  /**
   * Whether the mark that is due at this time, the oldest of those that are waited for, is given up.
   * @param usualMs how much later than due marks come back, as far as known; 0 where none have
   */
  isLost(dueMs: number, nowMs: number, usualMs = 0): boolean {
    if (nowMs < dueMs + this.#graceMs(usualMs)) return false;
    this.#lose(LOST_WEIGHT);
    return true;
  }

  /** A mark that was due at this time came back, … */
  returned(dueMs: number, nowMs: number): void {
    this.#hasReturned = true;
    if (nowMs < dueMs + LOST_AGAIN_MS) this.#weight = Math.max(0, this.#weight - 1);
  }

  /** … or is not waited for any longer, as everything was cleared. @param dueMs of the oldest one; undefined where there is none */
  cleared(dueMs: number | undefined, nowMs: number): void {
    if (dueMs !== undefined && nowMs >= dueMs + LOST_AGAIN_MS) this.#lose(LOST_WEIGHT);
  }

  /** Marks never came, as later ones did. */
  skipped(count: number): void {
    this.#lose(count * LOST_WEIGHT);
  }

  /** The carrier returned a mark under a name that no mark has. */
  foreign(): void {
    if (!this.#hasReturned) this.#lose(FOREIGN_WEIGHT);
  }

  #graceMs(usualMs: number): number {
    if (this.#marks === 'none') return 0;
    // Later than that they tell nothing in time.
    if (this.hasGivenUp) return usualMs > LOST_MS ? 0 : Math.min(LOST_AGAIN_MS, usualMs);
    return this.#weight > 0 ? LOST_AGAIN_MS : LOST_MS;
  }

  #lose(weight: number): void {
    this.#weight = Math.min(MOST_WEIGHT, this.#weight + weight);
  }
}

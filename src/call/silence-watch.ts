/** How long the bot has not been heard, by the clock of the playout. */
export class SilenceWatch {
  #sinceMs = Number.POSITIVE_INFINITY;

  /** Counts from here. */
  reset(nowMs: number): void {
    this.#sinceMs = nowMs;
  }

  /** @returns ms since the bot was last audible; negative before the first sound */
  tick(nowMs: number, audible: boolean): number {
    if (audible) this.#sinceMs = nowMs;
    return nowMs - this.#sinceMs;
  }
}

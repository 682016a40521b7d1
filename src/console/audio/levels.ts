/** Level of silence on a scale; quieter is not shown. */
const LEAST_DB = -60;
/** How fast a meter falls, in parts of its scale a second. */
const FALL_PER_S = 1.6;

/** The level of one direction, as a meter shows it: rises at once, and falls slowly. Read once a picture; nothing is drawn anew for it. */
export class Level {
  #value = 0;
  #atMs = 0;
  #soundedAtMs = Number.NEGATIVE_INFINITY;

  /** @param rms 0 to 1 */
  heard(rms: number, nowMs = performance.now()): void {
    const value = rms <= 0 ? 0 : Math.max(0, Math.min(1, 1 - (20 * Math.log10(rms)) / LEAST_DB));
    if (value > SOUNDS_FROM) this.#soundedAtMs = nowMs;
    this.#value = Math.max(value, this.at(nowMs));
    this.#atMs = nowMs;
  }

  /** 0 to 1 */
  at(nowMs = performance.now()): number {
    return Math.max(0, this.#value - ((nowMs - this.#atMs) / 1000) * FALL_PER_S);
  }

  /** Whether there was a sound just now. */
  sounds(nowMs = performance.now()): boolean {
    return nowMs - this.#soundedAtMs < SOUNDS_FOR_MS;
  }
}

/** About -50 dBFS: line noise is below. */
const SOUNDS_FROM = 1 / 6;
/** Between two words. */
const SOUNDS_FOR_MS = 350;

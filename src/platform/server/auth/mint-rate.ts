const windowMs = 60_000;

/** Counts mints for each key over a sliding minute (platform doc, token endpoint, rule 3). Refused ones do not count. */
export class MintRate {
  readonly #perMinute: number;
  /** Times of the mints inside the window, oldest first; at most `perMinute` a key. */
  readonly #times = new Map<string, number[]>();

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /**
   * @param nowMs monotonic
   * @returns 0 when the mint may go ahead and was counted, else whole seconds until one may, at least 1
   */
  waitSeconds(keyId: string, nowMs: number): number {
    const times = (this.#times.get(keyId) ?? []).filter((atMs) => atMs > nowMs - windowMs);
    this.#times.set(keyId, times);
    if (times.length < this.#perMinute) {
      times.push(nowMs);
      return 0;
    }
    const oldest = times[0] ?? nowMs;
    return Math.max(1, Math.ceil((oldest + windowMs - nowMs) / 1000));
  }
}

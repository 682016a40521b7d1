/** Held and repeated audio is sent at most this much faster than real time, except for a first burst. */
const REPLAY_SPEED = 1.5;
const BURST_MS = 320;

/** How fast one socket after another may be sent audio, and when it needs a keep-alive message. */
export class SocketPace {
  readonly #rateHz: number;
  readonly #speed: number;
  #firstSample = 0;
  #beganMs = 0;
  #sentMs = 0;
  #keepAliveEveryMs: number | undefined;
  #keepAliveAtMs: number | undefined;

  /** @param speed times real time; 1.5 when absent */
  constructor(rateHz: number, speed = REPLAY_SPEED) {
    this.#rateHz = rateHz;
    this.#speed = speed;
  }

  /** Position of the socket's first sample in the caller's audio. */
  get firstSample(): number {
    return this.#firstSample;
  }

  /** A socket listens. @param keepAliveEveryMs longest time without a message; undefined where it may be quiet */
  begin(firstSample: number, nowMs: number, keepAliveEveryMs: number | undefined): void {
    this.#firstSample = firstSample;
    this.#beganMs = nowMs;
    this.#sentMs = nowMs;
    this.#keepAliveEveryMs = keepAliveEveryMs;
    this.#keepAliveAtMs = keepAliveEveryMs === undefined ? undefined : nowMs + keepAliveEveryMs;
  }

  sent(nowMs: number): void {
    this.#sentMs = nowMs;
  }

  /** The position up to which audio may be sent now. */
  allowedUntil(nowMs: number): number {
    const allowedMs = this.#speed * (nowMs - this.#beganMs) + BURST_MS;
    return this.#firstSample + Math.floor((allowedMs / 1000) * this.#rateHz);
  }

  /** When `needsKeepAlive` has to be asked; undefined where never. Messages in between do not change it. */
  get keepAliveAtMs(): number | undefined {
    return this.#keepAliveAtMs;
  }

  /** Whether a keep-alive message is due; it then counts as sent. */
  needsKeepAlive(nowMs: number): boolean {
    if (this.#keepAliveEveryMs === undefined || nowMs < (this.#keepAliveAtMs ?? Infinity)) return false;
    const isDue = nowMs >= this.#sentMs + this.#keepAliveEveryMs;
    if (isDue) this.#sentMs = nowMs;
    this.#keepAliveAtMs = this.#sentMs + this.#keepAliveEveryMs;
    return isDue;
  }
}

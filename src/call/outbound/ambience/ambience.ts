/** Ambience is sent when the carrier has less than this, … */
const LEAD_LOW_MS = 40;
/** … in messages of this length, or of the carrier's frame length where longer: the bot's next words wait behind both at most. */
const MESSAGE_MS = 40;

/** Frames (ten seconds) whose least delay is compared. */
const FRAMES_COMPARED = 500;

/** How much slower the carrier's clock runs than ours. */
class LineDrift {
  #frames = 0;
  #leastMs = Number.POSITIVE_INFINITY;
  #beforeMs: number | undefined;

  /** @param delayMs delay of a frame against the carrier's clock @returns ms by which it fell back; 0 where it did not */
  add(delayMs: number): number {
    this.#leastMs = Math.min(this.#leastMs, delayMs);
    this.#frames += 1;
    if (this.#frames < FRAMES_COMPARED) return 0;
    const fellBackMs = Math.max(0, this.#leastMs - (this.#beforeMs ?? this.#leastMs));
    this.#beforeMs = this.#leastMs;
    this.#leastMs = Number.POSITIVE_INFINITY;
    this.#frames = 0;
    return fellBackMs;
  }
}

/**
 * Background sound on one line: mixed under the bot's words, and sent alone in between. It is on the wire only; playout accounting, recording, echo
 * reference and ledger do not include it.
 */
export class Ambience {
  readonly #loop: Int16Array;
  readonly #samplesPerMs: number;
  readonly #messageMs: number;
  readonly #drift = new LineDrift();
  #at = 0;
  #endMs = Number.NEGATIVE_INFINITY;
  /** Backlog at the carrier beyond our estimate, since it plays more slowly. */
  #owedMs = 0;

  /**
   * @param loop at least one sample, repeated endlessly
   * @param rateHz rate of the loop and of speech
   * @param frameMs messages are whole multiples of this length; 0 for any length
   */
  constructor(loop: Int16Array, rateHz: number, frameMs = 0) {
    this.#loop = loop;
    this.#samplesPerMs = rateHz / 1000;
    this.#messageMs = frameMs === 0 ? MESSAGE_MS : Math.ceil(MESSAGE_MS / frameMs) * frameMs;
  }

  /** When the ambience sent so far ends at the carrier; speech sent next is heard after it. */
  get endMs(): number {
    return this.#endMs;
  }

  /** Mixes the ambience under speech. */
  under(speech: Int16Array): Int16Array {
    const pcm = Int16Array.from(speech);
    for (let index = 0; index < pcm.length; index += 1) {
      pcm[index] = Math.max(-32_768, Math.min(32_767, (pcm[index] ?? 0) + this.#next()));
    }
    return pcm;
  }

  /**
   * Ambience to send between replies.
   * @param speechEndMs when the carrier's speech ends
   * @returns nothing while the carrier has enough
   */
  alone(speechEndMs: number, nowMs: number): Int16Array | undefined {
    const endMs = Math.max(nowMs, speechEndMs, this.#endMs);
    if (endMs - nowMs > LEAD_LOW_MS) return undefined;
    this.#endMs = endMs + this.#owedMs;
    if (this.#owedMs > 0) {
      this.#owedMs = 0;
      return undefined;
    }
    this.#endMs = endMs + this.#messageMs;
    const pcm = new Int16Array(this.#messageMs * this.#samplesPerMs);
    for (let index = 0; index < pcm.length; index += 1) pcm[index] = this.#next();
    return pcm;
  }

  /** @param untilMs end of what the carrier still plays after a clear; -Infinity where nothing is left */
  cut(untilMs: number): void {
    this.#endMs = untilMs;
    this.#owedMs = 0;
  }

  /** Caller audio arrived: a continuous stream must follow the carrier's clock, or replies would wait ever longer behind it. */
  arrived(timestampMs: number | undefined, nowMs: number): void {
    if (timestampMs !== undefined) this.#owedMs += this.#drift.add(nowMs - timestampMs);
  }

  #next(): number {
    const sample = this.#loop[this.#at] ?? 0;
    this.#at = this.#at + 1 === this.#loop.length ? 0 : this.#at + 1;
    return sample;
  }
}

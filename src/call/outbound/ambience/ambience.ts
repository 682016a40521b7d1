/** Sent when the carrier has no more than this, … */
const LEAD_LOW_MS = 40;
/** … in messages of this, or of the carrier's frames where those are longer: what the bot says next waits behind both at most. */
const MESSAGE_MS = 40;

/** Frames of which the least delayed counts: ten seconds. */
const FRAMES_COMPARED = 500;

/** How much more slowly than ours the carrier's clock runs. */
class LineDrift {
  #frames = 0;
  #leastMs = Number.POSITIVE_INFINITY;
  #beforeMs: number | undefined;

  /** @param delayMs of a frame, from a moment of the carrier's clock @returns ms by which it fell back; 0 where it did not */
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
 * The room that a bot seems to be in, on one line: mixed under what is said, and sent alone while nothing is. It is on the
 * wire only: neither the playout's account nor the recording, the echo's reference or the ledger knows of it.
 */
export class Ambience {
  readonly #loop: Int16Array;
  readonly #samplesPerMs: number;
  readonly #messageMs: number;
  readonly #drift = new LineDrift();
  #at = 0;
  #endMs = Number.NEGATIVE_INFINITY;
  /** What the carrier has more than we think, since it plays more slowly. */
  #owedMs = 0;

  /**
   * @param loop at least one sample, played round and round
   * @param rateHz of it, and of what is said
   * @param frameMs what is sent is a whole number of frames of this length; 0 for any length
   */
  constructor(loop: Int16Array, rateHz: number, frameMs = 0) {
    this.#loop = loop;
    this.#samplesPerMs = rateHz / 1000;
    this.#messageMs = frameMs === 0 ? MESSAGE_MS : Math.ceil(MESSAGE_MS / frameMs) * frameMs;
  }

  /** Until when the carrier has ambience to play; what is said is heard after it. */
  get endMs(): number {
    return this.#endMs;
  }

  /** The same audio with the room under it. */
  under(speech: Int16Array): Int16Array {
    const pcm = Int16Array.from(speech);
    for (let index = 0; index < pcm.length; index += 1) {
      pcm[index] = Math.max(-32_768, Math.min(32_767, (pcm[index] ?? 0) + this.#next()));
    }
    return pcm;
  }

  /**
   * What to send where nothing is said.
   * @param speechEndMs until when the carrier has speech to play
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

  /** @param untilMs how far what the carrier still has goes, after something was taken back; -Infinity where nothing is left */
  cut(untilMs: number): void {
    this.#endMs = untilMs;
    this.#owedMs = 0;
  }

  /**
   * Audio of the caller came: a stream that never pauses has to keep to the carrier's clock, or replies would wait longer
   * and longer behind it.
   */
  arrived(timestampMs: number | undefined, nowMs: number): void {
    if (timestampMs !== undefined) this.#owedMs += this.#drift.add(nowMs - timestampMs);
  }

  #next(): number {
    const sample = this.#loop[this.#at] ?? 0;
    this.#at = this.#at + 1 === this.#loop.length ? 0 : this.#at + 1;
    return sample;
  }
}

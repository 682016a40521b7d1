/** 4.1 s: the longest delay with what is compared, and what is sent ahead of time. */
const SIZE = 32_768;
const MASK = SIZE - 1;

/**
 * What the bot said, on the sample clock of the caller's line: sample n was played while the caller's sample n was
 * spoken, but for the delay of the path. Keeps the last seconds and the few hundred milliseconds sent ahead of time.
 */
export class EchoReference {
  readonly #ring = new Int16Array(SIZE);
  /** Everything from here on is silent. */
  #end = 0;
  #soundEnd = Number.NEGATIVE_INFINITY;

  /** Plays on from where the last sound ended. */
  append(pcm: Int16Array): void {
    // Of more than the ring holds the last is kept.
    const kept = pcm.length > SIZE ? pcm.subarray(pcm.length - SIZE) : pcm;
    const at = (this.#end + pcm.length - kept.length) & MASK;
    const untilEdge = SIZE - at;
    this.#ring.set(kept.subarray(0, untilEdge), at);
    if (kept.length > untilEdge) this.#ring.set(kept.subarray(untilEdge), 0);
    this.#end += pcm.length;
    this.#soundEnd = this.#end;
  }

  /** @param pcm 8 kHz samples, the first of which is played at sample `at`, replacing what was to be played from there */
  put(pcm: Int16Array, at: number): void {
    const from = Math.max(0, at);
    this.#silenceUntil(from);
    this.#end = from;
    this.append(pcm);
  }

  /** What was to be played from this sample on was taken back. */
  silenceFrom(sample: number): void {
    if (sample >= this.#end) return;
    this.#end = Math.max(0, sample, this.#end - SIZE);
    this.#soundEnd = Math.min(this.#soundEnd, this.#end);
  }

  /** Whether anything was played, or is to be, since `samples` before this one. */
  soundedWithin(samples: number, sample: number): boolean {
    return sample - this.#soundEnd < samples;
  }

  /** Copies the samples before `end` into all of `out`; where nothing was played, silence. */
  copyBefore(end: number, out: Int16Array): void {
    this.#silenceUntil(end);
    const start = end - out.length;
    // Before the call nothing was played.
    const before = Math.min(out.length, Math.max(0, -start));
    out.fill(0, 0, before);
    const at = (start + before) & MASK;
    const untilEdge = Math.min(out.length - before, SIZE - at);
    out.set(this.#ring.subarray(at, at + untilEdge), before);
    if (before + untilEdge < out.length) out.set(this.#ring.subarray(0, out.length - before - untilEdge), before + untilEdge);
  }

  /** The ring still holds old sound behind the end of what was sent. */
  #silenceUntil(sample: number): void {
    if (sample <= this.#end) return;
    const from = Math.max(this.#end, sample - SIZE) & MASK;
    const count = Math.min(SIZE, sample - this.#end);
    this.#ring.fill(0, from, from + count);
    if (from + count > SIZE) this.#ring.fill(0, 0, from + count - SIZE);
    this.#end = sample;
  }
}

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
    for (let index = 0; index < pcm.length; index += 1) this.#ring[(this.#end + index) & MASK] = pcm[index]!;
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
    for (let index = 0; index < out.length; index += 1) {
      const sample = end - out.length + index;
      out[index] = sample < 0 ? 0 : this.#ring[sample & MASK]!;
    }
  }

  /** The ring still holds old sound behind the end of what was sent. */
  #silenceUntil(sample: number): void {
    if (sample <= this.#end) return;
    for (let index = Math.max(this.#end, sample - SIZE); index < sample; index += 1) this.#ring[index & MASK] = 0;
    this.#end = sample;
  }
}

import { SampleRing } from '../../../audio/sample-ring.ts';

/** 4.1 s: the longest delay with what is compared, and what is sent ahead of time. */
const SIZE = 32_768;

/**
 * What the bot said, on the sample clock of the caller's line: sample n was played while the caller's sample n was
 * spoken, but for the delay of the path. Keeps the last seconds and the few hundred milliseconds sent ahead of time.
 */
export class EchoReference {
  readonly #ring = new SampleRing(SIZE);
  /** Everything from here on is silent. */
  #end = 0;
  #soundEnd = Number.NEGATIVE_INFINITY;

  /** Plays on from where the last sound ended. */
  append(pcm: Int16Array): void {
    // Of more than the ring holds the last is kept.
    const kept = pcm.length > SIZE ? pcm.subarray(pcm.length - SIZE) : pcm;
    this.#ring.put(this.#end + pcm.length - kept.length, kept);
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
    this.#ring.read(start + before, before === 0 ? out : out.subarray(before));
  }

  /** The ring still holds old sound behind the end of what was sent. */
  #silenceUntil(sample: number): void {
    if (sample <= this.#end) return;
    const from = Math.max(this.#end, sample - SIZE);
    this.#ring.silence(from, sample - from);
    this.#end = sample;
  }
}

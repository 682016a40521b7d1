import { FRAME_SAMPLES_8K } from '../../../audio/format.ts';
import { SampleRing } from '../../../audio/samples.ts';
import { SampleClock } from '../../recording/sample-clock.ts';

const PER_MS = 8;
/** Messages this close to the end of the last one carry it on without a seam. */
const SEAM_MS = 10;
/** Marks come back late by the network's jitter; only more than this moves the playout clock. */
const LATE_STEP_MS = 30;
/** Difference between timestamp and counted samples that means lost audio; beyond the second, another stream. */
const LOST_SAMPLES = FRAME_SAMPLES_8K;
const MOST_LOST_SAMPLES = 10_000 * PER_MS;

/**
 * Places sent and heard audio on one clock, that of the caller's samples. Each sentence stands where the playout clock says the carrier starts it,
 * corrected by how late marks come back; it stays in one piece while it plays.
 */
export class LineClock {
  readonly #reference = new EchoReference();
  readonly #clock = new SampleClock();
  #attached = false;
  /** Samples of the line that arrived, and those that were framed. */
  #arrived = 0;
  #framed = 0;
  /** What the carrier's timestamps count from, in samples of the line. */
  #base: number | undefined;
  #sentEndMs = Number.NEGATIVE_INFINITY;
  #lateMs = 0;

  sent(pcm: Int16Array, startMs: number, lateMs: number): void {
    if (!this.#attached) this.#attach(startMs);
    if (Math.abs(startMs - this.#sentEndMs) < SEAM_MS) this.#reference.append(pcm);
    else {
      if (Math.abs(lateMs - this.#lateMs) > LATE_STEP_MS) this.#lateMs = lateMs;
      this.#reference.put(pcm, this.#sampleAt(startMs + this.#lateMs));
    }
    this.#sentEndMs = startMs + pcm.length / PER_MS;
  }

  cleared(nowMs: number): void {
    this.#sentEndMs = Number.NEGATIVE_INFINITY;
    if (this.#attached) this.#reference.silenceFrom(this.#sampleAt(nowMs + this.#lateMs));
  }

  /** @returns false when the line starts anew, so that its known delay no longer holds */
  arrived(samples: number, timestampMs: number | undefined, nowMs: number): boolean {
    if (!this.#attached) this.#attach(nowMs);
    let goesOn = true;
    if (timestampMs !== undefined) {
      const stamp = Math.round(timestampMs * PER_MS);
      this.#base ??= this.#arrived - stamp;
      const lost = this.#base + stamp - this.#arrived;
      if (lost < -LOST_SAMPLES || lost > MOST_LOST_SAMPLES) {
        this.#base = this.#arrived - stamp;
        this.#attach(nowMs);
        goesOn = false;
      } else if (lost >= LOST_SAMPLES) {
        this.#arrived += lost;
        this.#framed += lost;
      }
    }
    this.#clock.observe(this.#arrived / PER_MS, nowMs);
    this.#arrived += samples;
    return goesOn;
  }

  framed(): void {
    this.#framed += FRAME_SAMPLES_8K;
  }

  /** Whether anything was played within this many samples before the last frame's end. */
  soundedWithin(samples: number): boolean {
    return this.#reference.soundedWithin(samples, this.#framed);
  }

  /** Copies what was played up to `lag` samples before the last frame's end. */
  copyBefore(lag: number, out: Int16Array): void {
    this.#reference.copyBefore(this.#framed - lag, out);
  }

  #attach(nowMs: number): void {
    this.#clock.attach(this.#arrived / PER_MS, this.#arrived / PER_MS, nowMs);
    this.#attached = true;
  }

  #sampleAt(monotonicMs: number): number {
    return Math.round((this.#clock.positionAt(monotonicMs) ?? 0) * PER_MS);
  }
}

/** 4.1 s: the longest delay with what is compared, and what is sent ahead of time. */
const SIZE = 32_768;

/**
 * The bot's audio on the clock of the caller's line: sample n was played while the caller's sample n was spoken, apart from the path delay. Holds the
 * last seconds, and the few hundred milliseconds sent ahead.
 */
export class EchoReference {
  readonly #ring = new SampleRing(SIZE);
  /** Everything from here on is silent. */
  #end = 0;
  #soundEnd = Number.NEGATIVE_INFINITY;

  /** Plays on from where the last sound ended. */
  append(pcm: Int16Array): void {
    // The ring keeps the end of longer audio.
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

  /** Playout from this sample on was cleared. */
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

  /** The ring still holds old sound after the end of what was sent. */
  #silenceUntil(sample: number): void {
    if (sample <= this.#end) return;
    const from = Math.max(this.#end, sample - SIZE);
    this.#ring.silence(from, sample - from);
    this.#end = sample;
  }
}

import { FRAME_SAMPLES_8K } from '../../../audio/format.ts';
import { SampleClock } from '../../recording/sample-clock.ts';
import { EchoReference } from './echo-reference.ts';

const PER_MS = 8;
/** Messages this close to the end of the last one carry it on without a seam. */
const SEAM_MS = 10;
/** Marks come back late by the network's jitter; only more than this moves the playout clock. */
const LATE_STEP_MS = 30;
/** A timestamp this much off the samples counted tells of audio that was lost; further off, of another stream. */
const LOST_SAMPLES = FRAME_SAMPLES_8K;
const MOST_LOST_SAMPLES = 10_000 * PER_MS;

/**
 * Lays what is sent beside what is heard, both on the sample clock of the caller's line, by the playout clock: each
 * sentence stands where the gateway says that the carrier starts it, corrected by how late marks come back, and is not
 * torn by what happens while it plays.
 */
export class LineClock {
  readonly #reference = new EchoReference();
  readonly #clock = new SampleClock();
  #attached = false;
  /** Samples of the line that arrived, and that were framed. */
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

  /** @returns false when the line starts anew, so that nothing known of its delay holds */
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

  /** Whether anything was played within so many samples before the last frame's end. */
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

import { SampleBatch } from '../../audio/sample-batch.ts';
import { RECORDING_RATE_HZ } from './recording-file.ts';

const SAMPLES_PER_MS = RECORDING_RATE_HZ / 1000;
const BATCH_MS = 100;
/** Timestamps differ by less from where the audio before them ended when they are rounded, or count by another clock. */
const SEAM_MS = 10;

/** The caller's audio on its way into the recording: frames that follow each other by their timestamps, put together. */
export class CallerBatch {
  readonly #samples = new SampleBatch(BATCH_MS * SAMPLES_PER_MS);
  #stampMs = 0;
  /** From timestamps to when the audio began to come, the least of all frames: delay only ever adds. */
  #offsetMs = 0;

  get isEmpty(): boolean {
    return this.#samples.length === 0;
  }

  /** The timestamp of its first sample. */
  get stampMs(): number {
    return this.#stampMs;
  }

  /** When its first sample was, by the frame that came with the least delay. */
  get beganMs(): number {
    return this.#stampMs + this.#offsetMs;
  }

  /**
   * Adds a frame where it goes on from the last one, and there is room for it.
   * @param timestampMs the carrier's; undefined where it gives none
   * @returns false otherwise: what there is has to be taken first, and the frame begins anew
   */
  add(pcm: Int16Array, timestampMs: number | undefined, beganMs: number): boolean {
    const { length, room } = this.#samples;
    const endMs = this.#stampMs + length / SAMPLES_PER_MS;
    const goesOn = timestampMs === undefined || Math.abs(timestampMs - endMs) < SEAM_MS;
    if (length === 0 || pcm.length > room || !goesOn) return false;
    this.#samples.add(pcm);
    this.#offsetMs = Math.min(this.#offsetMs, beganMs - endMs);
    return true;
  }

  /** The first frame of those to come. @returns false when it is too long to be put together with any */
  begin(pcm: Int16Array, stampMs: number, beganMs: number): boolean {
    if (pcm.length > this.#samples.room) return false;
    this.#samples.add(pcm);
    this.#stampMs = stampMs;
    this.#offsetMs = beganMs - stampMs;
    return true;
  }

  /** @returns all samples, valid until others come; none are left */
  take(): Int16Array {
    return this.#samples.take();
  }
}

import { Resampler } from '../../audio/resample.ts';
import { SampleBatch } from '../../audio/sample-batch.ts';

/** What windows give out last; one for all, since each is looked at before the next is asked. */
let taken = new Int16Array(0);

/**
 * The part of a stereo recording that may still change, on one sample clock: caller left, bot right. What leaves the
 * window is interleaved and final. Silence stands where nothing was put.
 */
export class StereoWindow {
  readonly #left: Int16Array;
  readonly #right: Int16Array;
  readonly #capacity: number;
  /** First sample that has not been taken out. */
  #start = 0;
  droppedSamples = 0;

  /** @param capacitySamples how far ahead of the first sample not yet taken out audio may be put */
  constructor(capacitySamples: number) {
    this.#capacity = capacitySamples;
    this.#left = new Int16Array(capacitySamples);
    this.#right = new Int16Array(capacitySamples);
  }

  get startSample(): number {
    return this.#start;
  }

  /** First sample that does not fit. */
  get endSample(): number {
    return this.#start + this.#capacity;
  }

  /** Begins later than at 0: what is before is somewhere else. */
  startAt(sample: number): void {
    this.#start = sample;
  }

  /** Puts audio at a position; what lies before or beyond the window is dropped and counted. */
  put(channel: 'left' | 'right', atSample: number, pcm: Int16Array): void {
    const ring = channel === 'left' ? this.#left : this.#right;
    const first = Math.max(0, Math.min(pcm.length, this.#start - atSample));
    const end = Math.max(first, Math.min(pcm.length, this.#start + this.#capacity - atSample));
    this.droppedSamples += pcm.length - (end - first);
    if (end === first) return;
    const slot = (atSample + first) % this.#capacity;
    const before = Math.min(end - first, this.#capacity - slot);
    if (before === pcm.length) {
      ring.set(pcm, slot);
      return;
    }
    ring.set(pcm.subarray(first, first + before), slot);
    if (first + before < end) ring.set(pcm.subarray(first + before, end), 0);
  }

  /** Silences a channel from a position on: audio that was taken back before it was played. */
  silenceFrom(channel: 'left' | 'right', atSample: number): void {
    const ring = channel === 'left' ? this.#left : this.#right;
    for (let position = Math.max(atSample, this.#start); position < this.#start + this.#capacity; position += 1) {
      ring[position % this.#capacity] = 0;
    }
  }

  /**
   * Takes out everything before `endSample`, interleaved left, right; at most the capacity at once.
   * @returns samples that are lent until any window is asked again
   */
  take(endSample: number): Int16Array<ArrayBuffer> {
    const count = Math.max(0, Math.min(this.#capacity, endSample - this.#start));
    if (taken.length < count * 2) taken = new Int16Array(count * 2);
    const interleaved = taken.subarray(0, count * 2);
    const slot = this.#start % this.#capacity;
    const before = Math.min(count, this.#capacity - slot);
    this.#move(slot, slot + before, interleaved, 0);
    this.#move(0, count - before, interleaved, 2 * before);
    this.#start += count;
    return interleaved;
  }

  /** Interleaves these slots into `target` from `at` on, and leaves silence in them. */
  #move(from: number, to: number, target: Int16Array, at: number): void {
    const left = this.#left;
    const right = this.#right;
    for (let slot = from, place = at; slot < to; slot += 1, place += 2) {
      target[place] = left[slot]!;
      target[place + 1] = right[slot]!;
    }
    left.fill(0, from, to);
    right.fill(0, from, to);
  }
}

const BATCH_MS = 100;
/** Timestamps differ by less from where the audio before them ended when they are rounded, or count by another clock. */
const SEAM_MS = 10;

/** The caller's audio on its way into the recording: frames that follow each other by their timestamps, put together. */
export class CallerBatch {
  readonly #samplesPerMs: number;
  readonly #samples: SampleBatch;
  #stampMs = 0;
  /** From timestamps to when the audio began to come, the least of all frames: delay only ever adds. */
  #offsetMs = 0;

  /** @param rateHz of the audio */
  constructor(rateHz: number) {
    this.#samplesPerMs = rateHz / 1000;
    this.#samples = new SampleBatch(BATCH_MS * this.#samplesPerMs);
  }

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
    const endMs = this.#stampMs + length / this.#samplesPerMs;
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

/** The bot's audio of a line on which nothing has come of the caller yet. */
const MOST_EARLY_MS = 10_000;

interface EarlyPiece {
  readonly pcm: Int16Array;
  readonly startMs: number;
}

/** Bot audio that was sent before the caller's first frame: nobody knows where it stands until that frame starts the clock. The last ten seconds. */
export class EarlyAudio {
  readonly #samplesPerMs: number;
  #pieces: EarlyPiece[] = [];

  /** @param rateHz of the audio */
  constructor(rateHz: number) {
    this.#samplesPerMs = rateHz / 1000;
  }

  /** When the first of it is heard; undefined where there is none. */
  get startMs(): number | undefined {
    return this.#pieces[0]?.startMs;
  }

  /** Keeps a copy. @param startMs when it begins to be heard, later than what was added before */
  add(pcm: Int16Array, startMs: number): void {
    this.#pieces.push({ pcm: pcm.slice(), startMs });
    while (startMs - (this.#pieces[0]?.startMs ?? startMs) > MOST_EARLY_MS) this.#pieces.shift();
  }

  /** Drops what would be heard from this moment on. */
  cut(nowMs: number): void {
    this.#pieces = this.#pieces
      .filter(({ startMs }) => startMs < nowMs)
      .map(({ pcm, startMs }) => ({ pcm: pcm.subarray(0, Math.round((nowMs - startMs) * this.#samplesPerMs)), startMs }));
  }

  /** @returns all of it, oldest first; none is left */
  take(): readonly EarlyPiece[] {
    return this.#pieces.splice(0);
  }
}

/** The bot's audio on its way into a recording of a higher rate: messages that follow each other are one stream, and join without a click. */
export class RaisedTrack {
  readonly #window: StereoWindow;
  readonly #fromHz: number;
  readonly #toHz: number;
  #resampler: Resampler | undefined;
  /** Where what comes next stands if it goes on from the last message, and where the resampler's next output does. */
  #endSample = 0;
  #putSample = 0;

  constructor(window: StereoWindow, fromHz: number, toHz: number) {
    this.#window = window;
    this.#fromHz = fromHz;
    this.#toHz = toHz;
  }

  put(atSample: number, pcm: Int16Array): void {
    if (Math.abs(atSample - this.#endSample) > (SEAM_MS * this.#toHz) / 1000) this.end();
    if (this.#resampler === undefined) {
      this.#resampler = new Resampler(this.#fromHz, this.#toHz);
      this.#endSample = atSample;
      this.#putSample = atSample;
    }
    this.#endSample += Math.round((pcm.length * this.#toHz) / this.#fromHz);
    this.#give(this.#resampler.process(pcm));
  }

  /** What is before this sample is taken out now: the end of a sentence, still in the resampler, is put first. */
  beforeTaking(endSample: number): void {
    if (this.#resampler !== undefined && this.#putSample < endSample) this.end();
  }

  /** Puts what the resampler still has. */
  end(): void {
    const resampler = this.#resampler;
    this.#resampler = undefined;
    if (resampler !== undefined) this.#give(resampler.flush());
  }

  #give(pcm: Int16Array): void {
    this.#window.put('right', this.#putSample, pcm);
    this.#putSample += pcm.length;
  }
}

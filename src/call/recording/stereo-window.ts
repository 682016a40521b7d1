import { Resampler } from '../../audio/resample.ts';
import { SampleBatch } from '../../audio/samples.ts';

/** Output buffer shared by all windows: each result is used before the next is requested. */
let taken = new Int16Array(0);

/**
 * The part of a stereo recording that may still change, on one sample clock: caller left, bot right. Output is interleaved and final. Empty places
 * are silence.
 */
export class StereoWindow {
  readonly #left: Int16Array;
  readonly #right: Int16Array;
  readonly #capacity: number;
  /** First sample not taken out yet. */
  #start = 0;
  droppedSamples = 0;

  /** @param capacitySamples how far ahead of the first untaken sample audio may be placed */
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

  /** Starts after 0: the part before is elsewhere. */
  startAt(sample: number): void {
    this.#start = sample;
  }

  /** Places audio; parts outside the window are dropped and counted. */
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

  /** Silences a channel from a position on: audio cleared before it was played. */
  silenceFrom(channel: 'left' | 'right', atSample: number): void {
    const ring = channel === 'left' ? this.#left : this.#right;
    for (let position = Math.max(atSample, this.#start); position < this.#start + this.#capacity; position += 1) {
      ring[position % this.#capacity] = 0;
    }
  }

  /**
   * Takes out everything before `endSample`, interleaved left, right; at most the capacity at once.
   * @returns samples valid until any window is asked again
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

  /** Interleaves these slots into `target` from `at` on, and silences them. */
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
/** Smaller timestamp differences are rounding or clock drift. */
const SEAM_MS = 10;

/** Collects consecutive caller frames, by timestamp, on their way into the recording. */
export class CallerBatch {
  readonly #samplesPerMs: number;
  readonly #samples: SampleBatch;
  #stampMs = 0;
  /** Offset from timestamps to arrival, the least of all frames: delay only adds. */
  #offsetMs = 0;

  constructor(rateHz: number) {
    this.#samplesPerMs = rateHz / 1000;
    this.#samples = new SampleBatch(BATCH_MS * this.#samplesPerMs);
  }

  get isEmpty(): boolean {
    return this.#samples.length === 0;
  }

  /** Timestamp of its first sample. */
  get stampMs(): number {
    return this.#stampMs;
  }

  /** Time of its first sample, by the least delayed frame. */
  get beganMs(): number {
    return this.#stampMs + this.#offsetMs;
  }

  /**
   * Appends a frame that continues the last one and fits.
   * @param timestampMs the carrier's; undefined where it gives none
   * @returns false otherwise: take the batch first, then begin anew with the frame
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

  /** Starts a batch. @returns false when the frame is too long to be batched */
  begin(pcm: Int16Array, stampMs: number, beganMs: number): boolean {
    if (pcm.length > this.#samples.room) return false;
    this.#samples.add(pcm);
    this.#stampMs = stampMs;
    this.#offsetMs = beganMs - stampMs;
    return true;
  }

  /** Empties the batch. @returns all samples, valid until the next frame */
  take(): Int16Array {
    return this.#samples.take();
  }
}

/** Most bot audio kept before the caller's first frame. */
const MOST_EARLY_MS = 10_000;

interface EarlyPiece {
  readonly pcm: Int16Array;
  readonly startMs: number;
}

/** Bot audio sent before the caller's first frame, which starts the clock that places it. Keeps the last ten seconds. */
export class EarlyAudio {
  readonly #samplesPerMs: number;
  #pieces: EarlyPiece[] = [];

  constructor(rateHz: number) {
    this.#samplesPerMs = rateHz / 1000;
  }

  /** When its first audio is heard; undefined where there is none. */
  get startMs(): number | undefined {
    return this.#pieces[0]?.startMs;
  }

  /** Keeps a copy. @param startMs when it is heard, after what was added before */
  add(pcm: Int16Array, startMs: number): void {
    this.#pieces.push({ pcm: pcm.slice(), startMs });
    while (startMs - (this.#pieces[0]?.startMs ?? startMs) > MOST_EARLY_MS) this.#pieces.shift();
  }

  /** Drops audio from this moment on. */
  cut(nowMs: number): void {
    this.#pieces = this.#pieces
      .filter(({ startMs }) => startMs < nowMs)
      .map(({ pcm, startMs }) => ({ pcm: pcm.subarray(0, Math.round((nowMs - startMs) * this.#samplesPerMs)), startMs }));
  }

  /** Empties it. @returns all pieces, oldest first */
  take(): readonly EarlyPiece[] {
    return this.#pieces.splice(0);
  }
}

/** Resamples the bot's audio for a recording of a higher rate: consecutive messages form one stream and join without a click. */
export class RaisedTrack {
  readonly #window: StereoWindow;
  readonly #fromHz: number;
  readonly #toHz: number;
  #resampler: Resampler | undefined;
  /** Where the next message stands if it continues the last, and where the resampler's next output stands. */
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

  /** Called before samples up to here are taken: flushes the end of a sentence from the resampler. */
  beforeTaking(endSample: number): void {
    if (this.#resampler !== undefined && this.#putSample < endSample) this.end();
  }

  /** Flushes the resampler. */
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

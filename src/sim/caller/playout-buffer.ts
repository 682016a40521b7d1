import { decodeAudio } from '../../audio/codec.ts';
import type { Encoding } from '../../audio/format.ts';

interface QueuedAudio {
  readonly pcm: Int16Array;
  played: number;
}

type Queued = QueuedAudio | { readonly mark: string };

/** A hole in the middle of speech: the carrier had nothing to play, though sound stood right before it and right after. */
export interface Underrun {
  readonly atMs: number;
  readonly durationMs: number;
}

/** Twilio queues ten minutes of audio; what is beyond is dropped (error 31931). */
const MOST_QUEUED_MS = 10 * 60 * 1000;
/** A longer gap is a pause of the bot, not a hole in what it says. */
const LONGEST_HOLE_MS = 500;
/** How much on each side of a gap is looked at for sound. */
const HOLE_EDGE_MS = 40;
/** Peak above which a stretch has sound in it, out of 32,768. */
const SOUND_PEAK = 150;

/**
 * The carrier's playout buffer and the caller's ear: what is appended is played in order in real time, and the ear hears
 * silence whenever there is nothing to play. Pure: times are arguments, in ms since the stream began, and never fall.
 * It shares nothing with the gateway's playout, which it is there to check.
 */
export class PlayoutBuffer {
  readonly underruns: Underrun[] = [];
  readonly #encoding: Encoding;
  readonly #samplesPerMs: number;
  readonly #queue: Queued[] = [];
  #queuedSamples = 0;
  /** The sample before which everything had been played when a mark was reached, by its name. */
  readonly markSamples = new Map<string, number>();
  /** Marks reached while something else was done; the next `advance` hands them out. */
  #reached: string[] = [];
  #heard: Int16Array;
  readonly #remembers: boolean;
  #heardSamples = 0;
  /** One past the last sample played from the queue; undefined before any, and after a clear, where a gap is meant. */
  #lastPlayedSample: number | undefined;
  droppedSamples = 0;
  readonly #prefillSamples: number;
  /** Where the ear hears the first sample of what was appended to an empty buffer. */
  #startSample = 0;

  /**
   * @param prefillMs how long audio that comes to an empty buffer waits before it is played, as behind a jitter buffer
   * @param remembers whether what the ear hears is kept; without that `heard` stays empty, and no hole is noticed
   */
  constructor(encoding: Encoding = 'mulaw', prefillMs = 0, rateHz = 8_000, remembers = true) {
    this.#remembers = remembers;
    this.#encoding = encoding;
    this.#samplesPerMs = rateHz / 1000;
    this.#heard = new Int16Array(remembers ? 60 * rateHz : 0);
    this.#prefillSamples = Math.round(prefillMs * this.#samplesPerMs);
  }

  append(payload: Uint8Array, atMs: number): void {
    this.#playUntil(atMs);
    const pcm = decodeAudio(this.#encoding, payload);
    if (pcm.length === 0) return;
    if (this.#queuedSamples + pcm.length > MOST_QUEUED_MS * this.#samplesPerMs) {
      this.droppedSamples += pcm.length;
      return;
    }
    if (this.#queuedSamples === 0) {
      this.#noteHole(pcm);
      this.#startSample = this.#heardSamples + this.#prefillSamples;
    }
    this.#queue.push({ pcm, played: 0 });
    this.#queuedSamples += pcm.length;
  }

  mark(name: string, atMs: number): void {
    this.#playUntil(atMs);
    this.#queue.push({ mark: name });
  }

  /** Drops what is queued. @returns the marks that were waiting in it, which a carrier sends back at once */
  clear(atMs: number): readonly string[] {
    this.#playUntil(atMs);
    const marks = this.#queue.flatMap((item) => ('mark' in item ? [item.mark] : []));
    this.#queue.length = 0;
    this.#queuedSamples = 0;
    this.#lastPlayedSample = undefined;
    return marks;
  }

  /** Plays up to this moment. @returns the marks that were reached since the last call, oldest first */
  advance(atMs: number): readonly string[] {
    this.#playUntil(atMs);
    const reached = this.#reached;
    this.#reached = [];
    return reached;
  }

  get queuedMs(): number {
    return this.#queuedSamples / this.#samplesPerMs;
  }

  /** Everything the ear has heard since the stream began, silence included; a view. */
  get heard(): Int16Array {
    return this.#heard.subarray(0, this.#remembers ? this.#heardSamples : 0);
  }

  #playUntil(atMs: number): void {
    // A time that was added up from fractions may be a hair below the sample it means.
    const untilSample = Math.floor(atMs * this.#samplesPerMs + 1e-6);
    for (;;) {
      const item = this.#queue[0];
      if (item !== undefined && 'mark' in item) {
        this.#queue.shift();
        this.#reached.push(item.mark);
        this.markSamples.set(item.mark, this.#heardSamples);
        continue;
      }
      const due = untilSample - this.#heardSamples;
      if (due <= 0) return;
      if (item === undefined) {
        this.#hearSilence(due);
        return;
      }
      if (this.#heardSamples < this.#startSample) {
        this.#hearSilence(Math.min(due, this.#startSample - this.#heardSamples));
        continue;
      }
      const taken = item.pcm.subarray(item.played, item.played + due);
      item.played += taken.length;
      this.#queuedSamples -= taken.length;
      this.#hear(taken);
      this.#lastPlayedSample = this.#heardSamples;
      if (item.played === item.pcm.length) this.#queue.shift();
    }
  }

  #noteHole(next: Int16Array): void {
    const last = this.#lastPlayedSample;
    if (last === undefined || !this.#remembers) return;
    const gap = this.#heardSamples - last;
    if (gap <= 0 || gap > LONGEST_HOLE_MS * this.#samplesPerMs) return;
    const before = this.#heard.subarray(Math.max(0, last - HOLE_EDGE_MS * this.#samplesPerMs), last);
    if (!hasSound(before) || !hasSound(next.subarray(0, HOLE_EDGE_MS * this.#samplesPerMs))) return;
    this.underruns.push({ atMs: last / this.#samplesPerMs, durationMs: gap / this.#samplesPerMs });
  }

  #hearSilence(samples: number): void {
    if (this.#remembers) this.#hear(new Int16Array(samples));
    else this.#heardSamples += samples;
  }

  #hear(pcm: Int16Array): void {
    const needed = this.#heardSamples + pcm.length;
    if (!this.#remembers) {
      this.#heardSamples = needed;
      return;
    }
    if (needed > this.#heard.length) {
      const grown = new Int16Array(Math.max(needed, this.#heard.length * 2));
      grown.set(this.heard);
      this.#heard = grown;
    }
    this.#heard.set(pcm, this.#heardSamples);
    this.#heardSamples = needed;
  }
}

function hasSound(pcm: Int16Array): boolean {
  return pcm.some((sample) => Math.abs(sample) > SOUND_PEAK);
}

/** What the ear of `ScriptedCaller` is made for. */
const EAR_RATE_HZ = 8_000;

/** The ear of `ScriptedCaller` goes by level alone: every so many samples of a wideband playout do for it. */
export function earOf(playout: PlayoutBuffer, rateHz: number): { readonly heard: Int16Array } {
  const step = rateHz / EAR_RATE_HZ;
  if (step === 1) return playout;
  let thinned = new Int16Array();
  let length = 0;
  return {
    get heard() {
      const { heard } = playout;
      const wanted = Math.floor(heard.length / step);
      if (wanted > thinned.length) {
        const grown = new Int16Array(Math.max(wanted, thinned.length * 2));
        grown.set(thinned);
        thinned = grown;
      }
      for (; length < wanted; length += 1) thinned[length] = heard[length * step] ?? 0;
      return thinned.subarray(0, length);
    },
  };
}

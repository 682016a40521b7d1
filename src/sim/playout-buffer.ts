import { decodeAudio } from '../audio/codec.ts';
import type { Encoding } from '../audio/format.ts';

interface QueuedAudio {
  readonly pcm: Int16Array;
  played: number;
}

type Queued = QueuedAudio | { readonly mark: string };

/** A stretch in which the carrier had nothing to play, between two stretches in which it had. */
export interface Underrun {
  readonly atMs: number;
  readonly durationMs: number;
}

const SAMPLES_PER_MS = 8;
/** Twilio queues ten minutes of audio; what is beyond is dropped (error 31931). */
const MOST_QUEUED_SAMPLES = 10 * 60 * 1000 * SAMPLES_PER_MS;

/**
 * The carrier's playout buffer and the caller's ear: what is appended is played in order in real time, and the ear hears
 * silence whenever there is nothing to play. Pure: times are arguments, in ms since the stream began.
 */
export class PlayoutBuffer {
  readonly underruns: Underrun[] = [];
  readonly #encoding: Encoding;
  readonly #queue: Queued[] = [];
  #queuedSamples = 0;
  #heard = new Int16Array(60_000 * SAMPLES_PER_MS);
  #heardSamples = 0;
  #lastSoundSample: number | undefined;
  droppedSamples = 0;

  constructor(encoding: Encoding = 'mulaw') {
    this.#encoding = encoding;
  }

  append(payload: Uint8Array, atMs: number): void {
    this.advance(atMs);
    const pcm = decodeAudio(this.#encoding, payload);
    if (this.#queuedSamples + pcm.length > MOST_QUEUED_SAMPLES) {
      this.droppedSamples += pcm.length;
      return;
    }
    const last = this.#lastSoundSample;
    if (this.#queuedSamples === 0 && last !== undefined && this.#heardSamples > last) {
      this.underruns.push({ atMs: last / SAMPLES_PER_MS, durationMs: (this.#heardSamples - last) / SAMPLES_PER_MS });
    }
    this.#queue.push({ pcm, played: 0 });
    this.#queuedSamples += pcm.length;
  }

  mark(name: string, atMs: number): void {
    this.advance(atMs);
    this.#queue.push({ mark: name });
  }

  /** Drops what is queued. @returns the marks that were waiting in it, which a carrier sends back at once */
  clear(atMs: number): readonly string[] {
    this.advance(atMs);
    const marks = this.#queue.flatMap((item) => ('mark' in item ? [item.mark] : []));
    this.#queue.length = 0;
    this.#queuedSamples = 0;
    return marks;
  }

  /** Plays up to this moment. @returns the marks that were reached */
  advance(atMs: number): readonly string[] {
    const untilSample = Math.floor(atMs * SAMPLES_PER_MS);
    const reached: string[] = [];
    for (;;) {
      const item = this.#queue[0];
      if (item !== undefined && 'mark' in item) {
        this.#queue.shift();
        reached.push(item.mark);
        continue;
      }
      const due = untilSample - this.#heardSamples;
      if (due <= 0) break;
      if (item === undefined) {
        this.#hear(new Int16Array(due));
        break;
      }
      const taken = item.pcm.subarray(item.played, item.played + due);
      item.played += taken.length;
      this.#queuedSamples -= taken.length;
      this.#hear(taken);
      this.#lastSoundSample = this.#heardSamples;
      if (item.played === item.pcm.length) this.#queue.shift();
    }
    return reached;
  }

  get queuedMs(): number {
    return this.#queuedSamples / SAMPLES_PER_MS;
  }

  /** Everything the ear has heard since the stream began, silence included; a view. */
  get heard(): Int16Array {
    return this.#heard.subarray(0, this.#heardSamples);
  }

  #hear(pcm: Int16Array): void {
    const needed = this.#heardSamples + pcm.length;
    if (needed > this.#heard.length) {
      const grown = new Int16Array(Math.max(needed, this.#heard.length * 2));
      grown.set(this.heard);
      this.#heard = grown;
    }
    this.#heard.set(pcm, this.#heardSamples);
    this.#heardSamples = needed;
  }
}

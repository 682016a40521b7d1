import { logLevelDb } from '../../audio/level.ts';

/**
 * A sentence on its way to the caller: its audio so far, and how much of it was sent. Sent audio is kept for some seconds, so that speech can resume
 * from the cut word.
 */
export class PlayoutUnit {
  readonly id: string;
  readonly #audio = new AudioBlocks();
  #ended = false;
  sentSamples = 0;
  /** Position of the last mark, in samples. */
  markedSamples = 0;
  finalMarkSent = false;

  constructor(id: string) {
    this.id = id;
  }

  /** Appends a copy of `audio`. */
  push(audio: Int16Array): void {
    this.#audio.append(audio);
  }

  end(): void {
    this.#ended = true;
  }

  get ended(): boolean {
    return this.#ended;
  }

  get length(): number {
    return this.#audio.length;
  }

  get unsentSamples(): number {
    return this.#audio.length - this.sentSamples;
  }

  get complete(): boolean {
    return this.#ended && this.sentSamples >= this.#audio.length;
  }

  /** Drops audio sent more than this many samples before the next to send. */
  forgetSent(keptSamples: number): void {
    this.#audio.forgetBefore(this.sentSamples - keptSamples);
  }

  /**
   * Ends the unit at its sent position, fading out over at most `fadeSamples`.
   * @returns samples that will never be sent
   */
  shorten(fadeSamples: number, fadeOut: (audio: Int16Array) => Int16Array): number {
    const tail = this.sentSamples === 0 ? this.peek(0) : this.peek(fadeSamples);
    this.#audio.write(this.sentSamples, fadeOut(tail));
    const droppedSamples = this.unsentSamples - tail.length;
    this.#audio.truncate(this.#audio.length - droppedSamples);
    this.#ended = true;
    return droppedSamples;
  }

  /** The next `count` unsent samples, or as many as there are; may be a view. */
  peek(count: number): Int16Array {
    return this.#audio.between(this.sentSamples, this.sentSamples + count);
  }

  /**
   * Moves back to where speech can resume after a cut: the quietest 20 ms within `reachMs` before `cutSamples`, the best sign of a word's start in
   * the audio; within a pause, its end, so that the pause is not repeated.
   */
  rewindTo(cutSamples: number, rateHz: number, reachMs: number): void {
    const frameSamples = rateHz / 50;
    const end = Math.min(this.#audio.length, cutSamples);
    const cut = end - (end % frameSamples);
    const kept = Math.ceil(this.#audio.start / frameSamples) * frameSamples;
    const first = Math.max(kept, cut - Math.round(reachMs / 20) * frameSamples);
    const levels: number[] = [];
    for (let at = first; at <= cut - frameSamples; at += frameSamples)
      levels.push(logLevelDb(this.#audio.between(at, at + frameSamples)));
    this.sentSamples = cut < frameSamples ? 0 : first + goesOnAt(levels) * frameSamples;
    this.markedSamples = this.sentSamples;
    this.finalMarkSent = false;
  }
}

/** Pause frames: this far below the loudest, and within this of the quietest. */
const PAUSE_DB = 15;
const ALIKE_DB = 4;

/** The frame to resume from: the last of the quietest pause, or the quietest frame without a pause. */
function goesOnAt(levels: readonly number[]): number {
  const quietestDb = Math.min(...levels);
  const loudestDb = Math.max(...levels);
  let at = Math.max(0, levels.lastIndexOf(quietestDb));
  if (loudestDb - quietestDb < PAUSE_DB) return at;
  while ((levels[at + 1] ?? Number.POSITIVE_INFINITY) <= quietestDb + ALIKE_DB) at += 1;
  return at;
}

/** Half a second at 8 kHz: little waste for short sentences, and long ones are never copied to grow. */
const BLOCK_SAMPLES = 4_000;
const EMPTY = new Int16Array();

/** Samples that grow in blocks, the oldest of which can be dropped. */
export class AudioBlocks {
  readonly #blocks: Int16Array[] = [];
  #length = 0;
  /** Blocks dropped so far. */
  #forgotten = 0;

  get length(): number {
    return this.#length;
  }

  /** The first sample still kept. */
  get start(): number {
    return this.#forgotten * BLOCK_SAMPLES;
  }

  /** Appends a copy of `audio`. */
  append(audio: Int16Array): void {
    const end = this.#length + audio.length;
    while (this.#blocks.length * BLOCK_SAMPLES < end) this.#blocks.push(new Int16Array(BLOCK_SAMPLES));
    this.#length = end;
    this.write(end - audio.length, audio);
  }

  /** Drops whole blocks before this position; other positions stay the same. */
  forgetBefore(place: number): void {
    for (const last = Math.floor(Math.min(place, this.#length) / BLOCK_SAMPLES); this.#forgotten < last; this.#forgotten += 1)
      this.#blocks[this.#forgotten] = EMPTY;
  }

  /** Overwrites samples; all must still be kept. */
  write(at: number, audio: Int16Array): void {
    for (let from = 0; from < audio.length;) {
      const place = (at + from) % BLOCK_SAMPLES;
      const count = Math.min(BLOCK_SAMPLES - place, audio.length - from);
      const part = count === audio.length ? audio : audio.subarray(from, from + count);
      this.#blocks[Math.floor((at + from) / BLOCK_SAMPLES)]?.set(part, place);
      from += count;
    }
  }

  /** Samples between two kept positions: a view within one block, else a copy. */
  between(from: number, to: number): Int16Array {
    const end = Math.min(to, this.#length);
    const first = Math.floor(from / BLOCK_SAMPLES);
    const place = from % BLOCK_SAMPLES;
    const count = Math.max(0, end - from);
    if (place + count <= BLOCK_SAMPLES) return (this.#blocks[first] ?? EMPTY).subarray(place, place + count);
    const joined = new Int16Array(count);
    for (let at = 0, index = first; at < count; index += 1) {
      const start = at === 0 ? place : 0;
      const part = (this.#blocks[index] ?? EMPTY).subarray(start, Math.min(BLOCK_SAMPLES, start + count - at));
      joined.set(part, at);
      at += part.length;
    }
    return joined;
  }

  /** Drops samples after this position. */
  truncate(length: number): void {
    this.#length = length;
    this.#blocks.length = Math.ceil(length / BLOCK_SAMPLES);
  }
}

const FADE_IN_MS = 10;

/** The audio with its first 10 ms faded in. */
export function fadedIn(audio: Int16Array, rateHz: number): Int16Array {
  const pcm = Int16Array.from(audio);
  const fade = Math.min((FADE_IN_MS * rateHz) / 1000, pcm.length);
  for (let index = 0; index < fade; index += 1) pcm[index] = ((pcm[index] ?? 0) * index) / fade;
  return pcm;
}

/** The audio faded out over its whole length. */
export function fadedOut(audio: Int16Array): Int16Array {
  const pcm = Int16Array.from(audio);
  for (let index = 0; index < pcm.length; index += 1) pcm[index] = (pcm[index] ?? 0) * (1 - (index + 1) / pcm.length);
  return pcm;
}

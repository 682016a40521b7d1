import { logLevelDb } from '../../audio/level.ts';

/**
 * One sentence on its way to the caller: its audio as far as it has been made, and how much of it was sent. What was sent
 * is kept for some seconds, so that speech can go on from the word that was cut.
 */
export class PlayoutUnit {
  readonly id: string;
  readonly #audio = new AudioBlocks();
  #ended = false;
  sentSamples = 0;
  /** Where the last mark stands, in samples. */
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

  /** Lets go of what was sent more than this many samples before the next that will be. */
  forgetSent(keptSamples: number): void {
    this.#audio.forgetBefore(this.sentSamples - keptSamples);
  }

  /**
   * Ends it where it has been sent, with what comes next faded out over at most `fadeSamples`.
   * @returns how many samples will never be sent
   */
  shorten(fadeSamples: number, fadeOut: (audio: Int16Array) => Int16Array): number {
    const tail = this.sentSamples === 0 ? this.peek(0) : this.peek(fadeSamples);
    this.#audio.write(this.sentSamples, fadeOut(tail));
    const droppedSamples = this.unsentSamples - tail.length;
    this.#audio.truncate(this.#audio.length - droppedSamples);
    this.#ended = true;
    return droppedSamples;
  }

  /** The next `count` unsent samples, which may be a view; fewer when fewer are there. */
  peek(count: number): Int16Array {
    return this.#audio.between(this.sentSamples, this.sentSamples + count);
  }

  /**
   * Moves back to where speech can go on after a cut: the quietest 20 ms within `reachMs` before `cutSamples`, which is
   * the nearest thing to a word's start that the sound itself tells; of a pause its end, so that nobody waits through it again.
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

/** A frame so far below the loudest is in a pause if it is within the other of the quietest. */
const PAUSE_DB = 15;
const ALIKE_DB = 4;

/** Which of these frames to go on with: the last of the quietest pause, or the quietest frame where there is no pause. */
function goesOnAt(levels: readonly number[]): number {
  const quietestDb = Math.min(...levels);
  const loudestDb = Math.max(...levels);
  let at = Math.max(0, levels.lastIndexOf(quietestDb));
  if (loudestDb - quietestDb < PAUSE_DB) return at;
  while ((levels[at + 1] ?? Number.POSITIVE_INFINITY) <= quietestDb + ALIKE_DB) at += 1;
  return at;
}

/** Half a second at 8 kHz: a short sentence takes little more than it is long, and a long one is never copied to grow. */
const BLOCK_SAMPLES = 4_000;
const EMPTY = new Int16Array();

/** Samples that grow at their end, in blocks, of which the first can be let go of. */
export class AudioBlocks {
  readonly #blocks: Int16Array[] = [];
  #length = 0;
  /** Blocks that are no longer here. */
  #forgotten = 0;

  get length(): number {
    return this.#length;
  }

  /** The first sample that is still here. */
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

  /** Lets go of what is before this place, as far as it fills blocks; the places of the others stay as they are. */
  forgetBefore(place: number): void {
    for (const last = Math.floor(Math.min(place, this.#length) / BLOCK_SAMPLES); this.#forgotten < last; this.#forgotten += 1)
      this.#blocks[this.#forgotten] = EMPTY;
  }

  /** Puts other samples in the place of these; all of them must be there. */
  write(at: number, audio: Int16Array): void {
    for (let from = 0; from < audio.length;) {
      const place = (at + from) % BLOCK_SAMPLES;
      const count = Math.min(BLOCK_SAMPLES - place, audio.length - from);
      const part = count === audio.length ? audio : audio.subarray(from, from + count);
      this.#blocks[Math.floor((at + from) / BLOCK_SAMPLES)]?.set(part, place);
      from += count;
    }
  }

  /** What stands between these places, none of which may be forgotten: a view where it lies in one block, else a copy. */
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

  /** Forgets what is behind this place. */
  truncate(length: number): void {
    this.#length = length;
    this.#blocks.length = Math.ceil(length / BLOCK_SAMPLES);
  }
}

const FADE_IN_MS = 10;

/** The same audio, its first 10 ms rising from silence. */
export function fadedIn(audio: Int16Array, rateHz: number): Int16Array {
  const pcm = Int16Array.from(audio);
  const fade = Math.min((FADE_IN_MS * rateHz) / 1000, pcm.length);
  for (let index = 0; index < fade; index += 1) pcm[index] = ((pcm[index] ?? 0) * index) / fade;
  return pcm;
}

/** The same audio, falling to silence over its whole length. */
export function fadedOut(audio: Int16Array): Int16Array {
  const pcm = Int16Array.from(audio);
  for (let index = 0; index < pcm.length; index += 1) pcm[index] = (pcm[index] ?? 0) * (1 - (index + 1) / pcm.length);
  return pcm;
}

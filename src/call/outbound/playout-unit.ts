import { logLevelDb } from '../../audio/level.ts';
import { AudioBlocks } from './audio-blocks.ts';

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

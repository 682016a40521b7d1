import { bytesPerSample, type AudioFormat, type Encoding } from '../../audio/format.ts';
import { AudioBlocks } from './audio-blocks.ts';

/**
 * One sentence on its way to the caller: its audio as far as it has been made, and how much of it was sent. What was sent
 * is kept for some seconds, so that speech can go on from the word that was cut.
 */
export class PlayoutUnit {
  readonly id: string;
  readonly #audio = new AudioBlocks();
  #ended = false;
  sentBytes = 0;
  /** Where the last mark stands, in bytes. */
  markedBytes = 0;
  finalMarkSent = false;

  constructor(id: string) {
    this.id = id;
  }

  /** Appends a copy of `audio`. */
  push(audio: Uint8Array): void {
    this.#audio.append(audio);
  }

  end(): void {
    this.#ended = true;
  }

  get ended(): boolean {
    return this.#ended;
  }

  get byteLength(): number {
    return this.#audio.length;
  }

  get unsentBytes(): number {
    return this.#audio.length - this.sentBytes;
  }

  get complete(): boolean {
    return this.#ended && this.sentBytes >= this.#audio.length;
  }

  /** Lets go of what was sent more than this many bytes before the next that will be. */
  forgetSent(keptBytes: number): void {
    this.#audio.forgetBefore(this.sentBytes - keptBytes);
  }

  /**
   * Ends it where it has been sent, with what comes next faded out over at most `fadeBytes`.
   * @returns how many bytes will never be sent
   */
  shorten(fadeBytes: number, fadeOut: (audio: Uint8Array) => Uint8Array): number {
    const tail = this.sentBytes === 0 ? this.peek(0) : this.peek(fadeBytes);
    this.#audio.write(this.sentBytes, fadeOut(tail));
    const droppedBytes = this.unsentBytes - tail.length;
    this.#audio.truncate(this.#audio.length - droppedBytes);
    this.#ended = true;
    return droppedBytes;
  }

  /** The next `byteLength` unsent bytes, which may be a view; fewer when fewer are there. */
  peek(byteLength: number): Uint8Array {
    return this.#audio.between(this.sentBytes, this.sentBytes + byteLength);
  }

  /**
   * Moves back to where speech can go on after a cut: the quietest 20 ms within `reachMs` before `cutBytes`, which is
   * the nearest thing to a word's start that the sound itself tells; of a pause its end, so that nobody waits through it again.
   */
  rewindTo(cutBytes: number, format: AudioFormat, reachMs: number): void {
    const frameBytes = (format.rateHz / 50) * bytesPerSample(format.encoding);
    const end = Math.min(this.#audio.length, cutBytes);
    const cut = end - (end % frameBytes);
    const kept = Math.ceil(this.#audio.start / frameBytes) * frameBytes;
    const first = Math.max(kept, cut - Math.round(reachMs / 20) * frameBytes);
    const levels: number[] = [];
    for (let at = first; at <= cut - frameBytes; at += frameBytes)
      levels.push(levelDb(format.encoding, this.#audio.between(at, at + frameBytes)));
    this.sentBytes = cut < frameBytes ? 0 : first + goesOnAt(levels) * frameBytes;
    this.markedBytes = this.sentBytes;
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
  while (at + 1 < levels.length && levels[at + 1]! <= quietestDb + ALIKE_DB) at += 1;
  return at;
}

/** A codec's magnitudes are logarithms: sixteen for 6 dB. */
const CODE_DB = 6 / 16;

/** About the level of a frame; good only for comparing frames of one encoding. */
function levelDb(encoding: Encoding, frame: Uint8Array): number {
  let sum = 0;
  switch (encoding) {
    case 'mulaw':
      for (const byte of frame) sum += ~byte & 0x7f;
      return (CODE_DB * sum) / frame.length;
    case 'alaw':
      for (const byte of frame) sum += (byte ^ 0x55) & 0x7f;
      return (CODE_DB * sum) / frame.length;
    case 'pcm16':
      for (let at = 1; at < frame.length; at += 2) sum += Math.abs(((frame[at] ?? 0) << 24) >> 24);
      return 20 * Math.log10(1 + (2 * sum) / frame.length);
  }
}

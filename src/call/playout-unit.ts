import { bytesPerSample, type AudioFormat, type Encoding } from '../audio/format.ts';
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
   * the nearest thing to a word's start that the sound itself tells.
   */
  rewindTo(cutBytes: number, format: AudioFormat, reachMs: number): void {
    const frameBytes = (format.rateHz / 50) * bytesPerSample(format.encoding);
    const end = Math.min(this.#audio.length, cutBytes);
    const cut = end - (end % frameBytes);
    const kept = Math.ceil(this.#audio.start / frameBytes) * frameBytes;
    const first = Math.max(kept, cut - Math.round(reachMs / 20) * frameBytes);
    let quietest = first;
    let quietestLevel = Number.POSITIVE_INFINITY;
    for (let at = first; at <= cut - frameBytes; at += frameBytes) {
      const level = loudness(format.encoding, this.#audio.between(at, at + frameBytes));
      if (level <= quietestLevel) {
        quietestLevel = level;
        quietest = at;
      }
    }
    this.sentBytes = cut < frameBytes ? 0 : quietest;
    this.markedBytes = this.sentBytes;
    this.finalMarkSent = false;
  }
}

/** A number that grows with the level of a frame; good only for comparing frames of one encoding. */
function loudness(encoding: Encoding, frame: Uint8Array): number {
  let sum = 0;
  switch (encoding) {
    case 'mulaw':
      for (const byte of frame) sum += ~byte & 0x7f;
      return sum;
    case 'alaw':
      for (const byte of frame) sum += (byte ^ 0x55) & 0x7f;
      return sum;
    case 'pcm16':
      for (let at = 1; at < frame.length; at += 2) sum += Math.abs(((frame[at] ?? 0) << 24) >> 24);
      return sum;
  }
}

import { bytesPerSample, type AudioFormat, type Encoding } from '../audio/format.ts';

const FIRST_CAPACITY_BYTES = 16_000;

/**
 * One sentence on its way to the caller: its audio as far as it has been made, and how much of it was sent. The audio is
 * kept until the unit is dropped, so that speech can go on from the word that was cut.
 */
export class PlayoutUnit {
  readonly id: string;
  #bytes = new Uint8Array(FIRST_CAPACITY_BYTES);
  #length = 0;
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
    const needed = this.#length + audio.length;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(audio, this.#length);
    this.#length = needed;
  }

  end(): void {
    this.#ended = true;
  }

  get ended(): boolean {
    return this.#ended;
  }

  get byteLength(): number {
    return this.#length;
  }

  get unsentBytes(): number {
    return this.#length - this.sentBytes;
  }

  get complete(): boolean {
    return this.#ended && this.sentBytes >= this.#length;
  }

  /**
   * Ends it where it has been sent, with what comes next faded out over at most `fadeBytes`.
   * @returns how many bytes will never be sent
   */
  shorten(fadeBytes: number, fadeOut: (audio: Uint8Array) => Uint8Array): number {
    const tail = this.sentBytes === 0 ? this.peek(0) : this.peek(fadeBytes);
    this.#bytes.set(fadeOut(tail), this.sentBytes);
    const droppedBytes = this.unsentBytes - tail.length;
    this.#length -= droppedBytes;
    this.#ended = true;
    return droppedBytes;
  }

  /** A view of the next `byteLength` unsent bytes; fewer when fewer are there. */
  peek(byteLength: number): Uint8Array {
    return this.#bytes.subarray(this.sentBytes, Math.min(this.#length, this.sentBytes + byteLength));
  }

  /**
   * Moves back to where speech can go on after a cut: the quietest 20 ms within `reachMs` before `cutBytes`, which is
   * the nearest thing to a word's start that the sound itself tells.
   */
  rewindTo(cutBytes: number, format: AudioFormat, reachMs: number): void {
    const frameBytes = (format.rateHz / 50) * bytesPerSample(format.encoding);
    const cut = Math.min(this.#length, cutBytes) - (Math.min(this.#length, cutBytes) % frameBytes);
    const first = Math.max(0, cut - Math.round(reachMs / 20) * frameBytes);
    let quietest = first;
    let quietestLevel = Number.POSITIVE_INFINITY;
    for (let at = first; at <= cut - frameBytes; at += frameBytes) {
      const level = loudness(format.encoding, this.#bytes.subarray(at, at + frameBytes));
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

/** Half a second of mu-law: a short sentence takes little more than it is long, and a long one is never copied to grow. */
const BLOCK_BYTES = 4_000;
const EMPTY = new Uint8Array();

/** Bytes that grow at their end, in blocks, of which the first can be let go of. */
export class AudioBlocks {
  readonly #blocks: Uint8Array[] = [];
  #length = 0;
  /** Blocks that are no longer here. */
  #forgotten = 0;

  get length(): number {
    return this.#length;
  }

  /** The first byte that is still here. */
  get start(): number {
    return this.#forgotten * BLOCK_BYTES;
  }

  /** Appends a copy of `audio`. */
  append(audio: Uint8Array): void {
    const end = this.#length + audio.length;
    while (this.#blocks.length * BLOCK_BYTES < end) this.#blocks.push(new Uint8Array(BLOCK_BYTES));
    this.#length = end;
    this.write(end - audio.length, audio);
  }

  /** Lets go of what is before this place, as far as it fills blocks; the places of the others stay as they are. */
  forgetBefore(place: number): void {
    for (const last = Math.floor(Math.min(place, this.#length) / BLOCK_BYTES); this.#forgotten < last; this.#forgotten += 1)
      this.#blocks[this.#forgotten] = EMPTY;
  }

  /** Puts other bytes in the place of these; all of them must be there. */
  write(at: number, audio: Uint8Array): void {
    for (let from = 0; from < audio.length;) {
      const place = (at + from) % BLOCK_BYTES;
      const count = Math.min(BLOCK_BYTES - place, audio.length - from);
      const part = count === audio.length ? audio : audio.subarray(from, from + count);
      this.#blocks[Math.floor((at + from) / BLOCK_BYTES)]!.set(part, place);
      from += count;
    }
  }

  /** What stands between these places, none of which may be forgotten: a view where it lies in one block, else a copy. */
  between(from: number, to: number): Uint8Array {
    const end = Math.min(to, this.#length);
    const first = Math.floor(from / BLOCK_BYTES);
    const place = from % BLOCK_BYTES;
    const count = Math.max(0, end - from);
    if (place + count <= BLOCK_BYTES) return (this.#blocks[first] ?? EMPTY).subarray(place, place + count);
    const joined = new Uint8Array(count);
    for (let at = 0, index = first; at < count; index += 1) {
      const start = at === 0 ? place : 0;
      const part = this.#blocks[index]!.subarray(start, Math.min(BLOCK_BYTES, start + count - at));
      joined.set(part, at);
      at += part.length;
    }
    return joined;
  }

  /** Forgets what is behind this place. */
  truncate(length: number): void {
    this.#length = length;
    this.#blocks.length = Math.ceil(length / BLOCK_BYTES);
  }
}

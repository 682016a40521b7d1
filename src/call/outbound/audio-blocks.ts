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

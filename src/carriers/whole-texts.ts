// RFC 6455, 5.2: of a frame's first byte the last fragment's bit and the kind, of its second the mask's bit and the length.
const WHOLE_TEXT = 0x81;
const LAST_FRAGMENT = 0x80;
const KIND = 0x0f;
const FIRST_CONTROL_KIND = 0x08;
const MASKED = 0x80;
const LENGTH = 0x7f;
const LENGTH_OF_16_BITS = 126;
const LENGTH_OF_64_BITS = 127;
const MASK_BYTES = 4;

/** Takes what `WholeTexts` finds. All bytes are lent for the time of the call. */
export interface TextSink {
  /** A text message, unmasked; whether it is UTF-8 has not been looked at. @returns false to have it handed on as it came */
  text(message: Buffer): boolean;
  /** Anything else, as it came: frames, and parts of frames. */
  rest(bytes: Buffer): void;
}

/**
 * Finds in what a client's WebSocket brings the texts that came whole: one frame, within one read, as carriers' audio does. Whatever
 * else there is (control frames, fragments, long messages, frames cut in two by a read, faults) is handed on untouched and in
 * order, to a reader that knows the whole protocol.
 */
export class WholeTexts {
  /** The first bytes of a frame that is handed on, until its length is known. */
  readonly #head = new Uint8Array(10);
  #headBytes = 0;
  /** Of a frame that is handed on, how many bytes have still to come. */
  #owedBytes = 0;
  /** A message has begun of which this is not the last fragment. */
  #unfinished = false;
  /** The text that was told last: the next one is as long and lies in the same place, as nearly all do. */
  #text: Buffer = Buffer.alloc(0);
  #textFrom = 0;

  /** @param bytes memory that `count` bytes were read into; texts are unmasked in place */
  read(bytes: Buffer, count: number, sink: TextSink): void {
    let restFrom = 0;
    for (let at = 0; at < count;) {
      const end = this.#endOfText(bytes, at, count);
      if (end === undefined) {
        at = this.#handOn(bytes, at, count);
        if (at === count) sink.rest(bytes.subarray(restFrom, count));
        continue;
      }
      if (restFrom < at) sink.rest(bytes.subarray(restFrom, at));
      const from = payloadStart(bytes, at);
      unmask(bytes, from, end);
      restFrom = end;
      if (!sink.text(this.#textAt(bytes, from, end))) {
        unmask(bytes, from, end);
        sink.rest(bytes.subarray(at, end));
      }
      at = end;
    }
  }

  #textAt(bytes: Buffer, from: number, end: number): Buffer {
    if (this.#text.length !== end - from || this.#textFrom !== from || this.#text.buffer !== bytes.buffer)
      this.#text = bytes.subarray(from, end);
    this.#textFrom = from;
    return this.#text;
  }

  /** Where the text ends that begins here, if one does and all of it is there. */
  #endOfText(bytes: Buffer, at: number, count: number): number | undefined {
    if (this.#owedBytes > 0 || this.#headBytes > 0 || this.#unfinished) return undefined;
    if (count - at < 2 + 2 + MASK_BYTES || bytes[at] !== WHOLE_TEXT) return undefined;
    const second = bytes[at + 1]!;
    if (second < MASKED || second === MASKED + LENGTH_OF_64_BITS) return undefined;
    const short = second - MASKED;
    const length = short === LENGTH_OF_16_BITS ? bytes.readUInt16BE(at + 2) : short;
    const end = payloadStart(bytes, at) + length;
    return end > count ? undefined : end;
  }

  /** Follows a frame that is handed on as far as it has come, or until its length is known. @returns where that is */
  #handOn(bytes: Buffer, from: number, count: number): number {
    let at = from;
    if (this.#owedBytes === 0) {
      const head = this.#head;
      for (; at < count && this.#headBytes < headLength(head, this.#headBytes); at += 1) head[this.#headBytes++] = bytes[at]!;
      if (this.#headBytes < headLength(head, this.#headBytes)) return at;
      const [first, second] = [head[0]!, head[1]!];
      if ((first & KIND) < FIRST_CONTROL_KIND) this.#unfinished = first < LAST_FRAGMENT;
      this.#owedBytes = payloadLength(head, this.#headBytes) + (second < MASKED ? 0 : MASK_BYTES);
      this.#headBytes = 0;
    }
    const taken = Math.min(this.#owedBytes, count - at);
    this.#owedBytes -= taken;
    return at + taken;
  }
}

/** Of a text that came whole. */
function payloadStart(bytes: Buffer, at: number): number {
  return at + 2 + (bytes[at + 1] === MASKED + LENGTH_OF_16_BITS ? 2 : 0) + MASK_BYTES;
}

/** How long a frame's head is, without the mask, as far as these of its bytes tell. */
function headLength(head: Uint8Array, known: number): number {
  const length = known < 2 ? 0 : head[1]! & LENGTH;
  if (length === LENGTH_OF_64_BITS) return 10;
  return length === LENGTH_OF_16_BITS ? 4 : 2;
}

function payloadLength(head: Uint8Array, headBytes: number): number {
  if (headBytes === 2) return head[1]! & LENGTH;
  let length = 0;
  for (let at = 2; at < headBytes; at += 1) length = length * 256 + head[at]!;
  return length;
}

/** Masks or unmasks what stands behind its mask (RFC 6455, 5.3). */
function unmask(bytes: Buffer, from: number, end: number): void {
  const a = bytes[from - 4]!;
  const b = bytes[from - 3]!;
  const c = bytes[from - 2]!;
  const d = bytes[from - 1]!;
  let at = from;
  for (; at + 3 < end; at += 4) {
    bytes[at]! ^= a;
    bytes[at + 1]! ^= b;
    bytes[at + 2]! ^= c;
    bytes[at + 3]! ^= d;
  }
  if (at < end) bytes[at]! ^= a;
  if (at + 1 < end) bytes[at + 1]! ^= b;
  if (at + 2 < end) bytes[at + 2]! ^= c;
}

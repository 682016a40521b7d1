import { LENGTH_OF_16_BITS, LENGTH_OF_64_BITS, MASK_BYTES, MASKED, WHOLE_BINARY, WHOLE_TEXT } from './frame-layout.ts';

const LAST_FRAGMENT = 0x80;
const KIND = 0x0f;
const FIRST_CONTROL_KIND = 0x08;
const LENGTH = 0x7f;

/** Takes what `WholeMessages` finds. All bytes are lent for the time of the call. */
export interface MessageSink {
  /** A message, unmasked; whether a text is UTF-8 has not been looked at. @returns false to have it handed on as it came */
  message(payload: Buffer, isBinary: boolean): boolean;
  /** Anything else, as it came: frames, and parts of frames. */
  rest(bytes: Buffer): void;
}

/**
 * Finds in what a WebSocket brings the messages that came whole: one frame, within one read, as audio does. Whatever
 * else there is (control frames, fragments, long messages, frames cut in two by a read, faults) is handed on untouched and in
 * order, to a reader that knows the whole protocol.
 */
export class WholeMessages {
  /** Of a frame's second byte, what tells that it is masked; 0 where none may be. */
  readonly #masked: number;
  readonly #maskBytes: number;
  /** The first bytes of a frame that is handed on, until its length is known. */
  readonly #head = new Uint8Array(10);
  #headBytes = 0;
  /** Of a frame that is handed on, how many bytes have still to come. */
  #owedBytes = 0;
  /** A message has begun of which this is not the last fragment. */
  #unfinished = false;
  /** What was told last: the next message is as long and lies in the same place, as nearly all do. */
  #payload: Buffer = Buffer.alloc(0);
  #payloadFrom = 0;

  /** @param masked whether they are a client's, and so have to be masked; a server's may not (RFC 6455, 5.1) */
  constructor(masked: boolean) {
    this.#masked = masked ? MASKED : 0;
    this.#maskBytes = masked ? MASK_BYTES : 0;
  }

  /** @param bytes memory that `count` bytes were read into; messages are unmasked in place */
  read(bytes: Buffer, count: number, sink: MessageSink): void {
    let restFrom = 0;
    for (let at = 0; at < count;) {
      const end = this.#endOfMessage(bytes, at, count);
      if (end === undefined) {
        at = this.#handOn(bytes, at, count);
        if (at === count) sink.rest(bytes.subarray(restFrom, count));
        continue;
      }
      if (restFrom < at) sink.rest(bytes.subarray(restFrom, at));
      const from = this.#payloadStart(bytes, at);
      if (this.#masked > 0) unmask(bytes, from, end);
      restFrom = end;
      if (!sink.message(this.#payloadAt(bytes, from, end), bytes[at] === WHOLE_BINARY)) {
        if (this.#masked > 0) unmask(bytes, from, end);
        sink.rest(bytes.subarray(at, end));
      }
      at = end;
    }
  }

  #payloadAt(bytes: Buffer, from: number, end: number): Buffer {
    if (this.#payload.length !== end - from || this.#payloadFrom !== from || this.#payload.buffer !== bytes.buffer)
      this.#payload = bytes.subarray(from, end);
    this.#payloadFrom = from;
    return this.#payload;
  }

  /** Where the message ends that begins here, if one does and all of it is there. */
  #endOfMessage(bytes: Buffer, at: number, count: number): number | undefined {
    if (this.#owedBytes > 0 || this.#headBytes > 0 || this.#unfinished) return undefined;
    if (count - at < 2 + 2 + this.#maskBytes || (bytes[at] !== WHOLE_TEXT && bytes[at] !== WHOLE_BINARY)) return undefined;
    // Too large where the mask is missing, or there is one that may not be.
    const short = bytes[at + 1]! ^ this.#masked;
    if (short >= LENGTH_OF_64_BITS) return undefined;
    const length = short === LENGTH_OF_16_BITS ? bytes.readUInt16BE(at + 2) : short;
    const end = this.#payloadStart(bytes, at) + length;
    return end > count ? undefined : end;
  }

  /** Of a message that came whole. */
  #payloadStart(bytes: Buffer, at: number): number {
    const isLong = (bytes[at + 1]! & LENGTH) === LENGTH_OF_16_BITS;
    return at + 2 + (isLong ? 2 : 0) + this.#maskBytes;
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

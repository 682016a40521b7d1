import { randomFillSync } from 'node:crypto';
import type { Socket } from 'node:net';
import { LENGTH_OF_16_BITS, LENGTH_OF_64_BITS, MASK_BYTES, MASKED, WHOLE_BINARY, WHOLE_TEXT } from './lent-reads.ts';

const LENT_BYTES = 65_536;

/** Unpredictable masking keys (RFC 6455, 10.3), drawn many at a time. */
const masks = new Int32Array(1_024);
let masksLeft = 0;
function nextMask(): number {
  if (masksLeft === 0) {
    randomFillSync(masks);
    masksLeft = masks.length;
  }
  masksLeft -= 1;
  return masks[masksLeft] ?? 0;
}

/** The part of a `ws` WebSocket that is used here. */
interface PlainSender {
  send(message: string | Uint8Array): void;
}

/**
 * Sends a WebSocket's messages from memory that all sockets share, each with one write. `ws` allocates the bytes and the header of
 * every message anew, and writes twice. Only for sockets without compression, with nothing queued in `ws` itself.
 */
export class LentWrites {
  readonly #socket: PlainSender;
  readonly #stream: Socket | undefined;
  readonly #masks: boolean;
  /** Whether the stream is TLS, which takes the bytes later than `write` returns. */
  readonly #encrypts: boolean;
  #frame = lent;

  /**
   * @param stream the socket that was upgraded; without it messages go through `ws`
   * @param masks whether this end is the client (RFC 6455, 5.3)
   */
  constructor(socket: PlainSender, stream: Socket | undefined, masks: boolean) {
    this.#socket = socket;
    this.#stream = stream;
    this.#masks = masks;
    this.#encrypts = stream !== undefined && 'encrypted' in stream;
  }

  /** Memory for a payload of this length, lent until `send`, which must follow in the same turn of the event loop. */
  room(length: number): Buffer {
    // A write behind others is taken later.
    const isTakenAtOnce = this.#stream?.writableLength === 0 && !this.#encrypts;
    this.#frame = isTakenAtOnce && length <= lent.payloadBytes ? lent : new OutgoingFrame(length);
    return this.#frame.payload(length);
  }

  /** Sends the payload that was written into `room`. The socket must be open. */
  send(kind: 'text' | 'binary', length: number): void {
    const frame = this.#frame;
    const stream = this.#stream;
    if (stream === undefined) {
      const payload = frame.payload(length);
      this.#socket.send(kind === 'text' ? payload.toString() : payload);
      return;
    }
    stream.write(frame.finish(kind, length, this.#masks ? nextMask() : undefined));
    // The kernel has not taken all bytes yet: this memory stays with the frame.
    if (frame === lent && stream.writableLength > 0) lent = new OutgoingFrame(LENT_BYTES);
  }

  sendText(text: string): void {
    const length = Buffer.byteLength(text);
    this.room(length).write(text);
    this.send('text', length);
  }

  sendBinary(bytes: Uint8Array): void {
    this.room(bytes.length).set(bytes);
    this.send('binary', bytes.length);
  }
}

/** Offset of the payload: behind the longest header and a mask, aligned to four bytes. */
const PAYLOAD_AT = 16;
const MOST_IN_7_BITS = 125;
const MOST_IN_16_BITS = 65_535;

/** The memory of one outgoing frame: the header is written right before the payload. */
class OutgoingFrame {
  readonly #bytes: Buffer;
  /** The same memory from the mask on. */
  readonly #words: Int32Array;

  constructor(payloadBytes: number) {
    const size = Math.ceil((PAYLOAD_AT + payloadBytes) / MASK_BYTES) * MASK_BYTES;
    this.#bytes = Buffer.allocUnsafe(size);
    const { buffer, byteOffset } = this.#bytes;
    const maskAt = PAYLOAD_AT - MASK_BYTES;
    this.#words = new Int32Array(buffer, byteOffset + maskAt, (size - maskAt) / MASK_BYTES);
  }

  /** The longest payload that fits. */
  get payloadBytes(): number {
    return this.#bytes.length - PAYLOAD_AT;
  }

  /** The memory for a payload. */
  payload(length: number): Buffer {
    return this.#bytes.subarray(PAYLOAD_AT, PAYLOAD_AT + length);
  }

  /** The frame around the payload, masked in place. @param mask undefined for a server's frame */
  finish(kind: 'text' | 'binary', length: number, mask: number | undefined): Buffer {
    const bytes = this.#bytes;
    const headEnd = PAYLOAD_AT - (mask === undefined ? 0 : MASK_BYTES);
    const lengthBytes = length <= MOST_IN_7_BITS ? 0 : length <= MOST_IN_16_BITS ? 2 : 8;
    const from = headEnd - lengthBytes - 2;
    const short = lengthBytes === 0 ? length : lengthBytes === 2 ? LENGTH_OF_16_BITS : LENGTH_OF_64_BITS;
    bytes[from] = kind === 'text' ? WHOLE_TEXT : WHOLE_BINARY;
    bytes[from + 1] = mask === undefined ? short : short | MASKED;
    if (lengthBytes === 2) bytes.writeUInt16BE(length, from + 2);
    else if (lengthBytes === 8) bytes.writeBigUInt64BE(BigInt(length), from + 2);
    if (mask !== undefined) this.#mask(mask, length);
    return bytes.subarray(from, PAYLOAD_AT + length);
  }

  /** Masks four bytes at a time (RFC 6455, 5.3); up to three bytes behind the payload change, which are unused. */
  #mask(mask: number, length: number): void {
    const words = this.#words;
    const end = 1 + Math.ceil(length / MASK_BYTES);
    words[0] = mask;
    for (let at = 1; at < end; at += 1) words[at] = (words[at] ?? 0) ^ mask;
  }
}

/** Memory in which the messages of all sockets are built, one at a time. */
let lent = new OutgoingFrame(LENT_BYTES);

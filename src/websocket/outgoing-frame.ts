import { LENGTH_OF_16_BITS, LENGTH_OF_64_BITS, MASK_BYTES, MASKED, WHOLE_BINARY, WHOLE_TEXT } from './frame-layout.ts';

/** Where a payload begins: behind the longest head and a mask, and where a word of four bytes may begin. */
const PAYLOAD_AT = 16;
const MOST_IN_7_BITS = 125;
const MOST_IN_16_BITS = 65_535;

/** The memory of one frame to be sent, made around its payload: the head ends where that begins. */
export class OutgoingFrame {
  readonly #bytes: Buffer;
  /** The same, from the mask on. */
  readonly #words: Int32Array;

  constructor(payloadBytes: number) {
    const size = Math.ceil((PAYLOAD_AT + payloadBytes) / MASK_BYTES) * MASK_BYTES;
    this.#bytes = Buffer.allocUnsafe(size);
    const { buffer, byteOffset } = this.#bytes;
    const maskAt = PAYLOAD_AT - MASK_BYTES;
    this.#words = new Int32Array(buffer, byteOffset + maskAt, (size - maskAt) / MASK_BYTES);
  }

  /** The longest payload there is room for. */
  get payloadBytes(): number {
    return this.#bytes.length - PAYLOAD_AT;
  }

  /** Where the payload is to be put. */
  payload(length: number): Buffer {
    return this.#bytes.subarray(PAYLOAD_AT, PAYLOAD_AT + length);
  }

  /** The frame around what was put there, masked in place. @param mask undefined for a server's */
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

  /** RFC 6455, 5.3, four bytes at a time; what that changes behind the payload is nothing's. */
  #mask(mask: number, length: number): void {
    const words = this.#words;
    const end = 1 + Math.ceil(length / MASK_BYTES);
    words[0] = mask;
    for (let at = 1; at < end; at += 1) words[at]! ^= mask;
  }
}

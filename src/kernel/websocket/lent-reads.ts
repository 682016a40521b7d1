import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';

// RFC 6455, 5.2: a frame's first byte has FIN and the opcode, its second the mask bit and the length.
export const WHOLE_TEXT = 0x81;
export const WHOLE_BINARY = 0x82;
export const MASKED = 0x80;
/** Values of the 7-bit length for a length in the next 16 or 64 bits. */
export const LENGTH_OF_16_BITS = 126;
export const LENGTH_OF_64_BITS = 127;
export const MASK_BYTES = 4;

const LAST_FRAGMENT = 0x80;
const KIND = 0x0f;
const FIRST_CONTROL_KIND = 0x08;
const LENGTH = 0x7f;

/** Memory that all sockets of calls are read into, one at a time; as large as Node's own reads. */
const lent = Buffer.allocUnsafeSlow(65_536);

/**
 * Reads a WebSocket into shared memory, where this Node allows it, and takes whole messages from there. Without this, Node
 * allocates 64 KB for each message of 400 bytes, and the message passes a stream and events. Whole messages go to `take`, valid
 * during the call only; everything else arrives as events of `ws`.
 * @param stream the socket that was upgraded
 * @param masked whether the other end is the client
 * @returns false when this Node does not allow it: then all messages arrive as events of `ws`
 */
export function takeMessages(
  socket: WebSocket,
  stream: Socket,
  masked: boolean,
  take: (payload: Buffer, isBinary: boolean) => void,
): boolean {
  // Bytes that arrived before the upgrade are in the stream already, and may end within a frame.
  if (stream.readableLength > 0) return false;
  const messages = new WholeMessages(masked);
  let wantsMore = true;
  const sink: MessageSink = {
    message(payload, isBinary) {
      // Only in order, and only while `ws` itself would emit it.
      const inTurn = stream.readableLength === 0 && stream.readableFlowing === true;
      if (!inTurn || socket.readyState !== WebSocket.OPEN || (!isBinary && !isUtf8(payload))) return false;
      take(payload, isBinary);
      return true;
    },
    rest(bytes) {
      wantsMore = stream.push(Buffer.from(bytes));
    },
  };
  return readInto(lent, stream, (count) => {
    wantsMore = true;
    messages.read(lent, count, sink);
    return wantsMore;
  });
}

/**
 * The same as `onread` of `net.connect` (nodejs.org/api/net.html), which Node offers only for sockets that it opens: sets the same
 * internal fields, if this version of Node has them.
 * @param onRead gets the number of bytes read; returns false to pause until the stream is resumed
 */
function readInto(memory: Buffer, stream: Socket, onRead: (count: number) => boolean): boolean {
  const symbols = Object.getOwnPropertySymbols(stream);
  const buffer = symbols.find(({ description }) => description === 'kBuffer');
  const callback = symbols.find(({ description }) => description === 'kBufferCb');
  const inside = stream as unknown as Record<symbol, unknown> & { _handle?: { useUserBuffer?: (memory: Buffer) => void } };
  if (buffer === undefined || callback === undefined || typeof inside._handle?.useUserBuffer !== 'function') return false;
  inside[buffer] = memory;
  inside[callback] = onRead;
  inside._handle.useUserBuffer(memory);
  return true;
}

/** Receives what `WholeMessages` finds. All bytes are valid during the call only. */
interface MessageSink {
  /** An unmasked message; a text's UTF-8 is not checked. @returns false to get the frame by `rest` instead */
  message(payload: Buffer, isBinary: boolean): boolean;
  /** Anything else, unchanged: frames, and parts of frames. */
  rest(bytes: Buffer): void;
}

/**
 * Finds the messages in a WebSocket's bytes that are one frame within one read, as audio is. Everything else (control frames,
 * fragments, long messages, frames cut by a read, protocol errors) is passed on unchanged and in order, to a reader of the whole
 * protocol.
 */
export class WholeMessages {
  /** The mask bit in a frame's second byte; 0 where frames are not masked. */
  readonly #masked: number;
  readonly #maskBytes: number;
  /** The first bytes of a frame that is passed on, until its length is known. */
  readonly #head = new Uint8Array(10);
  #headBytes = 0;
  /** Bytes still to come of a frame that is passed on. */
  #owedBytes = 0;
  /** A fragmented message is open. */
  #unfinished = false;
  /** The last payload: nearly all messages have the same length and place, so its Buffer object is used again. */
  #payload: Buffer = Buffer.alloc(0);
  #payloadFrom = 0;

  /** @param masked whether the frames are a client's, which are masked; a server's are not (RFC 6455, 5.1) */
  constructor(masked: boolean) {
    this.#masked = masked ? MASKED : 0;
    this.#maskBytes = masked ? MASK_BYTES : 0;
  }

  /** @param bytes memory with `count` bytes that were read; messages are unmasked in place */
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

  /** The end of the complete message that begins here; undefined for an incomplete one. */
  #endOfMessage(bytes: Buffer, at: number, count: number): number | undefined {
    if (this.#owedBytes > 0 || this.#headBytes > 0 || this.#unfinished) return undefined;
    if (count - at < 2 + 2 + this.#maskBytes || (bytes[at] !== WHOLE_TEXT && bytes[at] !== WHOLE_BINARY)) return undefined;
    // A missing or forbidden mask bit makes it too large.
    const short = (bytes[at + 1] ?? 0) ^ this.#masked;
    if (short >= LENGTH_OF_64_BITS) return undefined;
    const length = short === LENGTH_OF_16_BITS ? bytes.readUInt16BE(at + 2) : short;
    const end = this.#payloadStart(bytes, at) + length;
    return end > count ? undefined : end;
  }

  /** Start of a whole message's payload. */
  #payloadStart(bytes: Buffer, at: number): number {
    const isLong = ((bytes[at + 1] ?? 0) & LENGTH) === LENGTH_OF_16_BITS;
    return at + 2 + (isLong ? 2 : 0) + this.#maskBytes;
  }

  /** Follows a frame that is passed on. @returns how far: its end, the end of the read, or where its length is unknown */
  #handOn(bytes: Buffer, from: number, count: number): number {
    let at = from;
    if (this.#owedBytes === 0) {
      const head = this.#head;
      for (; at < count && this.#headBytes < headLength(head, this.#headBytes); at += 1) head[this.#headBytes++] = bytes[at] ?? 0;
      if (this.#headBytes < headLength(head, this.#headBytes)) return at;
      const [first = 0, second = 0] = head;
      if ((first & KIND) < FIRST_CONTROL_KIND) this.#unfinished = first < LAST_FRAGMENT;
      this.#owedBytes = payloadLength(head, this.#headBytes) + (second < MASKED ? 0 : MASK_BYTES);
      this.#headBytes = 0;
    }
    const taken = Math.min(this.#owedBytes, count - at);
    this.#owedBytes -= taken;
    return at + taken;
  }
}

/** Length of a frame's header without the mask, as far as its first bytes tell. */
function headLength(head: Uint8Array, known: number): number {
  const length = known < 2 ? 0 : (head[1] ?? 0) & LENGTH;
  if (length === LENGTH_OF_64_BITS) return 10;
  return length === LENGTH_OF_16_BITS ? 4 : 2;
}

function payloadLength(head: Uint8Array, headBytes: number): number {
  if (headBytes === 2) return (head[1] ?? 0) & LENGTH;
  return head.subarray(2, headBytes).reduce((length, byte) => length * 256 + byte, 0);
}

/** Masks or unmasks the bytes behind a mask (RFC 6455, 5.3). */
function unmask(bytes: Buffer, from: number, end: number): void {
  const a = bytes[from - 4] ?? 0;
  const b = bytes[from - 3] ?? 0;
  const c = bytes[from - 2] ?? 0;
  const d = bytes[from - 1] ?? 0;
  let at = from;
  for (; at + 3 < end; at += 4) {
    bytes[at] = (bytes[at] ?? 0) ^ a;
    bytes[at + 1] = (bytes[at + 1] ?? 0) ^ b;
    bytes[at + 2] = (bytes[at + 2] ?? 0) ^ c;
    bytes[at + 3] = (bytes[at + 3] ?? 0) ^ d;
  }
  if (at < end) bytes[at] = (bytes[at] ?? 0) ^ a;
  if (at + 1 < end) bytes[at + 1] = (bytes[at + 1] ?? 0) ^ b;
  if (at + 2 < end) bytes[at + 2] = (bytes[at + 2] ?? 0) ^ c;
}

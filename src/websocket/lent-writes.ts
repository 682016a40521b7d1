import { randomFillSync } from 'node:crypto';
import type { Socket } from 'node:net';
import { OutgoingFrame } from './outgoing-frame.ts';

const LENT_BYTES = 65_536;

/** What the messages of all sockets are made in, one at a time. */
let lent = new OutgoingFrame(LENT_BYTES);

/** Keys nobody can foretell (RFC 6455, 10.3), drawn many at a time. */
const masks = new Int32Array(1_024);
let masksLeft = 0;
function nextMask(): number {
  if (masksLeft === 0) {
    randomFillSync(masks);
    masksLeft = masks.length;
  }
  masksLeft -= 1;
  return masks[masksLeft]!;
}

/** A WebSocket's own way to send; `ws` has it, and so has a stand-in in a test. */
interface OwnWay {
  send(message: string | Uint8Array): void;
}

/**
 * Sends the messages of a WebSocket of ours out of memory that all of them share, in one piece each. By `ws` a message is a text, its bytes, a
 * head and two writes, all of it new. Only for sockets without compression, of which nothing waits in `ws` itself.
 */
export class LentWrites {
  readonly #socket: OwnWay;
  readonly #stream: Socket | undefined;
  readonly #masks: boolean;
  /** Whether what is written is encrypted first, and so taken later. */
  readonly #encrypts: boolean;
  #frame = lent;

  /**
   * @param stream what the WebSocket was upgraded from; without it everything goes the WebSocket's own way
   * @param masks whether this end is the client (RFC 6455, 5.3)
   */
  constructor(socket: OwnWay, stream: Socket | undefined, masks: boolean) {
    this.#socket = socket;
    this.#stream = stream;
    this.#masks = masks;
    this.#encrypts = stream !== undefined && 'encrypted' in stream;
  }

  /** Memory for a payload of this length, lent until `send`: nothing else may happen in between. */
  room(length: number): Buffer {
    // What waits behind others is taken later, too.
    const isTakenAtOnce = this.#stream?.writableLength === 0 && !this.#encrypts;
    this.#frame = isTakenAtOnce && length <= lent.payloadBytes ? lent : new OutgoingFrame(length);
    return this.#frame.payload(length);
  }

  /** Sends what was put into the room, all of it. The socket must be open. */
  send(kind: 'text' | 'binary', length: number): void {
    const frame = this.#frame;
    const stream = this.#stream;
    if (stream === undefined) {
      const payload = frame.payload(length);
      this.#socket.send(kind === 'text' ? payload.toString() : payload);
      return;
    }
    stream.write(frame.finish(kind, length, this.#masks ? nextMask() : undefined));
    // What the system did not take at once is still to be read from there.
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

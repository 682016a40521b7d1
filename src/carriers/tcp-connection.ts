import type { Socket } from 'node:net';
import type { Clock, Timer } from '../kernel/clock.ts';
import type { MessageSink } from './media-codec.ts';
import type { ConnectionListener, MediaConnection } from './media-connection.ts';

/** Message framing in a TCP stream. */
export interface TcpFraming {
  /** Longest head of a message. */
  readonly headBytes: number;
  /** Length of the message with this head, head included; undefined for an invalid head. */
  readonly lengthOf: (head: Uint8Array) => number | undefined;
  /** Sent once the connection has its call, and after each `afterMs` without output: the peer drops a silent connection. */
  readonly idle: { readonly afterMs: number; readonly message: Uint8Array };
}

const OPEN = 1;
const CLOSED = 3;

/** A carrier's media over TCP, with its own framing. Each message is a single write. */
export class TcpConnection implements MediaConnection {
  readonly writes: MessageSink = {
    room: (length) => (this.#room = Buffer.allocUnsafe(length)),
    send: (_kind, length) => this.#write(this.#room.subarray(0, length)),
    sendText: () => {
      throw new TypeError('there is no text over TCP');
    },
  };
  readonly #socket: Socket;
  readonly #framing: TcpFraming;
  readonly #clock: Clock;
  #room = Buffer.alloc(0);
  /** The start of an incomplete message. */
  #pending: Buffer;
  #listener: ConnectionListener | undefined;
  #sentMs = Number.NEGATIVE_INFINITY;
  #timer: Timer;
  #isOver = false;
  /** Set when we end it, or cannot read it: further input is dropped. */
  #isDeaf = false;

  /** @param early bytes read before */
  constructor(socket: Socket, { framing, early, clock }: { framing: TcpFraming; early: Buffer; clock: Clock }) {
    this.#socket = socket;
    this.#framing = framing;
    this.#clock = clock;
    this.#pending = early;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 10_000);
    this.#timer = clock.after(framing.idle.afterMs, () => this.#keepUp());
    this.#write(framing.idle.message);
  }

  get readyState(): number {
    return this.#socket.destroyed || this.#isOver ? CLOSED : this.#socket.writable ? OPEN : 2;
  }

  get bufferedAmount(): number {
    return this.#socket.writableLength;
  }

  listen(listener: ConnectionListener): void {
    this.#listener = listener;
    const socket = this.#socket;
    socket.on('error', (error) => listener.problem(`connection failed: ${error.message}`));
    socket.once('close', (hadError) => this.#closed(hadError ? 1006 : 1000));
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    // Early bytes are read after the caller's current turn.
    queueMicrotask(() => this.#read(Buffer.alloc(0)));
    socket.resume();
    if (socket.destroyed) this.#closed(1006);
  }

  /** A vanished peer does not acknowledge the idle message: the system notices, and closes. */
  ping(): void {
    this.#listener?.alive();
  }

  close(): void {
    this.#isDeaf = true;
    this.#timer.cancel();
    this.#socket.end();
  }

  terminate(): void {
    this.#socket.resetAndDestroy();
  }

  #write(message: Uint8Array): void {
    if (!this.#socket.writable) return;
    this.#sentMs = this.#clock.nowMs();
    this.#socket.write(message);
  }

  #keepUp(): void {
    const { afterMs, message } = this.#framing.idle;
    const idleMs = this.#clock.nowMs() - this.#sentMs;
    if (idleMs >= afterMs) this.#write(message);
    this.#timer = this.#clock.after(idleMs >= afterMs ? afterMs : afterMs - idleMs, () => this.#keepUp());
  }

  #read(chunk: Buffer): void {
    let bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const { headBytes, lengthOf } = this.#framing;
    while (!this.#isDeaf && bytes.length >= headBytes) {
      const length = lengthOf(bytes.subarray(0, headBytes));
      if (length === undefined) {
        this.#isDeaf = true;
        this.#listener?.problem(
          `no message begins with ${bytes.subarray(0, headBytes).toString('hex')}; the connection is closed`,
        );
        this.terminate();
        return;
      }
      if (bytes.length < length) break;
      const message = bytes.subarray(0, length);
      bytes = bytes.subarray(length);
      this.#listener?.message(message, true);
    }
    // A few bytes of a large read are copied, to release it.
    this.#pending = bytes.length === 0 ? Buffer.alloc(0) : Buffer.from(bytes);
  }

  #closed(code: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#isDeaf = true;
    this.#timer.cancel();
    this.#listener?.closed(code, '');
  }
}

import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import { takeMessages } from '../kernel/websocket/lent-reads.ts';
import { LentWrites } from '../kernel/websocket/lent-writes.ts';
import { maxMessageBytes, type MessageSink } from './media-codec.ts';

/** The part of a carrier's connection that an attachment uses. */
export interface MediaSocket {
  /** 1 while open, as for a WebSocket. */
  readonly readyState: number;
  readonly bufferedAmount: number;
  /** Checks that the other end is alive; reported as `alive`. */
  ping(): void;
  close(code: number, reason: string): void;
  terminate(): void;
}

/** Events of a connection, in order; nothing follows `closed`. */
export interface ConnectionListener {
  /** One complete message, valid during the call only. */
  message(data: Buffer, isBinary: boolean): void;
  alive(): void;
  /** Unreadable input; `closed` follows. */
  problem(problem: string): void;
  closed(code: number, reason: string): void;
}

/** A carrier's media connection over a WebSocket or TCP (`tcp-connection.ts`). */
export interface MediaConnection extends MediaSocket {
  readonly writes: MessageSink;
  /** Call once, immediately. */
  listen(listener: ConnectionListener): void;
}

export class WebSocketConnection implements MediaConnection {
  readonly writes: MessageSink;
  readonly #socket: WebSocket;
  readonly #stream: Socket | undefined;

  /** @param stream the socket it was upgraded from; undefined where that is not a Node socket */
  constructor(socket: WebSocket, stream: Socket | undefined) {
    this.#socket = socket;
    this.#stream = stream;
    this.writes = new LentWrites(socket, stream, false);
  }

  get readyState(): number {
    return this.#socket.readyState;
  }

  get bufferedAmount(): number {
    return this.#socket.bufferedAmount;
  }

  listen(listener: ConnectionListener): void {
    const socket = this.#socket;
    const take = (data: Buffer, isBinary: boolean): void => listener.message(data, isBinary);
    if (this.#stream !== undefined) takeMessages(socket, this.#stream, true, take);
    socket.on('message', (data, isBinary) => take(bytesOf(data), isBinary));
    socket.on('pong', () => listener.alive());
    // `ws` reports unreadable input here, then closes with the matching code; the close event does the rest.
    socket.on('error', (error) => {
      const tooLong = 'code' in error && error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
      listener.problem(
        tooLong ? `message longer than ${maxMessageBytes} bytes; the socket is closed` : `socket failed: ${error.message}`,
      );
    });
    socket.on('close', (code, reason) => listener.closed(code, reason.toString('utf8')));
  }

  ping(): void {
    this.#socket.ping();
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

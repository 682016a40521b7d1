import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { maxMessageBytes } from '../carriers/media-codec.ts';
import type { Clock } from '../kernel/clock.ts';

/** A client that does not answer the close within this time is cut off. */
const CLOSE_WITHIN_MS = 2_000;

export interface GivenUpgrade {
  readonly headers: Readonly<Record<string, string>>;
  /** What came behind the request. */
  readonly early: Buffer;
  /** The upgrade was answered already (`kernel/websocket/first-messages.ts`). */
  readonly answered?: boolean | undefined;
}

/** Upgrades sockets that somebody else has accepted and let in: another process, or a reader of their first messages. */
export class GivenSockets {
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, perMessageDeflate: false });
  /** Read by somebody who is yet to say whose they are. */
  readonly #held = new Set<Socket>();

  /** Has a socket end with the process until it is upgraded or given away. @returns gives it away */
  hold(socket: Socket): () => void {
    this.#held.add(socket);
    const release = (): void => void this.#held.delete(socket);
    socket.once('close', release);
    return release;
  }

  /**
   * @param onOpen told at once when the socket is upgraded, before anything that it brings
   * @param onRefused the request is no upgrade, or its client is gone; the socket is closed then
   */
  upgrade(
    socket: Socket,
    { headers, early, answered = false }: GivenUpgrade,
    onOpen: (socket: WebSocket) => void,
    onRefused: () => void,
  ): void {
    const request = new IncomingMessage(socket);
    request.method = 'GET';
    Object.assign(request.headers, headers);
    this.#held.delete(socket);
    // `ws` says nothing of a socket that is gone already.
    if (socket.destroyed) return onRefused();
    socket.once('close', onRefused);
    if (answered) swallowNextWrite(socket);
    this.#server.handleUpgrade(request, socket, early, (opened) => {
      socket.off('close', onRefused);
      onOpen(opened);
    });
  }

  /** Tells every client that the process stops, and ends those that do not answer, so that none holds it up. */
  close(reason: string, clock: Clock, withinMs = CLOSE_WITHIN_MS): void {
    for (const socket of this.#held) socket.destroy();
    for (const client of this.#server.clients) {
      const timer = clock.after(withinMs, () => client.terminate());
      client.once('close', () => timer.cancel());
      client.close(1001, reason);
    }
  }
}

/** The answer to the upgrade is the first thing that `ws` writes, and the client has it. */
function swallowNextWrite(socket: Socket): void {
  socket.write = () => {
    // Uncovers the method of all sockets.
    Reflect.deleteProperty(socket, 'write');
    return true;
  };
}

import { Buffer } from 'node:buffer';
import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { maxMessageBytes } from '../carriers/media-codec.ts';

export interface GivenUpgrade {
  readonly headers: Readonly<Record<string, string>>;
  /** What came behind the request, in base64. */
  readonly early: string;
}

/** Upgrades sockets that another process has accepted and let in. */
export class GivenSockets {
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, perMessageDeflate: false });

  /**
   * @param onOpen told at once when the socket is upgraded, before anything that it brings
   * @param onRefused the request is no upgrade, or its client is gone; the socket is closed then
   */
  upgrade(socket: Socket, { headers, early }: GivenUpgrade, onOpen: (socket: WebSocket) => void, onRefused: () => void): void {
    const request = new IncomingMessage(socket);
    request.method = 'GET';
    Object.assign(request.headers, headers);
    socket.once('close', onRefused);
    this.#server.handleUpgrade(request, socket, Buffer.from(early, 'base64'), (opened) => {
      socket.off('close', onRefused);
      onOpen(opened);
    });
  }

  /** Tells every client that the process stops. */
  close(reason: string): void {
    for (const client of this.#server.clients) client.close(1001, reason);
  }
}

import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { maxMessageBytes } from '../carriers/media-codec.ts';
import type { Clock } from '../kernel/clock.ts';
import type { FastifyInstance } from 'fastify';
import { hasCode, errorText, OffhookError } from '../kernel/errors.ts';
import { portOwner } from '../kernel/port-owner.ts';

/** A client that ignores the close for this long is cut off. */
const CLOSE_WITHIN_MS = 2_000;

export interface GivenUpgrade {
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes after the request. */
  readonly early: Buffer;
  /** The upgrade was already answered (`kernel/websocket/first-messages.ts`). */
  readonly answered?: boolean | undefined;
}

/** Upgrades sockets accepted elsewhere: by another process, or by a reader of their first messages. */
export class GivenSockets {
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, perMessageDeflate: false });
  /** Sockets whose call is not known yet. */
  readonly #held = new Set<Socket>();

  /** Ends the socket with the process until it is upgraded or given away. @returns gives it away */
  hold(socket: Socket): () => void {
    this.#held.add(socket);
    const release = (): void => void this.#held.delete(socket);
    socket.once('close', release);
    return release;
  }

  /**
   * @param onOpen called at the upgrade, before any message
   * @param onRefused the request is no upgrade, or its client left; the socket is then closed
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
    // `ws` does not report a socket that is already closed.
    if (socket.destroyed) return onRefused();
    socket.once('close', onRefused);
    if (answered) swallowNextWrite(socket);
    this.#server.handleUpgrade(request, socket, early, (opened) => {
      socket.off('close', onRefused);
      onOpen(opened);
    });
  }

  /** Closes all sockets for a shutdown, and cuts off those that do not answer. */
  close(reason: string, clock: Clock, withinMs = CLOSE_WITHIN_MS): void {
    for (const socket of this.#held) socket.destroy();
    for (const client of this.#server.clients) {
      const timer = clock.after(withinMs, () => client.terminate());
      client.once('close', () => timer.cancel());
      client.close(1001, reason);
    }
  }
}

/** `ws` writes the upgrade's answer first; the client already has it. */
function swallowNextWrite(socket: Socket): void {
  socket.write = () => {
    // Restores the prototype's method.
    Reflect.deleteProperty(socket, 'write');
    return true;
  };
}

/** The gateway's port is unavailable; the message names it, its setting, and, where known, the process that has it. */
export class GatewayPortError extends OffhookError {
  readonly code = 'OFFHOOK_GATEWAY_PORT';
  readonly retryable = false;
}

/** @returns the address, for example `http://127.0.0.1:8080`; @throws GatewayPortError */
export async function listenAt(
  app: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    const owner = hasCode(error, 'EADDRINUSE') ? portOwner(port) : undefined;
    const by = owner === undefined ? '' : ` by process ${owner.pid} (${owner.command})`;
    const why = hasCode(error, 'EADDRINUSE') ? `is taken${by}` : `cannot be listened on: ${errorText(error)}`;
    const advice = 'choose another one with http.port (OFFHOOK_PORT; 0 takes a free one) or another address with http.host';
    throw new GatewayPortError(`port ${port} on ${host} ${why}; ${advice}`, { facts: { host, port } });
  }
}

import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../../../kernel/clock.ts';
import type { Logger } from '../../../observability/logger.ts';
import type { FaultDice } from '../faults/faults.ts';
import { passFaults, redactTarget } from './http-app.ts';
import { Refusal } from './refusal.ts';

/** Time for the client to answer a close frame before its connection is cut. */
const closeGraceMs = 2000;

export interface Upgrade {
  readonly request: IncomingMessage;
  readonly query: URLSearchParams;
}

export interface SocketRoutesOptions {
  readonly service: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly faults: FaultDice;
  /** Paths that take a WebSocket; all are one interface. */
  readonly paths: readonly string[];
  readonly maxFrameBytes: number;
  /** Sockets open at once; further upgrades are answered 503. */
  readonly maxSockets: number;
  /**
   * Admits an upgrade. @returns the handler of the new socket
   * @throws Refusal to answer the upgrade with that status
   */
  readonly admit: (upgrade: Upgrade) => Promise<(socket: WebSocket) => void>;
}

/**
 * Serves WebSockets on a listener. Upgrades go to `ws` directly, so that a refusal is a plain HTTP answer. Frames above the limit close
 * the socket with 1009; the application's close closes open sockets with 1001.
 */
export function addSocketRoutes(app: FastifyInstance, options: SocketRoutesOptions): void {
  const { clock, faults, logger, service } = options;
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: options.maxFrameBytes,
    // Compression would take 300 kB a socket, and audio does not compress.
    perMessageDeflate: false,
  });
  const closing = new AbortController();

  const admit = async (request: IncomingMessage): Promise<(socket: WebSocket) => void> => {
    // Not parsed as a URL: a request target may be invalid.
    const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s, 2);
    if (!options.paths.includes(path)) throw new Refusal(404, 'There is no WebSocket at this path');
    if (closing.signal.aborted) throw new Refusal(503, 'The platform is stopping');
    if (server.clients.size >= options.maxSockets) throw new Refusal(503, 'Too many open sockets');
    return options.admit({ request, query: new URLSearchParams(query) });
  };
  const upgrade = async (request: IncomingMessage, connection: Duplex, head: Buffer): Promise<void> => {
    // Node removes its error handlers on an upgrade: without this one a reset would end the process.
    const onEarlyError = (): void => void connection.destroy();
    connection.on('error', onEarlyError);
    const requestId = randomUUID();
    const gone = new AbortController();
    connection.once('close', () => gone.abort(new Refusal(499, 'The client went away')));
    try {
      await passFaults(faults, clock, AbortSignal.any([gone.signal, closing.signal]));
      const open = await admit(request);
      connection.off('error', onEarlyError);
      if (connection.destroyed) return;
      server.handleUpgrade(request, connection, head, (socket) => {
        socket.on('error', (error) => logger.debug({ service, requestId, problem: error.message }, 'socket failed'));
        dropByFault(socket, faults, clock);
        open(socket);
      });
      logger.debug({ service, requestId, target: redactTarget(request.url ?? '') }, 'socket opened');
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal(500, 'Internal server error', { cause: error });
      if (refusal.status >= 500) logger.error({ service, requestId, error: refusal.cause ?? refusal }, 'upgrade failed');
      refuse(connection, refusal, requestId);
      logger.debug({ service, requestId, target: redactTarget(request.url ?? ''), status: refusal.status }, 'upgrade refused');
    }
  };

  app.server.on('upgrade', (request, connection, head) => void upgrade(request, connection, head));
  for (const path of options.paths) {
    app.get(path, { exposeHeadRoute: false }, async () => {
      throw new Refusal(426, 'This path is a WebSocket', { headers: { upgrade: 'websocket' } });
    });
  }
  app.addHook('preClose', async () => {
    closing.abort(new Refusal(503, 'The platform is stopping'));
    const clients = [...server.clients];
    await Promise.all(clients.map((socket) => closeSocket(socket, 1001, 'The platform is stopping', clock)));
    server.close();
  });
}

function dropByFault(socket: WebSocket, faults: FaultDice, clock: Clock): void {
  const lifeMs = faults.dropAfterMs();
  if (lifeMs === undefined) return;
  const cut = clock.after(lifeMs, () => socket.terminate());
  socket.once('close', () => cut.cancel());
}

/** Closes a socket; cuts it when the client does not answer. Resolves when it is closed. */
export function closeSocket(socket: WebSocket, code: number, reason: string, clock: Clock): Promise<void> {
  if (socket.readyState === socket.CLOSED) return Promise.resolve();
  return new Promise((resolve) => {
    const grace = clock.after(closeGraceMs, () => socket.terminate());
    socket.once('close', () => {
      grace.cancel();
      resolve();
    });
    socket.close(code, reason);
  });
}

/** Answers an upgrade with a plain HTTP error, as documented for requests: `{detail}`. */
function refuse(connection: Duplex, refusal: Refusal, requestId: string): void {
  const body = JSON.stringify({ detail: refusal.detail });
  const headers = {
    ...refusal.headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': requestId,
    connection: 'close',
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? 'Error'}\r\n${head.join('')}\r\n${body}`;
  // Destroyed, since a client that does not close its side would keep the connection open.
  connection.end(text, () => connection.destroy());
}

import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** A server on a free port of the loopback. Disposing of it breaks its connections. */
export interface Loopback extends AsyncDisposable {
  readonly port: number;
  /** `http`, without a path. */
  readonly url: string;
}

/** Has a server of TCP, HTTP or WebSockets listen. */
export async function onLoopback(server: Server): Promise<Loopback> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

/** How an upgrade is refused. */
export interface RefusedUpgrade {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** An upgrade, counted from 0 with the refused ones. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly url: URL;
  readonly index: number;
}

/** Has an HTTP server take WebSockets, but for the upgrades that `refuse` gives an answer for. */
export function takeSockets(
  http: HttpServer,
  refuse: (upgrade: Upgrade) => RefusedUpgrade | undefined,
  serve: (socket: WebSocket, upgrade: Upgrade) => void,
): void {
  const sockets = new WebSocketServer({ noServer: true });
  let upgrades = 0;
  http.on('upgrade', (request: IncomingMessage, stream, head) => {
    const upgrade = { request, url: new URL(request.url ?? '/', 'http://loopback'), index: upgrades++ };
    const refused = refuse(upgrade);
    if (refused === undefined) {
      sockets.handleUpgrade(request, stream, head, (socket) => serve(socket, upgrade));
      return;
    }
    const body = refused.body === undefined ? '' : JSON.stringify(refused.body);
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length), ...refused.headers };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    stream.end(`HTTP/1.1 ${refused.status} Refused\r\nconnection: close\r\n${lines.join('')}\r\n${body}`);
  });
}

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { SimulatedRealtime } from './simulated-model.ts';

export interface RealtimeServer extends AsyncDisposable {
  readonly url: string;
}

/** Serves a simulated vendor on a free port of this machine. */
export async function serveRealtime(vendor: SimulatedRealtime): Promise<RealtimeServer> {
  const http = createServer((_request, response) => response.writeHead(404).end());
  const sockets = new WebSocketServer({ noServer: true });
  let upgrades = 0;
  http.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    const refused = vendor.options.refuse?.(upgrades++) ?? refusalOf(vendor, request);
    if (refused !== undefined) {
      stream.end(`HTTP/1.1 ${refused} Refused\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, stream, head, (socket) => attach(vendor, socket));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}/v1/realtime`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

function refusalOf({ options: { apiKey }, keyHeader: [name, prefix], complaints }: SimulatedRealtime, request: IncomingMessage) {
  if (apiKey === undefined) return undefined;
  if (request.url?.includes(apiKey) === true) complaints.push('the key is in the address');
  return request.headers[name] === `${prefix}${apiKey}` ? undefined : 401;
}

function attach(vendor: SimulatedRealtime, socket: WebSocket): void {
  const session = vendor.connect({
    send: (frame) => socket.send(frame),
    close: (code, reason) => socket.close(code, reason),
    terminate: () => socket.terminate(),
  });
  socket.on('message', (data: Buffer) => session.receive(data.toString('utf8')));
  socket.on('close', () => session.gone());
  socket.on('error', () => undefined);
}

import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { validateRequest } from 'twilio/lib/webhooks/webhooks.js';
import { WebSocketServer, type WebSocket } from 'ws';
import { z } from 'zod';

export const authToken = 'token-of-the-stand-in';

export interface Webhook {
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly signed: boolean;
}

const carrierMessage = z.looseObject({ event: z.string(), sequenceNumber: z.string().optional() });
export type CarrierMessage = z.infer<typeof carrierMessage>;

/** One media socket as the gateway sees it. */
export interface GatewaySocket {
  readonly socket: WebSocket;
  readonly path: string;
  readonly signed: boolean;
  readonly messages: CarrierMessage[];
  send(message: object): void;
  /** Resolves with the first message, past or to come, that passes. */
  next(wanted: (message: CarrierMessage) => boolean): Promise<CarrierMessage>;
}

/** A gateway that does nothing by itself: it answers with the TwiML it is given and keeps what it receives. */
export class StandIn implements AsyncDisposable {
  readonly webhooks: Webhook[] = [];
  readonly sockets: GatewaySocket[] = [];
  /** Gives the answer document; null for status 500. */
  twiml: (path: string, webhook: Webhook) => string | null = () => this.streamDocument();
  onSocket: (socket: GatewaySocket) => void = () => undefined;
  refuseUpgrade = false;
  readonly #server = createServer((request, response) => {
    void this.#answer(request).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'text/xml' });
      response.end(body);
    });
  });
  readonly #sockets = new WebSocketServer({ noServer: true });
  url = '';

  static async start(): Promise<StandIn> {
    const standIn = new StandIn();
    standIn.#server.on('upgrade', (request, socket, head) => {
      if (standIn.refuseUpgrade) {
        socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
        return;
      }
      standIn.#sockets.handleUpgrade(request, socket, head, (webSocket) => standIn.#opened(webSocket, request));
    });
    standIn.#server.listen(0, '127.0.0.1');
    await once(standIn.#server, 'listening');
    standIn.url = `http://127.0.0.1:${(standIn.#server.address() as AddressInfo).port}`;
    return standIn;
  }

  streamDocument(after = ''): string {
    const url = `${this.url.replace('http', 'ws')}/stream/one`;
    return `<Response><Connect><Stream url="${url}"><Parameter name="bot" value="clinic"/></Stream></Connect>${after}</Response>`;
  }

  async #answer(request: IncomingMessage): Promise<{ status: number; body: string }> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(z.instanceof(Buffer).parse(part));
    const fields = Object.fromEntries(new URLSearchParams(Buffer.concat(parts).toString('utf8')));
    const path = request.url ?? '';
    const webhook = { path, fields, signed: this.#isSigned(request, this.url + path, fields) };
    this.webhooks.push(webhook);
    if (path === '/carriers/twilio/status') return { status: 204, body: '' };
    const body = this.twiml(path, webhook);
    return body === null ? { status: 500, body: '' } : { status: 200, body };
  }

  #isSigned(request: IncomingMessage, url: string, fields: Record<string, string>): boolean {
    return validateRequest(authToken, String(request.headers['x-twilio-signature']), url, fields);
  }

  #opened(socket: WebSocket, request: IncomingMessage): void {
    const messages: CarrierMessage[] = [];
    const waiting = new Set<() => void>();
    const path = request.url ?? '';
    const opened: GatewaySocket = {
      socket,
      path,
      signed: this.#isSigned(request, this.url.replace('http', 'ws') + path, {}),
      messages,
      send: (message) => socket.send(JSON.stringify(message)),
      next: (wanted) =>
        new Promise((resolve) => {
          const look = (): void => {
            const found = messages.find(wanted);
            if (found === undefined) return;
            waiting.delete(look);
            resolve(found);
          };
          waiting.add(look);
          look();
        }),
    };
    socket.on('message', (data: Buffer) => {
      messages.push(carrierMessage.parse(JSON.parse(data.toString('utf8'))));
      for (const look of waiting) look();
    });
    this.sockets.push(opened);
    this.onSocket(opened);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of this.sockets) socket.terminate();
    this.#server.closeAllConnections();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }
}

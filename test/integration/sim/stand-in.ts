import { createServer, type IncomingMessage } from 'node:http';
import { validateRequest } from 'twilio/lib/webhooks/webhooks.js';
import { type WebSocket } from 'ws';
import { z } from 'zod';
import { type Loopback, onLoopback, takeSockets } from '../../support/loopback.ts';

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
export class StandIn {
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
  url = '';

  static async start(): Promise<StandIn & Loopback> {
    const standIn = new StandIn();
    takeSockets(
      standIn.#server,
      () => (standIn.refuseUpgrade ? { status: 403 } : undefined),
      (socket, { request }) => standIn.#opened(socket, request),
    );
    return Object.assign(standIn, await onLoopback(standIn.#server));
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
}

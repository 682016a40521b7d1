import { createServer, type IncomingHttpHeaders, type IncomingMessage, request as forward } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type Loopback, onLoopback } from './loopback.ts';

/** One request of a carrier, as it went to the gateway. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly isUpgrade: boolean;
}

type Alter = (request: SeenRequest) => SeenRequest;

/** Stands between a simulated carrier and the gateway: notes what passes, alters it, and sends it again. */
export class RecordingProxy implements AsyncDisposable {
  readonly seen: SeenRequest[] = [];
  /** Statuses that the gateway answered with, in order; 101 for an upgrade. */
  readonly answered: number[] = [];
  alter: Alter = (request) => request;
  /** Where a request goes. */
  targetOf: (path: string) => string;
  readonly #server = createServer();
  #loopback: Loopback | undefined;

  private constructor(target: string) {
    this.targetOf = () => target;
    this.#server.on('request', (request, response) => {
      void bodyOf(request).then(async (body) => {
        const answer = await this.send(this.#pass(request, body, false));
        response.writeHead(answer.status, answer.headers).end(answer.body);
      });
    });
    this.#server.on('upgrade', (request, socket: Socket, head: Buffer) => this.#upgrade(request, socket, head));
  }

  static async start(target: string): Promise<RecordingProxy> {
    const proxy = new RecordingProxy(target);
    proxy.#loopback = await onLoopback(proxy.#server);
    return proxy;
  }

  get url(): string {
    return this.#loopback?.url ?? '';
  }

  /** Sends a request to the gateway, once more or for the first time. @returns 101 for an upgrade that is accepted, and dropped then */
  async send(seen: SeenRequest): Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }> {
    const { method, path, headers, body } = seen;
    const target = new URL(path, this.targetOf(path));
    return new Promise((resolve, reject) => {
      const asked = forward(target, {
        method,
        headers: { ...headers, host: target.host },
        agent: false,
      });
      const answer = (response: IncomingMessage): void => {
        this.answered.push(response.statusCode ?? 0);
        void bodyOf(response).then((text) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        );
      };
      asked.once('response', answer).once('error', reject);
      asked.once('upgrade', (response, socket) => {
        this.answered.push(101);
        socket.destroy();
        resolve({ status: 101, headers: response.headers, body: Buffer.alloc(0) });
      });
      asked.end(body);
    });
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const { path, headers } = this.#pass(request, Buffer.alloc(0), true);
    const target = new URL(this.targetOf(path));
    const gateway = connect(Number(target.port), target.hostname);
    for (const each of [socket, gateway]) each.on('error', () => undefined);
    gateway.once('data', (data: Buffer) => this.answered.push(Number(data.toString('latin1', 9, 12))));
    const lines = Object.entries({ ...headers, host: target.host }).map(([name, value]) => `${name}: ${value}`);
    gateway.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    gateway.write(head);
    socket.pipe(gateway).pipe(socket);
    socket.once('close', () => gateway.destroy());
    gateway.once('close', () => socket.destroy());
  }

  #pass(request: IncomingMessage, body: Buffer, isUpgrade: boolean): SeenRequest {
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(request.headers)) headers[name] = [value ?? ''].flat().join(', ');
    const seen = { method: request.method ?? 'GET', path: request.url ?? '/', headers, body, isUpgrade };
    this.seen.push(seen);
    return this.alter(seen);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loopback?.[Symbol.asyncDispose]();
  }
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** Headers of HTTP itself; what is proven by others is not proven any more without them. */
const PLAIN = /^(host|connection|upgrade|content-|accept|user-agent|transfer-encoding|sec-websocket-)/u;

/** The same request without any proof: no header of the carrier's, no query, and no token in the path of a stream. */
export function unproven(request: SeenRequest): SeenRequest {
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => PLAIN.test(name)));
  return { ...request, headers, path: withoutToken(request.path.split('?')[0] ?? '') };
}

/** The same request with another proof of the same form. */
export function wronglyProven(request: SeenRequest): SeenRequest {
  const headers = Object.entries(request.headers).map(([name, value]) => [name, PLAIN.test(name) ? value : another(value)]);
  const [path = '', query] = request.path.split('?');
  const asked = query === undefined ? '' : `?${query.replaceAll(/=[^&]+/gu, another)}`;
  return { ...request, headers: Object.fromEntries(headers) as SeenRequest['headers'], path: withoutToken(path) + asked };
}

const withoutToken = (path: string): string =>
  path.replace(/(\/stream\/)(.+)$/u, (_, before: string, token: string) => before + another(token));

/** Long words backwards: a token, a hash, a key. */
function another(text: string): string {
  return text.replaceAll(/[A-Za-z0-9+/_-]{6,}/gu, (word) => Array.from(word).toReversed().join(''));
}

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { systemClock } from '../../../src/kernel/clock.ts';
import { TokenSource } from '../../../src/speech/tokens.ts';

/** Waits until a condition holds, looking at every turn of the event loop. @throws Error naming what did not happen */
export async function eventually(what: string, holds: () => boolean, withinMs = 10_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`${what} did not come within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** The platform's end of one socket: what came, in order, and what is to be sent. */
export class PeerSocket {
  readonly headers: IncomingMessage['headers'];
  readonly url: string;
  /** Text frames as they came; each binary frame is a number: its length in bytes. */
  readonly log: (string | number)[] = [];
  readonly audio: Buffer[] = [];
  closed: number | undefined;
  readonly #socket: WebSocket;

  constructor(socket: WebSocket, request: IncomingMessage, onMessage: (peer: PeerSocket, message: string | Buffer) => void) {
    this.#socket = socket;
    this.headers = request.headers;
    this.url = request.url ?? '';
    socket.on('message', (data: RawData, isBinary: boolean) => {
      const bytes = Buffer.isBuffer(data) ? data : Buffer.concat(Array.isArray(data) ? data : [Buffer.from(data)]);
      this.log.push(isBinary ? bytes.length : bytes.toString('utf8'));
      if (isBinary) this.audio.push(bytes);
      onMessage(this, isBinary ? bytes : bytes.toString('utf8'));
    });
    socket.on('close', (code) => (this.closed = code));
    socket.on('error', () => undefined);
  }

  /** Text frames alone. */
  get texts(): string[] {
    return this.log.filter((entry) => typeof entry === 'string');
  }

  get samples(): Int16Array {
    const bytes = Buffer.concat(this.audio);
    return Int16Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readInt16LE(index * 2));
  }

  say(event: object | string): void {
    this.#socket.send(typeof event === 'string' ? event : JSON.stringify(event));
  }

  sound(bytes: Uint8Array): void {
    this.#socket.send(bytes);
  }

  close(code: number, reason = ''): void {
    this.#socket.close(code, reason);
  }

  /** Cuts the connection without a word. */
  drop(): void {
    this.#socket.terminate();
  }
}

export interface StandInOptions {
  /** Hears each message; `index` counts sockets from 0. */
  readonly onMessage?: (peer: PeerSocket, message: string | Buffer, index: number) => void;
  /** Status to refuse this upgrade with; undefined lets it through. */
  readonly refuse?: (index: number) => number | undefined;
}

/** A token service and a realtime service on one port of the loopback interface, both scripted by the test. */
export class StandIn implements AsyncDisposable {
  readonly peers: PeerSocket[] = [];
  /** Of each upgrade, let through or not. */
  readonly upgrades: IncomingMessage[] = [];
  mints = 0;
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start({ onMessage, refuse }: StandInOptions = {}): Promise<StandIn> {
    const server = createServer((request, response) => {
      if (request.url?.startsWith('/api/auth/token') !== true) {
        response.writeHead(404).end('{"detail":"no such path"}');
        return;
      }
      self.mints += 1;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ token: `token-${self.mints}`, expires_in: 900 }));
    });
    const self = new StandIn(server);
    const sockets = new WebSocketServer({ noServer: true });
    server.on('connection', (socket) => {
      self.#open.add(socket);
      socket.on('close', () => self.#open.delete(socket));
    });
    server.on('upgrade', (request, socket, head) => {
      const index = self.upgrades.push(request) - 1;
      const status = refuse?.(index);
      if (status !== undefined) {
        const body = '{"detail":"token not valid"}';
        socket.end(
          `HTTP/1.1 ${status} No\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
        );
        return;
      }
      sockets.handleUpgrade(request, socket, head, (webSocket) => {
        const place = self.peers.length;
        self.peers.push(new PeerSocket(webSocket, request, (peer, message) => onMessage?.(peer, message, place)));
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    return self;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Connections that are open now. */
  get connections(): number {
    return this.#open.size;
  }

  tokens(): TokenSource {
    return new TokenSource({ authUrl: this.url, apiKey: 'the-key', clock: systemClock, fetch });
  }

  /** Waits for the socket with this number. */
  async peer(index: number): Promise<PeerSocket> {
    await eventually(`socket ${index}`, () => this.peers.length > index);
    return this.peers[index]!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }
}

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { jwtVerify, SignJWT } from 'jose';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import type { NumberedNews } from '../call/log/followed-news.ts';
import { GatewayPortError } from '../http/given-sockets.ts';
import type { Clock, Timer } from '../kernel/clock.ts';
import { errorText } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import { parseJson } from '../kernel/json.ts';
import { throttleLines } from '../observability/log-throttle.ts';
import type { Logger } from '../observability/logger.ts';
import { refusedReport } from './answers.ts';
import { type Handlers, obey, peerAsk, type PeerOrderName, type Report } from './protocol.ts';

/** What a machine does for another one. */
export type PeerHandlers = Handlers<PeerOrderName>;

/** Another machine that has a channel open. */
export interface PeerCaller {
  readonly id: string;
  /** News that it would read too late is dropped, which it sees by the numbers; the end of a call is told always. */
  tellNews(news: NumberedNews): void;
}

export interface PeerServerOptions {
  readonly host: string;
  readonly port: number;
  readonly proofs: PeerProofs;
  /** @returns what is done for this caller until `gone` */
  readonly serve: (caller: PeerCaller) => { readonly handlers: PeerHandlers; readonly gone: () => void };
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Paths, headers and the name of the raw protocol between two machines. */
export const PEER = { channel: '/channel', socket: '/socket', proof: 'x-offhook-proof', upgrade: 'offhook-socket' } as const;
/** The largest question: the first messages of a media socket, in base64. */
const MOST_ASK_BYTES = 1_048_576;
/** A caller that has so much waiting loses news; one with so much more is let go, and connects again. */
const MOST_WAITING_NEWS_BYTES = 1_048_576;
const MOST_WAITING_BYTES = 64 * 1_048_576;
/** A relayed socket whose question does not come by then is closed. */
const UNASKED_MS = 5_000;
const MOST_UNASKED = 1_000;
const HEADERS_MS = 5_000;

interface HeldSocket {
  readonly from: string;
  readonly socket: Socket;
  readonly timer: Timer;
}

/**
 * The internal address of a machine, for the other machines of its gateway alone: a channel of questions from each of them, and the sockets that arrived
 * there and belong to calls that are here. Everything else, and everybody without a proof (`PeerProofs`), is refused before anything is read of it.
 */
export class PeerServer implements AsyncDisposable {
  readonly #options: PeerServerOptions;
  readonly #http: Server;
  readonly #channels: WebSocketServer;
  readonly #sockets = new Set<Socket>();
  /** Relayed sockets whose questions have not come, by the ids of their requests. */
  readonly #held = new Map<string, HeldSocket>();
  readonly #throttle;

  private constructor(options: PeerServerOptions) {
    this.#options = options;
    this.#throttle = throttleLines(options.clock);
    this.#channels = new WebSocketServer({ noServer: true, maxPayload: MOST_ASK_BYTES, perMessageDeflate: false });
    this.#http = createServer({
      noDelay: true,
      headersTimeout: HEADERS_MS,
      requestTimeout: HEADERS_MS,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: 8_192,
    });
    this.#http.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined).once('close', () => this.#sockets.delete(socket));
    });
    this.#http.on('request', (_request, response) => response.writeHead(404, { connection: 'close' }).end());
    this.#http.on('upgrade', (request, socket: Socket, head: Buffer) => void this.#admit(request, socket, head));
  }

  /** @throws GatewayPortError */
  static async listen(options: PeerServerOptions): Promise<PeerServer> {
    const server = new PeerServer(options);
    const { host, port } = options;
    await new Promise<void>((resolve, reject) => {
      server.#http.once('error', (cause) => {
        const why = `port ${port} on ${host} cannot be listened on for the other machines: ${errorText(cause)}`;
        const advice = 'choose another one with cluster.port, and in cluster.address, or another address with cluster.host';
        reject(new GatewayPortError(`${why}; ${advice}`, { cause, facts: { host, port } }));
      });
      server.#http.listen(port, host, resolve);
    });
    server.#http
      .removeAllListeners('error')
      .on('error', (error) => options.logger.error({ error }, 'taking a connection of another machine failed'));
    return server;
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    for (const client of this.#channels.clients) client.terminate();
    for (const { timer } of this.#held.values()) timer.cancel();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #admit(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const { proofs } = this.#options;
    const { url, headers } = request;
    const refuse = (status: string, why: string): void => {
      const line = this.#throttle(why);
      const { remoteAddress: address } = socket;
      if (line !== undefined) this.#options.logger.warn({ address, why, ...line }, 'connection of another machine refused');
      socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`, () => socket.destroy());
    };
    try {
      const kind = url === PEER.channel ? 'websocket' : url === PEER.socket ? PEER.upgrade : undefined;
      if (kind === undefined || headers.upgrade?.toLowerCase() !== kind) return refuse('404 Not Found', 'no such address');
      const token = /^Bearer (\S+)$/u.exec(headers.authorization ?? '')?.[1];
      const caller = token === undefined ? undefined : await proofs.readRequest(token);
      if (caller === undefined)
        return refuse('401 Unauthorized', 'no valid proof: another key, another machine, or another time');
      if (socket.destroyed) return;
      const proof = await proofs.forAnswer(caller);
      if (kind === 'websocket') this.#openChannel(request, socket, head, caller.from, proof);
      else if (this.#held.size >= MOST_UNASKED) refuse('503 Service Unavailable', 'too many sockets without a question');
      else {
        const lines = [
          'HTTP/1.1 101 Switching Protocols',
          'connection: Upgrade',
          `upgrade: ${PEER.upgrade}`,
          `${PEER.proof}: ${proof}`,
        ];
        if (head.length > 0) socket.unshift(head);
        this.#hold(caller.id, caller.from, socket);
        socket.write(`${lines.join('\r\n')}\r\n\r\n`);
      }
    } catch (error) {
      refuse('503 Service Unavailable', errorText(error));
    }
  }

  #openChannel(request: IncomingMessage, socket: Socket, head: Buffer, from: string, proof: string): void {
    const addProof = (lines: string[], of: IncomingMessage): void =>
      void (of === request && lines.push(`${PEER.proof}: ${proof}`));
    this.#channels.on('headers', addProof);
    this.#channels.handleUpgrade(request, socket, head, (channel) => this.#serve(channel, from));
    this.#channels.off('headers', addProof);
  }

  #hold(id: string, from: string, socket: Socket): void {
    const drop = (): void => void this.#take(id, from)?.destroy();
    const timer = this.#options.clock.after(UNASKED_MS, drop);
    this.#held.set(id, { from, socket, timer });
    socket.once('close', drop);
  }

  /** @returns the socket that this caller opened by that request */
  #take(id: string, from: string): Socket | undefined {
    const held = this.#held.get(id);
    if (held?.from !== from) return undefined;
    held.timer.cancel();
    this.#held.delete(id);
    return held.socket;
  }

  #serve(channel: WebSocket, from: string): void {
    const { logger, serve } = this.#options;
    const send = (report: Report): void => {
      if (channel.readyState !== channel.OPEN) return;
      if (channel.bufferedAmount > MOST_WAITING_BYTES) return channel.terminate();
      channel.send(JSON.stringify(report));
    };
    const { handlers, gone } = serve({
      id: from,
      tellNews(news) {
        if (channel.bufferedAmount <= MOST_WAITING_NEWS_BYTES || news.news.type === 'ended') send({ type: 'news', ...news });
      },
    });
    channel.on('error', (error) => logger.warn({ member: from, error }, 'channel of another machine failed'));
    channel.once('close', gone);
    channel.on('message', (data: Buffer) => {
      const asked = peerAsk.safeParse(parseJson(data.toString('utf8')));
      if (!asked.success) {
        logger.warn({ member: from, error: asked.error }, 'question of another machine not understood');
        return;
      }
      const { id, name, asked: what, socket: socketId } = asked.data;
      const socket = socketId === undefined ? undefined : this.#take(socketId, from);
      obey(handlers, name, what, socket).then(
        (given) => send({ type: 'given', id, given }),
        (error: unknown) => {
          socket?.destroySoon();
          send(refusedReport(id, error));
        },
      );
    });
  }
}

/** Which machine asks which, and the id by which an answer proves that it answers this very request. */
export interface PeerRequest {
  readonly from: string;
  readonly id: string;
}

/** Long enough for clocks that differ by some seconds. */
const LIFE_S = 60;
/** Requests that are remembered so that none is served twice. */
const MOST_SPENT = 20_000;

const claims = z.object({ iss: z.string(), jti: z.string(), exp: z.number() });

/**
 * Shows the machines of one gateway to each other. Both sides hold the same key (`SharedState.secret`): a request is bound to its sender, its receiver and
 * one minute, and is served once; the answer is bound to the request, so that nothing is told to a stranger at another machine's address.
 */
export class PeerProofs {
  readonly #key: () => Promise<Uint8Array>;
  readonly #ownId: string;
  readonly #clock: Clock;
  /** Ids of requests that were served, with the time until which they could be sent again, in ms since the epoch. */
  readonly #spent = new Map<string, number>();

  constructor(options: { readonly key: () => Promise<Uint8Array>; readonly ownId: string; readonly clock: Clock }) {
    this.#key = options.key;
    this.#ownId = options.ownId;
    this.#clock = options.clock;
  }

  async forRequest(to: string): Promise<{ readonly id: string; readonly token: string }> {
    const id = newId('req');
    return { id, token: await this.#sign('peer-request', to, id) };
  }

  forAnswer({ from, id }: PeerRequest): Promise<string> {
    return this.#sign('peer-answer', from, id);
  }

  /** @returns undefined for a token that is not for this machine, not in force, or was shown before */
  async readRequest(token: string): Promise<PeerRequest | undefined> {
    const read = await this.#read('peer-request', token);
    if (read === undefined || !this.#spend(read.jti, read.exp * 1000)) return undefined;
    return { from: read.iss, id: read.jti };
  }

  /** Whether this is the answer of that machine to that request. */
  async isAnswer(token: string, { by, id }: { readonly by: string; readonly id: string }): Promise<boolean> {
    const read = await this.#read('peer-answer', token);
    return read?.iss === by && read.jti === id;
  }

  async #sign(kind: string, to: string, id: string): Promise<string> {
    return new SignJWT()
      .setProtectedHeader({ alg: 'HS256', typ: kind })
      .setIssuer(this.#ownId)
      .setAudience(to)
      .setJti(id)
      .setExpirationTime(Math.ceil(this.#clock.wallMs() / 1000) + LIFE_S)
      .sign(await this.#key());
  }

  async #read(typ: string, token: string): Promise<z.output<typeof claims> | undefined> {
    const currentDate = new Date(this.#clock.wallMs());
    try {
      const verified = await jwtVerify(token, await this.#key(), {
        algorithms: ['HS256'],
        audience: this.#ownId,
        typ,
        currentDate,
      });
      return claims.safeParse(verified.payload).data;
    } catch {
      return undefined;
    }
  }

  /** @returns false for one that was spent, and where so many are remembered that one would have to be forgotten */
  #spend(id: string, untilWallMs: number): boolean {
    const nowMs = this.#clock.wallMs();
    // Oldest first, and all live equally long.
    for (const [spent, until] of this.#spent) {
      if (until > nowMs) break;
      this.#spent.delete(spent);
    }
    if (this.#spent.has(id) || this.#spent.size >= MOST_SPENT) return false;
    this.#spent.set(id, untilWallMs);
    return true;
  }
}

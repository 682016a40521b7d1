import { request } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { WebSocket } from 'ws';
import type { NumberedNews } from '../call/log/followed-news.ts';
import type { Clock, Timer } from '../kernel/clock.ts';
import { errorText, hasCode } from '../kernel/errors.ts';
import { parseJson } from '../kernel/json.ts';
import { within } from '../kernel/waiting.ts';
import { throttleLines } from '../observability/log-throttle.ts';
import type { Logger } from '../observability/logger.ts';
import { PeerError } from './errors.ts';
import { PendingAsks } from './answers.ts';
import { PEER, type PeerProofs } from './peer-server.ts';
import { type Asked, type Given, type PeerOrderName, report } from './protocol.ts';

export interface PeerLinkOptions {
  readonly peer: { readonly id: string; readonly address: string };
  readonly proofs: PeerProofs;
  readonly onNews: (news: NumberedNews) => void;
  /** The channel was closed: what was followed by it is told no more. */
  readonly onDown: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

const CONNECT_WITHIN_MS = 2_000;
const ASK_WITHIN_MS = 5_000;
/** A channel on which nothing came between two pings is closed: its machine hangs, or cannot be reached. */
const PING_MS = 2_000;
/** No other try for so long behind one that failed. */
const RETRY_AFTER_MS = 250;
/** The list of ten thousand calls has some 6 MB. */
const MOST_ANSWER_BYTES = 32 * 1_048_576;

/** Another machine of the gateway, as this one asks it: one channel, opened when it is first needed and again after it broke. */
export class PeerLink {
  readonly #options: PeerLinkOptions;
  readonly #pending = new PendingAsks(PeerError);
  readonly #lineOf: ReturnType<typeof throttleLines>;
  #channel: Promise<WebSocket> | undefined;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: PeerLinkOptions) {
    this.#options = options;
    this.#lineOf = throttleLines(options.clock);
  }

  /** It ends, and takes no other call. */
  isLeaving = false;
  /** Its address refuses connections: its process is dead. */
  isRefused = false;

  get id(): string {
    return this.#options.peer.id;
  }

  get address(): string {
    return this.#options.peer.address;
  }

  /**
   * Has the machine do something.
   * @param socketId of the socket that goes with it (`openSocket`); what is served with one is answered when it is over, or has started
   * @throws OffhookError as that machine threw it; PeerError when it cannot be reached, or does not answer in time
   */
  async ask<Name extends PeerOrderName>(name: Name, asked: Asked<Name>, socketId?: string): Promise<Given<Name>> {
    const channel = await this.#open();
    const { id, answered } = this.#pending.add(name);
    channel.send(JSON.stringify({ id, name, asked, socket: socketId }));
    if (socketId !== undefined) return answered;
    const answer = await within(this.#options.clock, ASK_WITHIN_MS, answered, LATE);
    if (answer !== LATE) return answer;
    this.#pending.fail(id, new PeerError('late'));
    throw new PeerError(`the machine that has the call did not answer within ${ASK_WITHIN_MS} ms`, {
      facts: { member: this.id },
    });
  }

  close(): void {
    this.#isClosed = true;
    void this.#channel?.then(
      (channel) => channel.terminate(),
      () => undefined,
    );
  }

  #open(): Promise<WebSocket> {
    if (this.#channel !== undefined) return this.#channel;
    const { clock, logger } = this.#options;
    if (this.#isClosed || clock.nowMs() < this.#failedAtMs + RETRY_AFTER_MS) return Promise.reject(this.#unreachable());
    const channel = this.#connect();
    this.#channel = channel;
    channel.catch((error: unknown) => {
      this.#failedAtMs = clock.nowMs();
      this.#channel = undefined;
      this.isRefused = error instanceof PeerError && hasCode(error.cause, 'ECONNREFUSED');
      const line = this.#lineOf('unreachable');
      if (line !== undefined) logger.warn({ member: this.id, error, ...line }, 'another machine cannot be reached');
    });
    return channel;
  }

  #unreachable(cause?: unknown): PeerError {
    const { id, address } = this.#options.peer;
    const why = cause === undefined ? '' : `: ${errorText(cause)}`;
    return new PeerError(`the machine at ${address} cannot be reached${why}`, { cause, facts: { member: id } });
  }

  /** @throws PeerError */
  async #connect(): Promise<WebSocket> {
    const { peer, proofs } = this.#options;
    const { id, token } = await proofs.forRequest(peer.id);
    const channel = new WebSocket(new URL(PEER.channel, peer.address.replace(/^http/u, 'ws')), {
      headers: { authorization: `Bearer ${token}` },
      handshakeTimeout: CONNECT_WITHIN_MS,
      maxPayload: MOST_ANSWER_BYTES,
      perMessageDeflate: false,
    });
    let proof = '';
    channel.once('upgrade', ({ headers }) => (proof = String(headers[PEER.proof] ?? '')));
    await new Promise<void>((resolve, reject) => {
      channel.once('open', resolve);
      channel.on('error', (error) => reject(this.#unreachable(error)));
    });
    const isPeer = await proofs.isAnswer(proof, { by: peer.id, id });
    if (!isPeer || this.#isClosed || channel.readyState !== channel.OPEN) {
      channel.terminate();
      throw this.#unreachable(new Error(isPeer ? 'the connection was closed' : 'it did not prove that it is that machine'));
    }
    this.#attend(channel);
    this.isRefused = false;
    return channel;
  }

  #attend(channel: WebSocket): void {
    const { clock, logger, onNews, onDown } = this.#options;
    let heard = true;
    let timer: Timer;
    const look = (): void => {
      timer = clock.after(PING_MS, () => {
        if (!heard) return channel.terminate();
        heard = false;
        channel.ping();
        look();
      });
    };
    look();
    channel.on('pong', () => (heard = true));
    channel.on('message', (data: Buffer) => {
      heard = true;
      const { data: said, error } = report.safeParse(parseJson(data.toString('utf8')));
      if (said?.type === 'given' || said?.type === 'refused') this.#pending.settle(said);
      else if (said?.type === 'news') onNews(said);
      else logger.warn({ member: this.id, error }, 'answer of another machine not understood');
    });
    channel.once('close', () => {
      timer.cancel();
      this.#channel = undefined;
      this.#pending.failAll(
        new PeerError('the connection to the machine that has the call broke', { facts: { member: this.id } }),
      );
      if (this.#isClosed) return;
      logger.warn({ member: this.id }, 'connection to another machine broke');
      onDown();
    });
  }

  /** @returns a socket that the other machine holds under this id until it is asked to serve it, within seconds @throws PeerError */
  async openSocket(): Promise<{ readonly id: string; readonly socket: Socket }> {
    const { peer, proofs } = this.#options;
    // It cannot be asked otherwise.
    await this.#open();
    const { id, token } = await proofs.forRequest(peer.id);
    const headers = { authorization: `Bearer ${token}`, connection: 'Upgrade', upgrade: PEER.upgrade };
    const asked = request(new URL(PEER.socket, peer.address), { headers, agent: false, timeout: CONNECT_WITHIN_MS });
    const opened = new Promise<{ socket: Socket; proof: string }>((resolve, reject) => {
      asked.once('upgrade', (response, socket: Socket, head: Buffer) => {
        if (head.length > 0) socket.unshift(head);
        resolve({ socket, proof: String(response.headers[PEER.proof] ?? '') });
      });
      asked.once('response', ({ statusCode }) => reject(new Error(`it answered ${statusCode}`)));
      asked.once('timeout', () => reject(new Error('it did not answer in time')));
      asked.once('error', reject);
      asked.end();
    });
    const { socket, proof } = await opened.catch((error: unknown) => {
      asked.destroy();
      throw this.#unreachable(error);
    });
    socket.setTimeout(0);
    socket.setNoDelay(true);
    if (await proofs.isAnswer(proof, { by: peer.id, id })) return { id, socket };
    socket.destroy();
    throw this.#unreachable(new Error('it did not prove that it is that machine'));
  }
}

const LATE = Symbol('late');

/** Passes bytes on both ways, no faster than they are read; what was sent reaches the other side before that is closed. */
export function join(here: Socket, there: Socket): void {
  here.setNoDelay(true);
  const close = (): void => {
    here.destroySoon();
    there.destroySoon();
  };
  for (const [from, to] of [
    [here, there],
    [there, here],
  ] as const)
    pipeline(from, to).then(close, close);
}

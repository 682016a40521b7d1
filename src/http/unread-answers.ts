import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import { throttleLines } from '../observability/log-throttle.ts';

/** Requests of one connection that wait for the answer to an earlier one. Browsers and proxies send one at a time. */
export const MOST_WAITING = 16;
/** What may be unsent to one address, in answers that the system's buffers did not take. One answer alone may be larger. */
export const MOST_UNSENT_OF_ADDRESS = 8 * 1024 ** 2;
/** What may be unsent to all addresses together. */
export const MOST_UNSENT = 64 * 1024 ** 2;
/** Time that a client has to read an answer: a fixed part, and a second for each 16 kB that are unsent. */
export const READ_WITHIN_MS = 30_000;
const BYTES_PER_MS = 16;

interface Peer {
  readonly address: string;
  /** Answers whose last byte the system did not take. */
  answers: number;
  bytes: number;
  /** Since when it has read nothing. */
  sinceMs: number;
}

/**
 * Bounds the memory that clients take up who ask and do not read what they are answered: their connections are cut. Streamed answers are not
 * counted, since they wait for their reader by themselves.
 */
export class UnreadAnswers {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #throttle: ReturnType<typeof throttleLines>;
  /** Of connections with a request that is not answered yet: those behind it. */
  readonly #waiting = new WeakMap<Socket, (() => void)[]>();
  /** The one that has read nothing for the longest time is first. */
  readonly #peers = new Map<Socket, Peer>();
  readonly #byAddress = new Map<string, number>();
  #bytes = 0;
  #timer: Timer | undefined;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
    this.#throttle = throttleLines(clock);
  }

  /** Bytes that are unsent, in all. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Has a request handled once those that came before it on its connection are answered; never where that connection is cut. */
  admit({ socket }: IncomingMessage, response: ServerResponse, handle: () => void): void {
    if (socket.destroyed) return;
    const waiting = this.#waiting.get(socket);
    if (waiting !== undefined && waiting.length >= MOST_WAITING) {
      this.#cut(socket, 'too many requests at once');
      return;
    }
    response.once('close', () => this.#next(socket));
    if (waiting !== undefined) waiting.push(handle);
    else {
      this.#waiting.set(socket, []);
      handle();
    }
  }

  #next(socket: Socket): void {
    const handle = socket.destroyed ? undefined : this.#waiting.get(socket)?.shift();
    if (handle === undefined) this.#waiting.delete(socket);
    else handle();
  }

  /** Counts an answer that is about to be written. @param bytes of its body */
  note({ socket }: IncomingMessage, response: ServerResponse, bytes: number): void {
    if (socket.destroyed || bytes === 0) return;
    const peer = this.#peers.get(socket) ?? this.#enter(socket);
    peer.answers += 1;
    this.#add(peer, bytes);
    response.once('close', () => this.#sent(socket, peer, bytes));
    while (this.#unsentTo(peer.address) > MOST_UNSENT_OF_ADDRESS && this.#cutFirst(peer.address, socket));
    while (this.#bytes > MOST_UNSENT && this.#cutFirst(undefined, socket));
    this.#watch();
  }

  #enter(socket: Socket): Peer {
    const peer: Peer = { address: socket.remoteAddress ?? '', answers: 0, bytes: 0, sinceMs: this.#clock.nowMs() };
    this.#peers.set(socket, peer);
    return peer;
  }

  #sent(socket: Socket, peer: Peer, bytes: number): void {
    if (this.#peers.get(socket) !== peer) return;
    peer.answers -= 1;
    this.#add(peer, -bytes);
    this.#peers.delete(socket);
    peer.sinceMs = this.#clock.nowMs();
    if (peer.answers > 0) this.#peers.set(socket, peer);
    else if (this.#peers.size === 0) this.#stop();
  }

  #unsentTo(address: string): number {
    return this.#byAddress.get(address) ?? 0;
  }

  #add(peer: Peer, bytes: number): void {
    peer.bytes += bytes;
    this.#bytes += bytes;
    const unsent = this.#unsentTo(peer.address) + bytes;
    if (unsent > 0) this.#byAddress.set(peer.address, unsent);
    else this.#byAddress.delete(peer.address);
  }

  /** @returns false where nothing but the one answer of `own` is left */
  #cutFirst(address: string | undefined, own: Socket): boolean {
    for (const [socket, peer] of this.#peers) {
      if (address !== undefined && peer.address !== address) continue;
      if (socket === own && peer.answers === 1) continue;
      this.#cut(socket, 'too much is unread');
      return true;
    }
    return false;
  }

  #cut(socket: Socket, reason: string): void {
    const peer = this.#peers.get(socket);
    this.#peers.delete(socket);
    if (peer !== undefined) this.#add(peer, -peer.bytes);
    const told = this.#throttle(reason);
    if (told !== undefined)
      this.#logger.warn({ reason, ...told, pii: { address: socket.remoteAddress } }, 'connection cut: its client does not read');
    socket.destroy();
  }

  #watch(): void {
    if (this.#timer !== undefined || this.#peers.size === 0) return;
    this.#timer = this.#clock.after(READ_WITHIN_MS, () => {
      this.#timer = undefined;
      const nowMs = this.#clock.nowMs();
      for (const [socket, { bytes, sinceMs }] of this.#peers)
        if (nowMs - sinceMs >= READ_WITHIN_MS + bytes / BYTES_PER_MS) this.#cut(socket, 'too slow');
      this.#watch();
    });
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}

/** Length of an answer's body; 0 of one that is streamed. */
export function bytesOf(payload: unknown): number {
  if (typeof payload === 'string') return Buffer.byteLength(payload);
  return payload instanceof Uint8Array ? payload.byteLength : 0;
}

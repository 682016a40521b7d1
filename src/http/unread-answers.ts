import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import { throttleLines } from '../observability/log-throttle.ts';

/** Most requests of a connection that wait for an earlier answer. Browsers and proxies send one at a time. */
export const MOST_WAITING = 16;
/** Most unsent bytes to one address, in answers beyond the system's buffers. A single answer may be larger. */
export const MOST_UNSENT_OF_ADDRESS = 8 * 1024 ** 2;
/** Most unsent bytes over all addresses. */
export const MOST_UNSENT = 64 * 1024 ** 2;
/** Time for a client to read an answer: a fixed part, and a second for each 16 kB unsent. */
export const READ_WITHIN_MS = 30_000;
const BYTES_PER_MS = 16;

interface Peer {
  readonly address: string;
  /** Answers that are not completely sent. */
  answers: number;
  bytes: number;
  /** When it stopped reading. */
  sinceMs: number;
}

/**
 * Bounds the memory for clients that do not read their answers, by cutting their connections. Streamed answers are not counted, as they wait for
 * their reader.
 */
export class UnreadAnswers {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #throttle: ReturnType<typeof throttleLines>;
  /** Requests waiting behind an unanswered one, by connection. */
  readonly #waiting = new WeakMap<Socket, (() => void)[]>();
  /** Least recently reading first. */
  readonly #peers = new Map<Socket, Peer>();
  readonly #byAddress = new Map<string, number>();
  #bytes = 0;
  #timer: Timer | undefined;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
    this.#throttle = throttleLines(clock);
  }

  /** Total unsent bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Handles a request once earlier ones on its connection are answered; never if the connection is cut. */
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

  /** Counts an answer about to be written. @param bytes of its body */
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

  /** @returns false where only the one answer of `own` is left */
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

/** Length of an answer's body; 0 for a streamed one. */
export function bytesOf(payload: unknown): number {
  if (typeof payload === 'string') return Buffer.byteLength(payload);
  return payload instanceof Uint8Array ? payload.byteLength : 0;
}

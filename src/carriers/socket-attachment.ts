import type { Socket } from 'node:net';
import type { Clock, Timer } from '../kernel/clock.ts';
import { LentWrites } from '../websocket/lent-writes.ts';
import { base64Length, encodeBase64Into } from './base64.ts';
import type { JsonDialect } from './json-dialect.ts';
import type { Attachment, CarrierCapabilities, MediaEvent, StreamStarted } from './port.ts';

/** The part of a WebSocket that an attachment uses; `ws` fits, and so does a stand-in in a test. */
export interface MediaSocket {
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(message: string | Uint8Array): void;
  ping(): void;
  close(code: number, reason: string): void;
  terminate(): void;
}

const open = 1;
/** Ten seconds of audio: more than this before anyone listens is dropped, oldest kept. */
const maxHeldEvents = 500;
/** A carrier that reads so little is gone; more than a minute of base64 mu-law. */
const maxBufferedBytes = 1_048_576;
/** Time the peer gets to answer our close. */
const closeGraceMs = 2000;
const pingEveryMs = 10_000;

export interface SocketAttachmentOptions {
  readonly id: string;
  readonly dialect: JsonDialect;
  readonly started: StreamStarted;
  readonly socket: MediaSocket;
  /** What it was upgraded from; undefined where that is no socket of Node's. */
  readonly stream: Socket | undefined;
  readonly clock: Clock;
}

/**
 * A carrier's JSON socket that has started. Fed by whoever reads the socket (`receive`, `closed`). A socket that
 * gives no sign of life for two pings is terminated, so that a peer that vanished is noticed within 20 seconds.
 */
export class SocketAttachment implements Attachment {
  readonly id: string;
  readonly carrier: string;
  readonly started: StreamStarted;
  readonly capabilities: CarrierCapabilities;
  readonly #socket: MediaSocket;
  readonly #writes: LentWrites;
  readonly #dialect: JsonDialect;
  readonly #clock: Clock;
  /** What stands before and after the base64 of an audio message. */
  readonly #before: Buffer;
  readonly #after: Buffer;
  #listener: ((event: MediaEvent) => void) | undefined;
  #held: MediaEvent[] = [];
  #closing = false;
  #over = false;
  #alive = true;
  #timer: Timer;

  constructor(options: SocketAttachmentOptions) {
    this.id = options.id;
    this.started = options.started;
    this.carrier = options.dialect.carrier;
    this.capabilities = options.dialect.capabilities;
    this.#dialect = options.dialect;
    this.#socket = options.socket;
    this.#writes = new LentWrites(options.socket, options.stream, false);
    this.#clock = options.clock;
    const [before, after] = options.dialect.send.audio(options.started.streamId);
    this.#before = Buffer.from(before);
    this.#after = Buffer.from(after);
    this.#timer = this.#clock.after(pingEveryMs, () => this.#checkLife());
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  listen(listener: (event: MediaEvent) => void): void {
    if (this.#listener !== undefined) throw new TypeError('an attachment has one listener');
    this.#listener = listener;
    const held = this.#held;
    this.#held = [];
    for (const event of held) listener(event);
  }

  sendAudio(payload: Uint8Array): void {
    if (payload.byteLength === 0 || payload.byteLength % this.capabilities.payloadMultipleBytes !== 0) {
      throw new RangeError(
        `audio payload of ${payload.byteLength} bytes; a multiple of ${this.capabilities.payloadMultipleBytes} is sent`,
      );
    }
    if (!this.#canSend()) return;
    const before = this.#before;
    const length = before.length + base64Length(payload.length) + this.#after.length;
    const message = this.#writes.room(length);
    message.set(before);
    message.set(this.#after, encodeBase64Into(payload, message, before.length));
    this.#writes.send('text', length);
  }

  sendMark(name: string): void {
    this.#send(this.#dialect.send.mark(this.started.streamId, name));
  }

  sendClear(): void {
    this.#send(this.#dialect.send.clear(this.started.streamId));
  }

  /** @throws TypeError where the carrier has no such message */
  sendDigits(digits: string): void {
    const message = this.#dialect.send.digits?.(this.started.streamId, digits);
    if (message === undefined) throw new TypeError(`the carrier ${this.carrier} takes no keys on its socket`);
    this.#send(message);
  }

  close(reason: string): void {
    if (this.#closing || this.#over) return;
    this.#closing = true;
    this.#timer.cancel();
    this.#socket.close(1000, closeText(reason));
    this.#timer = this.#clock.after(closeGraceMs, () => this.#socket.terminate());
  }

  /** An event from the socket. After our own close only what ends the stream is passed on. */
  receive(event: MediaEvent): void {
    if (this.#over || (this.#closing && event.type !== 'stopped')) return;
    this.#alive = true;
    this.#deliver(event);
  }

  /** Any sign of life, for example a pong. */
  touch(): void {
    this.#alive = true;
  }

  /** The socket is gone. Only the first call counts. */
  closed(code: number, reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#timer.cancel();
    this.#deliver({ type: 'closed', code, reason });
  }

  #deliver(event: MediaEvent): void {
    if (this.#listener !== undefined) {
      this.#listener(event);
      return;
    }
    // Nobody listens yet. The payload is only lent to us, so it is copied. `closed` always has a place.
    if (this.#held.length >= maxHeldEvents && event.type !== 'closed' && event.type !== 'stopped') return;
    this.#held.push(event.type === 'audio' ? { ...event, payload: event.payload.slice() } : event);
  }

  #send(text: string): void {
    if (this.#canSend()) this.#writes.sendText(text);
  }

  /** A socket whose other end has stopped reading is given up. */
  #canSend(): boolean {
    if (this.#socket.readyState !== open || this.#closing) return false;
    if (this.#socket.bufferedAmount <= maxBufferedBytes) return true;
    this.#closing = true;
    this.#timer.cancel();
    this.#socket.terminate();
    return false;
  }

  #checkLife(): void {
    if (!this.#alive) {
      this.#socket.terminate();
      return;
    }
    this.#alive = false;
    if (this.#socket.readyState === open) this.#socket.ping();
    this.#timer = this.#clock.after(pingEveryMs, () => this.#checkLife());
  }
}

/** A close reason is at most 123 bytes of UTF-8 (RFC 6455, 5.5.1). */
export function closeText(reason: string): string {
  const bytes = Buffer.from(reason);
  return bytes.length <= 123
    ? reason
    : bytes
        .subarray(0, 120)
        .toString('utf8')
        .replace(/\uFFFD$/, '');
}

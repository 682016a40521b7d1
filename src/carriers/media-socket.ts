import type { Clock, Timer } from '../kernel/clock.ts';
import { closeReason } from '../kernel/websocket/close-reason.ts';
import type { BusinessEvents } from '../observability/events.ts';
import type { MediaCodec, WireEvent } from './media-codec.ts';
import type { MediaConnection } from './media-connection.ts';
import type { Attachment, CarrierCapabilities, StreamStarted } from './port.ts';
import { SocketAttachment } from './socket-attachment.ts';

export interface MediaSocketOptions {
  readonly connection: MediaConnection;
  readonly carrier: string;
  readonly capabilities: CarrierCapabilities;
  /** For this socket only. */
  readonly codec: MediaCodec;
  readonly clock: Clock;
  readonly events: Pick<BusinessEvents, 'messageRejected' | 'messageUnknown'>;
  readonly callId: string;
  readonly attachmentId: string;
  /**
   * Carrier call id the socket was admitted for: a start that names another is refused, one that names none belongs to it. Undefined where unknown.
   */
  readonly carrierCallId: string | undefined;
  readonly startTimeoutMs: number;
  /** The stream has started. Called at most once, and not after `onAbandoned`. */
  readonly onStarted: (attachment: Attachment) => void;
  /** The socket ended before a usable start. Called at most once, and not after `onStarted`. */
  readonly onAbandoned: (reason: string) => void;
  /** A listener threw; the socket is closed with 1011. */
  readonly onFault: (error: unknown) => void;
}

/** A silent socket is closed after this time, however long its carrier may need until the start. */
const SILENT_MS = 5000;
/** Time for the peer to answer a goodbye, and a close. */
const GOODBYE_MS = 5000;
const CLOSE_MS = 2000;
/** `readyState` of a connection. */
const OPEN = 1;
const CLOSED = 3;

/** Reads a carrier's new media connection: waits for its start, then hands it over as an attachment. */
export function acceptMediaSocket(options: MediaSocketOptions): void {
  new NewMediaSocket(options).listen();
}

type Phase =
  | { readonly name: 'waiting' }
  | { readonly name: 'started'; readonly attachment: SocketAttachment }
  | { readonly name: 'abandoned' };

class NewMediaSocket {
  readonly #options: MediaSocketOptions;
  readonly #about: { readonly carrier: string; readonly callId: string };
  /** Media time of the caller, and of the other party. */
  readonly #times = { caller: new MediaTime(), other: new MediaTime() };
  #phase: Phase = { name: 'waiting' };
  /** Waits for the start; then, of an abandoned socket, for the peer's part of its end. */
  #timer: Timer;
  #rejectedCount = 0;
  /** The first usable message came, where the carrier may need long until the start. */
  #hasSpoken: boolean;

  constructor(options: MediaSocketOptions) {
    const { carrier, callId, startTimeoutMs } = options;
    this.#options = options;
    this.#about = { carrier, callId };
    this.#hasSpoken = startTimeoutMs <= SILENT_MS;
    this.#timer = this.#hasSpoken ? this.#startWithin(startTimeoutMs, 'start') : this.#startWithin(SILENT_MS, 'message');
  }

  listen(): void {
    this.#options.connection.listen({
      message: (data, isBinary) => this.#guarded(() => this.#receive(data, isBinary)),
      alive: () => {
        if (this.#phase.name === 'started') this.#phase.attachment.touch();
      },
      problem: (problem) => this.#guarded(() => this.#reject(problem)),
      closed: (code, reason) =>
        this.#guarded(() => {
          if (this.#phase.name === 'started') this.#phase.attachment.closed(code, reason);
          else this.#abandon(1000, `socket closed with code ${code} before start`);
          if (this.#phase.name === 'abandoned') this.#timer.cancel();
        }),
    });
  }

  #receive(message: Buffer, isBinary: boolean): void {
    const { codec, connection, events } = this.#options;
    const result = codec.read(message, isBinary, connection.writes);
    const phase = this.#phase;
    if (phase.name === 'abandoned') {
      // The peer's answer to the goodbye is answered; anything else is ignored.
      if (result.type === 'stopped') this.#shut(1000, 'no call');
      return;
    }
    if (phase.name === 'waiting' && result.type !== 'rejected') this.#spoken();
    switch (result.type) {
      case 'ignored':
        return events.messageUnknown({ ...this.#about, name: result.name });
      case 'rejected':
        this.#reject(result.problem);
        if (result.fatal === true) this.#abandon(1003, result.problem);
        return;
      case 'started':
        return this.#start(result);
      case 'audio':
        this.#hear(result);
        if (result.other !== undefined) this.#hear({ ...result, payload: result.other, track: 'other' });
        return;
      case 'probe':
        return;
      case 'alive':
        if (phase.name === 'started') phase.attachment.touch();
        return;
      case 'connected':
      case 'digit':
      case 'mark':
      case 'stopped':
        if (phase.name === 'started') phase.attachment.receive(result);
        return;
    }
  }

  #start({ mismatch, ...told }: Extract<WireEvent, { type: 'started' }>): void {
    const { connection, carrier, codec, clock, attachmentId: id, carrierCallId: expected } = this.#options;
    const carrierCallId = told.carrierCallId ?? expected;
    if (carrierCallId === undefined) {
      this.#reject('start names no call, and the id of the dialled call is not known yet');
      return this.#abandon(1008, 'start names no call');
    }
    if (expected !== undefined && carrierCallId !== expected) {
      this.#reject('start names another call than the token of this socket');
      return this.#abandon(1008, 'start names another call');
    }
    if (mismatch !== undefined) this.#reject(mismatch);
    const started: StreamStarted = { ...told, carrierCallId };
    this.#timer.cancel();
    const capabilities = { ...this.#options.capabilities, ...told.capabilities };
    const { writes } = connection;
    const attachment = new SocketAttachment({ id, carrier, capabilities, codec, started, socket: connection, writes, clock });
    this.#phase = { name: 'started', attachment };
    this.#options.onStarted(attachment);
  }

  #hear(audio: Extract<WireEvent, { type: 'audio' }>): void {
    if (this.#phase.name !== 'started') return;
    const { attachment } = this.#phase;
    const nowMs = this.#options.clock.nowMs();
    const time = this.#times[audio.track ?? 'caller'];
    if (!time.admits(attachment.durationMs(audio.payload), nowMs))
      return this.#reject('audio arrives faster than real time and is dropped');
    const timestampMs = time.check(audio.timestampMs, nowMs);
    attachment.receive(timestampMs === audio.timestampMs ? audio : { ...audio, timestampMs });
  }

  #reject(problem: string): void {
    this.#rejectedCount += 1;
    this.#options.events.messageRejected({ ...this.#about, problem, count: this.#rejectedCount });
    if (this.#phase.name === 'started') this.#phase.attachment.receive({ type: 'rejected', problem });
  }

  #startWithin(ms: number, what: string): Timer {
    return this.#options.clock.after(ms, () => this.#guarded(() => this.#abandon(1008, `no ${what} within ${ms} ms`)));
  }

  /** A peer that speaks the protocol gets as long as its carrier needs: it may open the socket before the call is answered. */
  #spoken(): void {
    if (this.#hasSpoken) return;
    this.#hasSpoken = true;
    this.#timer.cancel();
    this.#timer = this.#startWithin(this.#options.startTimeoutMs, 'start');
  }

  #abandon(code: number, reason: string): void {
    if (this.#phase.name !== 'waiting') return;
    const { connection, codec, clock } = this.#options;
    this.#phase = { name: 'abandoned' };
    this.#timer.cancel();
    if (connection.readyState !== CLOSED) {
      const word = connection.readyState === OPEN ? codec.goodbye?.(reason, connection.writes, true) : undefined;
      if (word === 'wait') this.#timer = clock.after(GOODBYE_MS, () => this.#shut(code, reason));
      else this.#shut(code, reason);
    }
    this.#options.onAbandoned(reason);
  }

  #shut(code: number, reason: string): void {
    const { connection, clock } = this.#options;
    this.#timer.cancel();
    connection.close(code, closeReason(reason));
    // A peer that ignores the close must not keep the socket.
    this.#timer = clock.after(CLOSE_MS, () => connection.terminate());
  }

  /** A listener's exception must not reach the process, which carries other calls. */
  #guarded(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#options.onFault(error);
      this.#options.connection.close(1011, 'internal fault');
    }
  }
}

/** Larger values are not ms of any clock, and leave no precision for frames. */
const MOST_TIMESTAMP_MS = 1e15;
/** How far a carrier's timestamps or audio may run ahead of our clock: a delayed first frame, and drift over hours. */
const MOST_LEAD_MS = 10_000;

/**
 * Validates media timestamps. Wire time may lag, as messages are delayed, but a stream cannot be ahead of the time since it began: believing that
 * would insert hours of silence.
 */
export class MediaTime {
  #startedMs: number | undefined;
  /** Arrival time of the first sample. */
  #firstMs: number | undefined;
  /** Total audio so far. */
  #lengthMs = 0;

  /**
   * @param timestampMs the carrier's, in ms on its own clock
   * @param nowMs arrival, on the monotonic clock
   * @returns the timestamp; undefined for an absent, invalid or too early one
   */
  check(timestampMs: number | undefined, nowMs: number): number | undefined {
    if (timestampMs === undefined || !(timestampMs >= 0 && timestampMs <= MOST_TIMESTAMP_MS)) return undefined;
    this.#startedMs ??= nowMs - timestampMs;
    return this.#startedMs + timestampMs > nowMs + MOST_LEAD_MS ? undefined : timestampMs;
  }

  /**
   * Whether this much audio can have been spoken since the stream began: faster audio would fill recording and recogniser with hours.
   * @param nowMs arrival, on the monotonic clock
   */
  admits(durationMs: number, nowMs: number): boolean {
    this.#firstMs ??= nowMs - durationMs;
    const lengthMs = this.#lengthMs + durationMs;
    if (lengthMs > nowMs - this.#firstMs + MOST_LEAD_MS) return false;
    this.#lengthMs = lengthMs;
    return true;
  }
}

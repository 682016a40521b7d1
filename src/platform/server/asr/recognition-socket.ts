import { randomUUID } from 'node:crypto';
import type { RawData, WebSocket } from 'ws';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import type { Logger } from '../../../observability/logger.ts';
import type { RecognitionEngine } from '../../engines/recognise/port.ts';
import { closeReason } from '../../../kernel/websocket/close-reason.ts';
import { closeSocket } from '../listener/socket-routes.ts';
import type { FaultDice } from '../faults/faults.ts';
import { refusalOf } from '../listener/http-app.ts';
import type { PlatformLimits, Slots } from '../listener/limits.ts';
import { detailText } from '../listener/refusal.ts';
import { type RecognitionStreamOptions, recognitionFailure, recognitionWarnings } from './language-recognition.ts';
import { RecognitionSession, type TurnRules } from './recognition-session.ts';

/** A problem that closes a socket with an error. */
export interface SocketProblem {
  readonly type: 'protocol' | 'key-refused' | 'no-balance' | 'capacity' | 'timeout' | 'internal';
  /** For the client; contains no credential. */
  readonly text: string;
  /** For the log only. */
  readonly cause?: unknown;
}

/** A message after `ready`. Audio is 16-bit little-endian mono at the rate of the opening, split anywhere. */
export type ClientMessage =
  | { readonly type: 'audio'; readonly bytes: Uint8Array }
  | { readonly type: 'commit' | 'end' }
  | { readonly type: 'refused'; readonly reason: string };

/** A valid first message. */
export interface SocketOpening<Event> {
  readonly recognition: RecognitionStreamOptions;
  /** Called once, after the credential was accepted. */
  rules(): TurnRules<Event>;
  /**
   * Checks the credential; messages are refused while a promise is pending.
   * @returns the id of the API key, whose slot the session takes
   * @throws Refusal for a credential that is refused
   */
  owner(): string | SocketProblem | Promise<string>;
  /** @param warnings what was asked for and will not be done */
  ready(sessionId: string, warnings: readonly string[]): Event;
  /** A binary message after `ready`. */
  readBytes(bytes: Buffer): ClientMessage;
  readText(text: string): ClientMessage;
}

/** The wire protocol of one of the two addresses. One for each socket. */
export interface RecognitionProtocol<Event> {
  /** Its names for a message and for the first message, used in errors. */
  readonly words: { readonly message: string; readonly opening: string };
  /** @param text the first message, as received */
  open(text: string): SocketOpening<Event> | SocketProblem;
  error(problem: SocketProblem): { readonly event: Event; readonly closeCode: number };
}

export interface RecognitionSocketOptions<Event> {
  readonly socket: WebSocket;
  readonly protocol: RecognitionProtocol<Event>;
  readonly slots: Slots;
  readonly limits: PlatformLimits;
  readonly faults: FaultDice;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly engine: RecognitionEngine;
}

interface Streaming<Event> {
  readonly name: 'streaming' | 'ending';
  readonly opening: SocketOpening<Event>;
  readonly session: RecognitionSession<Event>;
  readonly freeSlot: () => void;
}

type State<Event> =
  | { readonly name: 'waiting' }
  /** The credential is being checked; the client must wait for `ready`. */
  | { readonly name: 'opening' }
  | Streaming<Event>
  | { readonly name: 'closed' };

/** Unread bytes of events at which a client is disconnected. */
const maxUnreadBytes = 1024 * 1024;

/** Serves streaming recognition on a new socket: first message, time limits, slots, session, errors and close. */
export function serveRecognitionSocket<Event extends object>(options: RecognitionSocketOptions<Event>): void {
  const served = new ServedSocket(options);
  options.socket.on('message', (data, isBinary) => served.received(bytesOf(data), isBinary));
  options.socket.on('close', () => served.leave());
}

class ServedSocket<Event extends object> {
  readonly #options: RecognitionSocketOptions<Event>;
  readonly #id = randomUUID();
  readonly #logger: Logger;
  readonly #timers: Timer[] = [];
  #state: State<Event> = { name: 'waiting' };
  #idle: Timer;
  readonly #openTimer: Timer;

  constructor(options: RecognitionSocketOptions<Event>) {
    const { clock, limits, protocol } = options;
    this.#options = options;
    this.#logger = options.logger.child({ sessionId: this.#id });
    this.#idle = this.#watchIdle();
    this.#openTimer = clock.after(limits.initMs, () =>
      this.#failTimeout(`No ${protocol.words.opening} arrived within ${limits.initMs / 1000} s`),
    );
    this.#timers.push(this.#openTimer);
  }

  received(bytes: Buffer, isBinary: boolean): void {
    const state = this.#state;
    this.#idle.cancel();
    if (state.name === 'closed') return;
    this.#idle = this.#watchIdle();
    switch (state.name) {
      case 'waiting':
        if (isBinary) this.#fail({ type: 'protocol', text: `Audio arrived before the ${this.#options.protocol.words.opening}` });
        else this.#begin(bytes.toString('utf8'));
        return;
      case 'opening':
        this.#fail({ type: 'protocol', text: 'Frames must wait for the ready event' });
        return;
      case 'streaming':
        this.#take(state, isBinary ? state.opening.readBytes(bytes) : state.opening.readText(bytes.toString('utf8')));
        return;
      case 'ending':
        // Ignores audio after `end`.
        return;
    }
  }

  /** Frees what the socket holds. */
  leave(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#idle.cancel();
    const state = this.#state;
    if (state.name === 'streaming' || state.name === 'ending') {
      state.session.dispose();
      state.freeSlot();
    }
    this.#state = { name: 'closed' };
  }

  #send(event: Event): void {
    const { socket } = this.#options;
    if (socket.readyState !== socket.OPEN) return;
    socket.send(JSON.stringify(event));
    if (socket.bufferedAmount > maxUnreadBytes) {
      this.#logger.warn({ unreadBytes: socket.bufferedAmount }, 'client does not read its events, socket closed');
      socket.terminate();
    }
  }

  #fail(problem: SocketProblem): void {
    if (this.#state.name === 'closed') return;
    this.leave();
    const { type, text, cause } = problem;
    const reason = closeReason(text);
    if (cause === undefined) this.#logger.debug({ problem: type, reason }, 'realtime session refused');
    else this.#logger.warn({ problem: type, error: cause }, 'realtime session failed');
    const { protocol, socket, clock } = this.#options;
    // The event has the whole text; a close frame holds 123 bytes (ASR doc, events).
    const { event, closeCode } = protocol.error(problem);
    this.#send(event);
    void closeSocket(socket, closeCode, reason, clock);
  }

  #failEngine(error: unknown): void {
    this.#fail({ type: 'internal', text: recognitionFailure(error), cause: error });
  }

  #failTimeout(text: string): void {
    this.#fail({ type: 'timeout', text });
  }

  #watchIdle(): Timer {
    const { clock, limits, protocol } = this.#options;
    return clock.after(limits.inactivityMs, () =>
      this.#failTimeout(`No ${protocol.words.message} arrived within the inactivity limit of ${limits.inactivityMs / 1000} s`),
    );
  }

  #begin(text: string): void {
    const opening = this.#options.protocol.open(text);
    if ('type' in opening) {
      this.#fail(opening);
      return;
    }
    this.#state = { name: 'opening' };
    this.#open(opening).catch((error: unknown) => {
      const refusal = refusalOf(error);
      this.#fail({ type: 'internal', text: detailText(refusal.detail), cause: refusal.cause });
    });
  }

  async #open(opening: SocketOpening<Event>): Promise<void> {
    const { slots, limits, faults, clock, engine } = this.#options;
    // A credential known at once is not awaited: such a client may send audio right after its first message.
    const checked = opening.owner();
    const owner = checked instanceof Promise ? await checked : checked;
    if (this.#state.name !== 'opening') return;
    if (typeof owner !== 'string') {
      this.#fail(owner);
      return;
    }
    const freeSlot = slots.take(owner);
    if (freeSlot === undefined) {
      this.#fail({ type: 'capacity', text: `Rate limit: ${limits.concurrentPerKey} requests at once are allowed` });
      return;
    }
    const { recognition } = opening;
    try {
      const session = new RecognitionSession({
        recognition,
        rules: opening.rules(),
        faults,
        clock,
        engine,
        emit: (event: Event) => this.#send(event),
        fail: (text, cause) => this.#fail({ type: 'internal', text, cause }),
      });
      this.#state = { name: 'streaming', opening, session, freeSlot };
    } catch (error) {
      freeSlot();
      this.#failEngine(error);
      return;
    }
    this.#openTimer.cancel();
    this.#timers.push(
      clock.after(limits.sessionMs, () =>
        this.#failTimeout(`The connection reached its maximum of ${limits.sessionMs / 1000} s`),
      ),
    );
    this.#send(opening.ready(this.#id, recognitionWarnings(engine, recognition.language, recognition)));
    this.#logger.debug({ keyId: owner, sampleRateHz: recognition.rateHz }, 'realtime session ready');
  }

  #take(streaming: Streaming<Event>, message: ClientMessage): void {
    const { session } = streaming;
    switch (message.type) {
      case 'audio':
        try {
          session.audio(message.bytes);
        } catch (error) {
          this.#failEngine(error);
        }
        return;
      case 'commit':
        session.commit();
        return;
      case 'end':
        this.#state = { ...streaming, name: 'ending' };
        void session.end().then(() => {
          if (this.#state.name !== 'ending') return;
          this.leave();
          void closeSocket(this.#options.socket, 1000, '', this.#options.clock);
        });
        return;
      case 'refused':
        this.#fail({ type: 'protocol', text: message.reason });
        return;
    }
  }
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

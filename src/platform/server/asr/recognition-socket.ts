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
  const { socket, protocol, clock, limits, engine, faults } = options;
  const id = randomUUID();
  const logger = options.logger.child({ sessionId: id });
  let state: State<Event> = { name: 'waiting' };
  const timers: Timer[] = [];

  const send = (event: Event): void => {
    if (socket.readyState !== socket.OPEN) return;
    socket.send(JSON.stringify(event));
    if (socket.bufferedAmount > maxUnreadBytes) {
      logger.warn({ unreadBytes: socket.bufferedAmount }, 'client does not read its events, socket closed');
      socket.terminate();
    }
  };
  const leave = (): void => {
    for (const timer of timers) timer.cancel();
    idle.cancel();
    if (state.name === 'streaming' || state.name === 'ending') {
      state.session.dispose();
      state.freeSlot();
    }
    state = { name: 'closed' };
  };
  const fail = (problem: SocketProblem): void => {
    if (state.name === 'closed') return;
    leave();
    const { type, text, cause } = problem;
    const reason = closeReason(text);
    if (cause === undefined) logger.debug({ problem: type, reason }, 'realtime session refused');
    else logger.warn({ problem: type, error: cause }, 'realtime session failed');
    // The event has the whole text; a close frame holds 123 bytes (ASR doc, events).
    const { event, closeCode } = protocol.error(problem);
    send(event);
    void closeSocket(socket, closeCode, reason, clock);
  };
  const failEngine = (error: unknown): void => fail({ type: 'internal', text: recognitionFailure(error), cause: error });
  const failTimeout = (text: string): void => fail({ type: 'timeout', text });
  const watchIdle = (): Timer =>
    clock.after(limits.inactivityMs, () =>
      failTimeout(`No ${protocol.words.message} arrived within the inactivity limit of ${limits.inactivityMs / 1000} s`),
    );

  const open = async (opening: SocketOpening<Event>): Promise<void> => {
    // A credential known at once is not awaited: such a client may send audio right after its first message.
    const checked = opening.owner();
    const owner = checked instanceof Promise ? await checked : checked;
    if (state.name !== 'opening') return;
    if (typeof owner !== 'string') {
      fail(owner);
      return;
    }
    const freeSlot = options.slots.take(owner);
    if (freeSlot === undefined) {
      fail({ type: 'capacity', text: `Rate limit: ${limits.concurrentPerKey} requests at once are allowed` });
      return;
    }
    const { recognition } = opening;
    try {
      const failed = (text: string, cause?: unknown): void => fail({ type: 'internal', text, cause });
      const session = new RecognitionSession({
        recognition,
        rules: opening.rules(),
        faults,
        clock,
        engine,
        emit: send,
        fail: failed,
      });
      state = { name: 'streaming', opening, session, freeSlot };
    } catch (error) {
      freeSlot();
      failEngine(error);
      return;
    }
    openTimer.cancel();
    timers.push(
      clock.after(limits.sessionMs, () => failTimeout(`The connection reached its maximum of ${limits.sessionMs / 1000} s`)),
    );
    send(opening.ready(id, recognitionWarnings(engine, recognition.language, recognition)));
    logger.debug({ keyId: owner, sampleRateHz: recognition.rateHz }, 'realtime session ready');
  };
  const begin = (text: string): void => {
    const opening = protocol.open(text);
    if ('type' in opening) {
      fail(opening);
      return;
    }
    state = { name: 'opening' };
    open(opening).catch((error: unknown) => {
      const refusal = refusalOf(error);
      fail({ type: 'internal', text: detailText(refusal.detail), cause: refusal.cause });
    });
  };
  const take = (streaming: Streaming<Event>, message: ClientMessage): void => {
    const { session } = streaming;
    switch (message.type) {
      case 'audio':
        try {
          session.audio(message.bytes);
        } catch (error) {
          failEngine(error);
        }
        return;
      case 'commit':
        session.commit();
        return;
      case 'end':
        state = { ...streaming, name: 'ending' };
        void session.end().then(() => {
          if (state.name !== 'ending') return;
          leave();
          void closeSocket(socket, 1000, '', clock);
        });
        return;
      case 'refused':
        fail({ type: 'protocol', text: message.reason });
        return;
    }
  };

  let idle = watchIdle();
  const openTimer = clock.after(limits.initMs, () =>
    failTimeout(`No ${protocol.words.opening} arrived within ${limits.initMs / 1000} s`),
  );
  timers.push(openTimer);
  socket.on('message', (data, isBinary) => {
    idle.cancel();
    if (state.name === 'closed') return;
    idle = watchIdle();
    const bytes = bytesOf(data);
    switch (state.name) {
      case 'waiting':
        if (isBinary) fail({ type: 'protocol', text: `Audio arrived before the ${protocol.words.opening}` });
        else begin(bytes.toString('utf8'));
        return;
      case 'opening':
        fail({ type: 'protocol', text: 'Frames must wait for the ready event' });
        return;
      case 'streaming':
        take(state, isBinary ? state.opening.readBytes(bytes) : state.opening.readText(bytes.toString('utf8')));
        return;
      case 'ending':
        // Ignores audio after `end`.
        return;
    }
  });
  socket.on('close', leave);
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

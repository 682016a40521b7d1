import { randomUUID } from 'node:crypto';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import type { Logger } from '../../../observability/logger.ts';
import type { RecognitionEngine } from '../../engines/port.ts';
import { admit } from '../auth/bearer.ts';
import type { TokenClaims, Tokens } from '../auth/tokens.ts';
import type { Behaviour } from '../behaviour.ts';
import { closeReason } from '../close-reason.ts';
import type { FaultDice } from '../faults/fault-dice.ts';
import { refusalOf } from '../http-app.ts';
import type { PlatformLimits } from '../limits.ts';
import { detailText } from '../refusal.ts';
import type { Slots } from '../slots.ts';
import { closeSocket } from '../socket-routes.ts';
import { recognitionFailure } from './hearing.ts';
import { type InitFrame, readInitFrame } from './init-frame.ts';
import type { RealtimeEvent } from './realtime-events.ts';
import { RealtimeSession } from './realtime-session.ts';
import { recognitionWarnings } from './warnings.ts';

export interface RealtimeSocketOptions {
  readonly socket: WebSocket;
  readonly tokens: Tokens;
  /** Whose token came in the header of the upgrade; undefined when there was none. */
  readonly holder: TokenClaims | undefined;
  /** Also takes and sends what the vendor's newer clients expect (docs/platform-clients.md). */
  readonly compat: boolean;
  readonly slots: Slots;
  readonly limits: PlatformLimits;
  readonly behaviour: Behaviour;
  readonly faults: FaultDice;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly engine: RecognitionEngine;
}

type State =
  | { readonly name: 'waiting' }
  /** The init frame is being checked: nothing may be sent until `ready`. */
  | { readonly name: 'opening' }
  | { readonly name: 'streaming'; readonly session: RealtimeSession; readonly freeSlot: () => void }
  | { readonly name: 'ending'; readonly session: RealtimeSession; readonly freeSlot: () => void }
  | { readonly name: 'closed' };

/** Bytes of events that a client may leave unread before it is cut off. */
const maxUnreadBytes = 1024 * 1024;

/** Speaks the realtime protocol of the primary address on a fresh socket (ASR doc, WebSocket /v1/realtime). */
export function serveRealtimeSocket(options: RealtimeSocketOptions): void {
  const { socket, clock, limits, behaviour, faults, compat } = options;
  const id = randomUUID();
  const logger = options.logger.child({ sessionId: id });
  let state: State = { name: 'waiting' };
  const timers: Timer[] = [];

  const send = (event: RealtimeEvent): void => {
    if (socket.readyState !== socket.OPEN) return;
    socket.send(JSON.stringify(event));
    if (socket.bufferedAmount > maxUnreadBytes) {
      logger.warn({ unreadBytes: socket.bufferedAmount }, 'client does not read its events, socket cut');
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
  const fail = (reason: string, cause?: unknown): void => {
    if (state.name === 'closed') return;
    leave();
    if (cause === undefined) logger.debug({ reason: closeReason(reason) }, 'realtime session refused');
    else logger.warn({ error: cause }, 'realtime session failed');
    // The close frame holds 123 bytes; the event has the whole text, and goes first (ASR doc, events).
    // The vendor's newer clients read the text from `message`.
    send({ type: 'error', error: reason, ...(compat ? { message: reason } : {}) });
    void closeSocket(socket, 1008, closeReason(reason), clock);
  };
  const watchIdle = (): Timer =>
    clock.after(limits.inactivityMs, () =>
      fail(`No frame arrived within the inactivity limit of ${limits.inactivityMs / 1000} s`),
    );

  const open = async (init: InitFrame): Promise<void> => {
    const { holder, tokens } = options;
    const { keyId } =
      holder !== undefined && init.token === undefined
        ? holder
        : await admit(tokens, 'asr', init.token, ' with the handshake, or token in the first frame');
    if (state.name !== 'opening') return;
    const freeSlot = options.slots.take(keyId);
    if (freeSlot === undefined) {
      fail(`Rate limit: ${limits.concurrentPerKey} requests at once are allowed`);
      return;
    }
    let session: RealtimeSession;
    try {
      session = new RealtimeSession({ init, behaviour, compat, faults, clock, engine: options.engine, emit: send, fail });
    } catch (error) {
      freeSlot();
      fail(recognitionFailure(error), error);
      return;
    }
    state = { name: 'streaming', session, freeSlot };
    initTimer.cancel();
    timers.push(clock.after(limits.sessionMs, () => fail(`The connection reached its maximum of ${limits.sessionMs / 1000} s`)));
    const warnings = recognitionWarnings(options.engine, init.language, init);
    send({
      type: 'ready',
      session_id: id,
      language: init.language.type === 'auto' ? 'auto' : init.language.language.code,
      sample_rate: init.sampleRateHz,
      diarize: init.diarize,
      ...(init.numSpeakers === undefined ? {} : { num_speakers: init.numSpeakers }),
      codeswitch: init.codeswitch,
      ...(init.endpointSilenceMs === undefined ? {} : { endpoint_silence_ms: init.endpointSilenceMs }),
      ...(warnings.length === 0 ? {} : { warnings }),
    });
    logger.debug({ keyId, sampleRateHz: init.sampleRateHz }, 'realtime session ready');
  };
  const begin = (text: string): void => {
    const result = readInitFrame(text, compat);
    if (result.type === 'refused') {
      fail(result.reason);
      return;
    }
    state = { name: 'opening' };
    open(result.init).catch((error: unknown) => {
      const refusal = refusalOf(error);
      fail(detailText(refusal.detail), refusal.cause);
    });
  };
  const command = (session: RealtimeSession, freeSlot: () => void, text: string): void => {
    const word = compat ? (jsonType(text) ?? text.trim().toLowerCase()) : text;
    if (word === 'commit') {
      session.commit();
    } else if (word === 'end') {
      state = { name: 'ending', session, freeSlot };
      void session.end().then(() => {
        if (state.name !== 'ending') return;
        leave();
        void closeSocket(socket, 1000, '', clock);
      });
    } else {
      fail(unknownText(text));
    }
  };

  let idle = watchIdle();
  const initTimer = clock.after(limits.initMs, () => {
    if (state.name === 'waiting' || state.name === 'opening') fail(`No init frame arrived within ${limits.initMs / 1000} s`);
  });
  timers.push(initTimer);
  socket.on('message', (data, isBinary) => {
    idle.cancel();
    if (state.name === 'closed') return;
    idle = watchIdle();
    const bytes = bytesOf(data);
    switch (state.name) {
      case 'waiting':
        if (isBinary) fail('Audio arrived before the init frame');
        else begin(bytes.toString('utf8'));
        return;
      case 'opening':
        fail('Frames must wait for the ready event');
        return;
      case 'streaming':
        if (isBinary) state.session.audio(bytes);
        else command(state.session, state.freeSlot, bytes.toString('utf8'));
        return;
      case 'ending':
        // Late audio of a client that has said `end` changes nothing.
        return;
    }
  });
  socket.on('close', leave);
}

const typeSchema = z.object({ type: z.string() });

/** The refusal of a text frame that is no command; it repeats no more of the frame than its type. */
function unknownText(text: string): string {
  const type = jsonType(text);
  if (type === undefined) return 'Text frames after ready must be commit or end';
  return `Unknown message type ${JSON.stringify(type.slice(0, 40))}: text frames after ready are commit or end`;
}

function jsonType(text: string): string | undefined {
  try {
    return typeSchema.parse(JSON.parse(text)).type;
  } catch {
    return undefined;
  }
}

function bytesOf(data: Buffer | ArrayBuffer | Buffer[]): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

import { randomUUID } from 'node:crypto';
import type { RawData, WebSocket } from 'ws';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { WavError } from '../../../audio/wav.ts';
import type { Logger } from '../../../observability/logger.ts';
import type { RecognitionEngine } from '../../engines/port.ts';
import { recognitionFailure } from '../asr/hearing.ts';
import { recognitionWarnings } from '../asr/warnings.ts';
import type { ApiKeys } from '../auth/api-keys.ts';
import { closeReason } from '../close-reason.ts';
import type { FaultDice } from '../faults/fault-dice.ts';
import type { PlatformLimits } from '../limits.ts';
import type { Slots } from '../slots.ts';
import { closeSocket } from '../socket-routes.ts';
import type { AltErrorCode, AltEvent } from './alt-events.ts';
import { type AltHandshake, type AltSampleType, readAltCommand, readAltHandshake } from './alt-handshake.ts';
import { AltSamples } from './alt-samples.ts';
import { AltSession } from './alt-session.ts';

/** Bytes of events that a client may leave unread before it is cut off. */
const maxUnreadBytes = 1024 * 1024;
/** Close codes of their own: a key that is refused, and one without balance (reference, fact 15). */
const keyRefused = 4001;
const noBalance = 4002;
const policyViolation = 1008;

export interface AltSocketOptions {
  readonly socket: WebSocket;
  /** The key of the upgrade's Authorization header. */
  readonly headerKey: string | undefined;
  readonly keys: ApiKeys;
  readonly slots: Slots;
  readonly limits: PlatformLimits;
  readonly faults: FaultDice;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly engine: RecognitionEngine;
}

interface Streaming {
  readonly name: 'streaming' | 'ending';
  readonly session: AltSession;
  readonly samples: AltSamples;
  readonly freeSlot: () => void;
}

type State = { readonly name: 'waiting' } | Streaming | { readonly name: 'closed' };

/** Speaks Variant B's streaming on a fresh socket (ASR doc, /ws; handshake and events from reference, facts 11 and 1.2). */
export function serveAltSocket(options: AltSocketOptions): void {
  const { socket, clock, limits, slots } = options;
  const id = randomUUID();
  const logger = options.logger.child({ sessionId: id });
  let state: State = { name: 'waiting' };
  const timers: Timer[] = [];

  const send = (event: AltEvent): void => {
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
  const fail = (code: AltErrorCode, message: string, closeCode = policyViolation): void => {
    if (state.name === 'closed') return;
    leave();
    logger.debug({ code }, 'realtime session refused');
    send({ type: 'error', code, message });
    void closeSocket(socket, closeCode, closeReason(message), clock);
  };
  const failed = (reason: string, cause?: unknown): void => {
    if (cause !== undefined) logger.warn({ error: cause }, 'realtime session failed');
    fail('INTERNAL_ERROR', reason);
  };
  const watchIdle = (): Timer =>
    clock.after(limits.inactivityMs, () =>
      fail('TIMEOUT', `No message arrived within the inactivity limit of ${limits.inactivityMs / 1000} s`),
    );

  const open = (handshake: AltHandshake): void => {
    const key = options.keys.find(options.headerKey ?? handshake.apiKey ?? '');
    if (key?.status !== 'active') {
      fail('AUTH_FAILED', 'An active API key is required', key?.status === 'no-balance' ? noBalance : keyRefused);
      return;
    }
    const freeSlot = slots.take(key.id);
    if (freeSlot === undefined) {
      fail('CAPACITY_FULL', `Rate limit: ${limits.concurrentPerKey} requests at once are allowed`);
      return;
    }
    try {
      const session = new AltSession({
        handshake,
        clock,
        faults: options.faults,
        engine: options.engine,
        emit: send,
        fail: failed,
      });
      const samples = new AltSamples(handshake.sampleType, handshake.sampleRateHz);
      state = { name: 'streaming', session, samples, freeSlot };
    } catch (error) {
      freeSlot();
      failed(recognitionFailure(error), error);
      return;
    }
    initTimer.cancel();
    timers.push(
      clock.after(limits.sessionMs, () => fail('TIMEOUT', `The connection reached its maximum of ${limits.sessionMs / 1000} s`)),
    );
    const warnings = recognitionWarnings(options.engine, handshake.language);
    send({ type: 'ready', session_id: handshake.sessionId ?? id, ...(warnings.length === 0 ? {} : { warnings }) });
  };
  const begin = (text: string): void => {
    const result = readAltHandshake(text);
    if (result.type === 'refused') fail('PROTOCOL_ERROR', result.reason);
    else open(result.handshake);
  };
  const audio = ({ session, samples }: Streaming, bytes: Uint8Array, sampleType?: AltSampleType): void => {
    try {
      session.audio(samples.read(bytes, sampleType));
    } catch (error) {
      if (error instanceof WavError) fail('PROTOCOL_ERROR', error.message);
      else failed(recognitionFailure(error), error);
    }
  };
  const end = (streaming: Streaming): void => {
    state = { ...streaming, name: 'ending' };
    void streaming.session.end().then(() => {
      if (state.name !== 'ending') return;
      leave();
      void closeSocket(socket, 1000, '', clock);
    });
  };
  const command = (streaming: Streaming, text: string): void => {
    const asked = readAltCommand(text);
    switch (asked.type) {
      case 'end':
        end(streaming);
        return;
      case 'audio':
        audio(streaming, asked.bytes, asked.sampleType);
        return;
      case 'refused':
        fail('PROTOCOL_ERROR', asked.reason);
        return;
    }
  };

  let idle = watchIdle();
  const initTimer = clock.after(limits.initMs, () => {
    if (state.name === 'waiting') fail('TIMEOUT', `No handshake arrived within ${limits.initMs / 1000} s`);
  });
  timers.push(initTimer);
  socket.on('message', (data, isBinary) => {
    idle.cancel();
    if (state.name === 'closed') return;
    idle = watchIdle();
    const bytes = bytesOf(data);
    if (state.name === 'waiting') {
      if (isBinary) fail('PROTOCOL_ERROR', 'Audio arrived before the handshake');
      else begin(bytes.toString('utf8'));
    } else if (state.name === 'streaming') {
      if (!isBinary) command(state, bytes.toString('utf8'));
      else if (bytes.length === 0) end(state);
      else audio(state, bytes);
    }
  });
  socket.on('close', leave);
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

import type { Clock } from '../kernel/clock.ts';
import type { BusinessEvents } from '../observability/events.ts';
import type { MediaCodec, WireEvent } from './media-codec.ts';
import type { MediaConnection } from './media-connection.ts';
import { MediaTime } from './media-time.ts';
import type { Attachment, CarrierCapabilities, StreamStarted } from './port.ts';
import { closeText, SocketAttachment } from './socket-attachment.ts';

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
  const { connection, carrier, capabilities, codec, events } = options;
  const { writes } = connection;
  /** Media time of the caller, and of the other party. */
  const times = { caller: new MediaTime(), other: new MediaTime() };
  const about = { carrier, callId: options.callId };
  let phase: { name: 'waiting' } | { name: 'started'; attachment: SocketAttachment } | { name: 'abandoned' } = {
    name: 'waiting',
  };
  let rejectedCount = 0;
  let hasSpoken = false;

  const abandon = (code: number, reason: string): void => {
    if (phase.name !== 'waiting') return;
    phase = { name: 'abandoned' };
    timer.cancel();
    if (connection.readyState !== CLOSED) {
      const word = connection.readyState === OPEN ? codec.goodbye?.(reason, writes, true) : undefined;
      if (word === 'wait') timer = options.clock.after(GOODBYE_MS, () => shut(code, reason));
      else shut(code, reason);
    }
    options.onAbandoned(reason);
  };
  const shut = (code: number, reason: string): void => {
    timer.cancel();
    connection.close(code, closeText(reason));
    // A peer that ignores the close must not keep the socket.
    timer = options.clock.after(CLOSE_MS, () => connection.terminate());
  };
  const reject = (problem: string): void => {
    events.messageRejected({ ...about, problem, count: ++rejectedCount });
    if (phase.name === 'started') phase.attachment.receive({ type: 'rejected', problem });
  };
  const start = (found: Extract<WireEvent, { type: 'started' }>): void => {
    const carrierCallId = found.carrierCallId ?? options.carrierCallId;
    if (carrierCallId === undefined) {
      reject('start names no call, and the id of the dialled call is not known yet');
      abandon(1008, 'start names no call');
      return;
    }
    if (options.carrierCallId !== undefined && carrierCallId !== options.carrierCallId) {
      reject('start names another call than the token of this socket');
      abandon(1008, 'start names another call');
      return;
    }
    const { mismatch, ...told } = found;
    if (mismatch !== undefined) reject(mismatch);
    const started: StreamStarted = { ...told, carrierCallId };
    timer.cancel();
    const { attachmentId: id, clock } = options;
    const able = { ...capabilities, ...found.capabilities };
    const attachment = new SocketAttachment({
      id,
      carrier,
      capabilities: able,
      codec,
      started,
      socket: connection,
      writes,
      clock,
    });
    phase = { name: 'started', attachment };
    options.onStarted(attachment);
  };
  const startWithin = (ms: number, what: string) =>
    options.clock.after(ms, () => guarded(() => abandon(1008, `no ${what} within ${ms} ms`)));
  const isPatient = options.startTimeoutMs > SILENT_MS;
  let timer = isPatient ? startWithin(SILENT_MS, 'message') : startWithin(options.startTimeoutMs, 'start');
  /** A peer that speaks the protocol gets as long as its carrier needs: it may open the socket before the call is answered. */
  const spoken = (): void => {
    if (!isPatient || hasSpoken) return;
    hasSpoken = true;
    timer.cancel();
    timer = startWithin(options.startTimeoutMs, 'start');
  };

  /** A listener's exception must not reach the process, which carries other calls. */
  const fault = (error: unknown): void => {
    options.onFault(error);
    connection.close(1011, 'internal fault');
  };
  const guarded = (run: () => void): void => {
    try {
      run();
    } catch (error) {
      fault(error);
    }
  };
  const hear = (result: Extract<WireEvent, { type: 'audio' }>): void => {
    if (phase.name !== 'started') return;
    const nowMs = options.clock.nowMs();
    const time = times[result.track ?? 'caller'];
    if (!time.admits(phase.attachment.durationMs(result.payload), nowMs))
      return reject('audio arrives faster than real time and is dropped');
    const timestampMs = time.check(result.timestampMs, nowMs);
    phase.attachment.receive(timestampMs === result.timestampMs ? result : { ...result, timestampMs });
  };
  const receive = (message: Buffer, isBinary: boolean): void => {
    if (phase.name === 'abandoned') {
      // The peer's answer to the goodbye is answered; anything else is ignored.
      if (codec.read(message, isBinary, writes).type === 'stopped') shut(1000, 'no call');
      return;
    }
    const result = codec.read(message, isBinary, writes);
    if (phase.name === 'waiting' && result.type !== 'rejected') spoken();
    switch (result.type) {
      case 'ignored':
        events.messageUnknown({ ...about, name: result.name });
        return;
      case 'rejected':
        reject(result.problem);
        if (result.fatal === true) abandon(1003, result.problem);
        return;
      case 'started':
        start(result);
        return;
      case 'audio':
        hear(result);
        if (result.other !== undefined) hear({ ...result, payload: result.other, track: 'other' });
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
  };
  const take = (data: Buffer, isBinary: boolean): void => {
    try {
      receive(data, isBinary);
    } catch (error) {
      fault(error);
    }
  };
  connection.listen({
    message: take,
    alive() {
      if (phase.name === 'started') phase.attachment.touch();
    },
    problem: (problem) => guarded(() => reject(problem)),
    closed(code, reason) {
      guarded(() => {
        if (phase.name === 'started') phase.attachment.closed(code, reason);
        else abandon(1000, `socket closed with code ${code} before start`);
        if (phase.name === 'abandoned') timer.cancel();
      });
    },
  });
}

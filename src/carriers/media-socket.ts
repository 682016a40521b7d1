import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import type { Clock } from '../kernel/clock.ts';
import type { BusinessEvents } from '../observability/events.ts';
import { maxMessageBytes, type MediaCodec, type WireEvent } from './media-codec.ts';
import { takeMessages } from '../websocket/lent-reads.ts';
import { LentWrites } from '../websocket/lent-writes.ts';
import { MediaTime } from './media-time.ts';
import type { Attachment, CarrierCapabilities, StreamStarted } from './port.ts';
import { closeText, SocketAttachment } from './socket-attachment.ts';

export interface MediaSocketOptions {
  readonly socket: WebSocket;
  /** What it was upgraded from; undefined where that is no socket of Node's. */
  readonly stream: Socket | undefined;
  readonly carrier: string;
  readonly capabilities: CarrierCapabilities;
  /** Of this socket alone. */
  readonly codec: MediaCodec;
  readonly clock: Clock;
  readonly events: Pick<BusinessEvents, 'messageRejected' | 'messageUnknown'>;
  readonly callId: string;
  readonly attachmentId: string;
  /**
   * The carrier's call id that this socket was let in for: a start that names another is refused, one that names none is of this
   * call. Undefined where it is not known.
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

/** A socket that says nothing at all is closed after this time, however long its carrier may need until the start. */
const SILENT_MS = 5000;

/** Reads a carrier's freshly upgraded socket: waits for its start, then hands it over as an attachment. */
export function acceptMediaSocket(options: MediaSocketOptions): void {
  const { socket, carrier, capabilities, codec, events } = options;
  /** Of the caller, and of whoever else is heard. */
  const times = { caller: new MediaTime(), other: new MediaTime() };
  const writes = new LentWrites(socket, options.stream, false);
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
    if (socket.readyState !== socket.CLOSED) {
      socket.close(code, closeText(reason));
      // A peer that does not answer the close must not keep the socket.
      const grace = options.clock.after(2000, () => socket.terminate());
      socket.once('close', () => grace.cancel());
    }
    options.onAbandoned(reason);
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
    const attachment = new SocketAttachment({ id, carrier, capabilities: able, codec, started, socket, writes, clock });
    phase = { name: 'started', attachment };
    options.onStarted(attachment);
  };
  const startWithin = (ms: number, what: string) =>
    options.clock.after(ms, () => guarded(() => abandon(1008, `no ${what} within ${ms} ms`)));
  const isPatient = options.startTimeoutMs > SILENT_MS;
  let timer = isPatient ? startWithin(SILENT_MS, 'message') : startWithin(options.startTimeoutMs, 'start');
  /** Whoever speaks the protocol is waited for as long as the carrier needs: it may open its socket before the call is answered. */
  const spoken = (): void => {
    if (!isPatient || hasSpoken) return;
    hasSpoken = true;
    timer.cancel();
    timer = startWithin(options.startTimeoutMs, 'start');
  };

  /** A listener's fault must not reach the process, which carries other calls. */
  const fault = (error: unknown): void => {
    options.onFault(error);
    socket.close(1011, 'internal fault');
  };
  const guarded = (run: () => void): void => {
    try {
      run();
    } catch (error) {
      fault(error);
    }
  };
  const receive = (message: Buffer, isBinary: boolean): void => {
    if (phase.name === 'abandoned') return;
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
        if (phase.name === 'started') {
          const nowMs = options.clock.nowMs();
          const time = times[result.track ?? 'caller'];
          if (!time.admits(phase.attachment.durationMs(result.payload), nowMs))
            return reject('audio arrives faster than real time and is dropped');
          const timestampMs = time.check(result.timestampMs, nowMs);
          phase.attachment.receive(timestampMs === result.timestampMs ? result : { ...result, timestampMs });
        }
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
  if (options.stream !== undefined) takeMessages(socket, options.stream, true, take);
  socket.on('message', (data, isBinary) => take(bytesOf(data), isBinary));
  socket.on('pong', () => {
    if (phase.name === 'started') phase.attachment.touch();
  });
  // `ws` reports what it cannot read here, then closes with the matching code; the close event does the rest.
  socket.on('error', (error) => {
    const tooLong = 'code' in error && error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
    guarded(() =>
      reject(tooLong ? `message longer than ${maxMessageBytes} bytes; the socket is closed` : `socket failed: ${error.message}`),
    );
  });
  socket.on('close', (code, reason) => {
    guarded(() => {
      if (phase.name === 'started') phase.attachment.closed(code, reason.toString('utf8'));
      else abandon(1000, `socket closed with code ${code} before start`);
    });
  });
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

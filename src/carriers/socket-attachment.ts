import type { Clock, Timer } from '../kernel/clock.ts';
import { type AudioFormat, callRateHz } from '../audio/format.ts';
import { closeReason } from '../kernel/websocket/close-reason.ts';
import { LineTranscoder } from './line-transcoder.ts';
import type { MediaCodec, MessageSink, WireEvent } from './media-codec.ts';
import type { MediaSocket } from './media-connection.ts';
import type { Attachment, CarrierCapabilities, MediaEvent, MediaTrack, StreamStarted } from './port.ts';

const open = 1;
/** RFC 6455, 7.4.1. */
const normalClose = 1000;
const noStatus = 1005;
/** Ten seconds of audio: more before a listener is set is dropped, oldest kept. */
const maxHeldEvents = 500;
/** Send buffer at which a peer counts as dead; more than a minute of base64 mu-law. */
const maxBufferedBytes = 1_048_576;
/** Time the peer gets to answer our close. */
const closeGraceMs = 2000;
/** Time for the peer to close after a goodbye. */
const goodbyeMs = 5000;
const pingEveryMs = 10_000;

export interface SocketAttachmentOptions {
  readonly id: string;
  readonly carrier: string;
  readonly capabilities: CarrierCapabilities;
  /** The codec that read `started`. */
  readonly codec: MediaCodec;
  readonly started: StreamStarted;
  readonly socket: MediaSocket;
  /** Writes to the socket. */
  readonly writes: MessageSink;
  readonly clock: Clock;
}

/**
 * A started carrier media socket. The socket's reader feeds it (`receive`, `closed`); it converts the leg's wire audio to the call's linear samples
 * and back. A socket without a sign of life for two pings is terminated, so that a vanished peer is noticed within 20 seconds.
 */
export class SocketAttachment implements Attachment {
  readonly id: string;
  readonly carrier: string;
  readonly started: StreamStarted;
  readonly capabilities: CarrierCapabilities;
  readonly rateHz: number;
  readonly speechFormat: AudioFormat;
  readonly #socket: MediaSocket;
  readonly #writes: MessageSink;
  readonly #codec: MediaCodec;
  readonly #transcoder: LineTranscoder;
  /** For the other party, whose samples form their own stream. */
  #otherTranscoder: LineTranscoder | undefined;
  readonly #frameSamples: number;
  readonly #clock: Clock;
  /** When the audio sent last must have been played. */
  #sentUntilMs = Number.NEGATIVE_INFINITY;
  #listener: ((event: MediaEvent) => void) | undefined;
  #held: MediaEvent[] = [];
  #closing = false;
  #over = false;
  #alive = true;
  #timer: Timer;

  constructor(options: SocketAttachmentOptions) {
    this.id = options.id;
    this.started = options.started;
    this.carrier = options.carrier;
    this.capabilities = options.capabilities;
    this.#codec = options.codec;
    const { inbound, outbound } = options.started;
    this.rateHz = callRateHz(inbound);
    this.#transcoder = new LineTranscoder(inbound, outbound, this.rateHz);
    this.speechFormat = this.#transcoder.speechFormat;
    this.#frameSamples = Math.max(1, (options.capabilities.frameMs * this.speechFormat.rateHz) / 1000);
    this.#socket = options.socket;
    this.#writes = options.writes;
    this.#clock = options.clock;
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

  sendAudio(pcm: Int16Array): void {
    if (pcm.length === 0 || pcm.length % this.#frameSamples !== 0)
      throw new RangeError(`audio of ${pcm.length} samples; a multiple of ${this.#frameSamples} is sent`);
    if (!this.#canSend()) return;
    const nowMs = this.#clock.nowMs();
    if (nowMs > this.#sentUntilMs) this.#transcoder.cut();
    this.#sentUntilMs = Math.max(nowMs, this.#sentUntilMs) + (pcm.length * 1000) / this.speechFormat.rateHz;
    this.#codec.audio(this.#transcoder.encode(pcm), this.#writes);
  }

  sendMark(name: string): void {
    if (this.#canSend()) this.#codec.mark(name, this.#writes);
  }

  sendClear(): void {
    this.#transcoder.cut();
    this.#sentUntilMs = Number.NEGATIVE_INFINITY;
    if (this.#canSend()) this.#codec.clear(this.#writes);
  }

  /** @throws TypeError where the carrier has no such message */
  sendDigits(digits: string): void {
    if (this.#codec.digits === undefined) throw new TypeError(`the carrier ${this.carrier} takes no keys on its socket`);
    if (this.#canSend()) this.#codec.digits(digits, this.#writes);
  }

  keyReported(digit: string): void {
    this.receive({ type: 'digit', digit });
  }

  /** @throws TypeError where the carrier has no such message */
  sendTransfer(to: string): void {
    if (this.#codec.transfer === undefined) throw new TypeError(`the carrier ${this.carrier} passes no call on by its socket`);
    if (this.#canSend()) this.#codec.transfer(to, this.#writes);
  }

  close(reason: string): void {
    if (this.#closing || this.#over) return;
    const word = this.#canSend() ? this.#codec.goodbye?.(reason, this.#writes) : undefined;
    this.#closing = true;
    this.#timer.cancel();
    const close = (): void => {
      this.#socket.close(1000, closeReason(reason));
      this.#timer = this.#clock.after(closeGraceMs, () => this.#socket.terminate());
    };
    if (word === 'wait') this.#timer = this.#clock.after(goodbyeMs, close);
    else close();
  }

  /** Duration of the caller's wire audio, in ms. */
  durationMs(payload: Uint8Array): number {
    return this.#transcoder.durationMs(payload.length);
  }

  /** Takes an event from the socket. After our own close only the end of the stream is passed on. */
  receive(event: Exclude<WireEvent, { type: 'ignored' | 'alive' | 'started' | 'probe' }>): void {
    if (this.#over || (this.#closing && event.type !== 'stopped')) return;
    this.#alive = true;
    if (event.type === 'audio')
      this.#deliver({
        type: 'audio',
        pcm: this.#transcoderOf(event.track).decode(event.payload),
        timestampMs: event.timestampMs,
        ...(event.track === undefined ? {} : { track: event.track }),
      });
    else this.#deliver(event);
  }

  /** Any sign of life, such as a pong. */
  touch(): void {
    this.#alive = true;
  }

  /** The socket is closed. Only the first call counts. */
  closed(code: number, reason: string): void {
    if (this.#over) return;
    if (this.capabilities.closeEndsCall === true && !this.#closing && (code === normalClose || code === noStatus))
      this.#deliver({ type: 'stopped', reason: 'the media socket was closed' });
    this.#over = true;
    this.#timer.cancel();
    this.#deliver({ type: 'closed', code, reason });
  }

  #transcoderOf(track: MediaTrack | undefined): LineTranscoder {
    if (track !== 'other') return this.#transcoder;
    const { inbound, outbound } = this.started;
    return (this.#otherTranscoder ??= new LineTranscoder(inbound, outbound, this.rateHz));
  }

  #deliver(event: MediaEvent): void {
    if (this.#listener !== undefined) {
      this.#listener(event);
      return;
    }
    // Held until a listener is set. Lent samples are copied. `closed` always fits.
    if (this.#held.length >= maxHeldEvents && event.type !== 'closed' && event.type !== 'stopped') return;
    this.#held.push(event.type === 'audio' ? { ...event, pcm: event.pcm.slice() } : event);
  }

  /** Gives up a socket whose peer stopped reading. */
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
    if (this.#socket.readyState === open) {
      if (this.#codec.ping === undefined) this.#socket.ping();
      else this.#codec.ping(this.#writes);
    }
    this.#timer = this.#clock.after(pingEveryMs, () => this.#checkLife());
  }
}

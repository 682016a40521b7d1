import type { AudioFormat } from '../../audio/format.ts';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { parseJson } from '../../kernel/json.ts';
import { CarrierLine, type LineOptions } from '../carrier-line.ts';
import { type CarrierWire, openTcp, openWebSocket } from '../carrier-wire.ts';

/*
 * Media streams of an Asterisk from its own side, as Asterisk 22.10.1 was seen to act: chan_websocket and AudioSocket.
 */

const MULAW: AudioFormat = { encoding: 'mulaw', rateHz: 8_000 };
const FRAME_BYTES = 160;
const FRAME_MS = 20;
/** Longer text is dropped. */
const MOST_TEXT_BYTES = 128;
/** Of the queue, in frames. */
const [XON, XOFF, FULL] = [800, 900, 1_000];

export interface WebSocketChannel {
  /** With its query. */
  readonly url: string;
  readonly authorization: string;
  readonly channelId: string;
  /** Form of control messages: what `f(…)` of Dial says. */
  readonly form: 'words' | 'json';
}

/** A channel of chan_websocket in mu-law. */
export class SimulatedWebSocketChannel extends CarrierLine {
  readonly #channel: WebSocketChannel;
  #isPaused = false;

  private constructor(wire: CarrierWire, channel: WebSocketChannel, clock: Clock, options: LineOptions) {
    super(wire, clock, { from: MULAW, to: MULAW }, options);
    this.#channel = channel;
    const start = { connection_id: 'offhook', channel: `WebSocket/offhook/0x7f4ba8008c40`, channel_id: channel.channelId };
    const media = { format: 'ulaw', optimal_frame_size: FRAME_BYTES, ptime: FRAME_MS };
    this.#tell('MEDIA_START', { ...start, ...media });
    this.begin();
  }

  /** @throws when the gateway does not upgrade the socket */
  static async open(channel: WebSocketChannel, clock: Clock, options: LineOptions = {}): Promise<SimulatedWebSocketChannel> {
    const { url, authorization } = channel;
    const wire = await openWebSocket(url, { headers: { authorization }, protocols: ['media'] });
    return new SimulatedWebSocketChannel(wire, channel, clock, options);
  }

  protected override sendDigit(digit: string): void {
    this.#tell('DTMF_END', { digit, channel_id: this.#channel.channelId });
  }

  protected override markPlayed(id: string): void {
    if (this.#channel.form === 'json')
      this.#tell('MEDIA_MARK_PROCESSED', { channel_id: this.#channel.channelId, correlation_id: id });
    else this.send(`MEDIA_MARK_PROCESSED ${id}`);
  }

  protected override received(message: Buffer, isBinary: boolean): void {
    if (!isBinary) return this.#command(message);
    if (this.#queued >= FULL) return this.complain('audio is ignored: the queue is full');
    const whole = message.length - (message.length % FRAME_BYTES);
    if (whole !== message.length) this.complain(`${message.length - whole} bytes of a frame that is not whole are discarded`);
    this.play(message.subarray(0, whole));
    if (this.#queued < XOFF || this.#isPaused) return;
    this.#isPaused = true;
    this.#tell('MEDIA_XOFF', this.#ids);
  }

  get #queued(): number {
    return this.playout.queuedMs / FRAME_MS;
  }

  /** Lines of words leave out whose queue it is. */
  get #ids(): Readonly<Record<string, string>> {
    return this.#channel.form === 'json' ? { channel_id: this.#channel.channelId } : {};
  }

  #command(message: Buffer): void {
    const text = message.toString('utf8');
    if (message.length > MOST_TEXT_BYTES) return this.complain(`text of ${message.length} bytes exceeds ${MOST_TEXT_BYTES}`);
    const { name, id } = this.#channel.form === 'json' ? jsonCommand(text) : wordCommand(text);
    switch (name) {
      case 'MARK_MEDIA':
        return this.mark(id);
      case 'FLUSH_MEDIA':
        // Marks that wait are gone without a word.
        this.clear();
        if (this.#isPaused && this.#queued < XON) this.#tell('MEDIA_XON', this.#ids);
        this.#isPaused = this.#queued >= XON;
        return;
      case 'GET_STATUS':
        return this.#tell('STATUS', { channel_id: this.#channel.channelId, queue_length: Math.round(this.#queued) });
      case 'HANGUP':
        return this.close(1000);
      case undefined:
        return this.complain(`unknown command ${text.slice(0, 40)}`);
      default:
        if (!['ANSWER', 'START_MEDIA_BUFFERING', 'STOP_MEDIA_BUFFERING', 'REPORT_QUEUE_DRAINED'].includes(name))
          this.complain(`unknown command ${name.slice(0, 40)}`);
    }
  }

  #tell(event: string, fields: Readonly<Record<string, string | number>>): void {
    if (this.#channel.form === 'json') return this.send(JSON.stringify({ event, ...fields }));
    this.send([event, ...Object.entries(fields).map(([name, value]) => `${name}:${value}`)].join(' '));
  }
}

interface Command {
  readonly name: string | undefined;
  readonly id: string;
}

function jsonCommand(text: string): Command {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || !('command' in value)) return { name: undefined, id: '' };
  return { name: String(value.command), id: 'correlation_id' in value ? String(value.correlation_id) : '' };
}

function wordCommand(text: string): Command {
  const [name, id = ''] = text.split(' ');
  return { name: name !== undefined && /^[A-Z_]+$/u.test(name) ? name : undefined, id };
}

const LINEAR: AudioFormat = { encoding: 'pcm16', rateHz: 8_000 };
const HEAD_BYTES = 3;
/** The rest of a message has to be there so soon after its head. */
const PAYLOAD_WITHIN_MS = 5;
/** Nothing is queued for us: what is more than a phone's own buffer is lost at somebody's ear. */
const MOST_QUEUED_MS = 200;

/** The application AudioSocket of the dialplan: linear at 8 kHz. */
export class SimulatedAudioSocket extends CarrierLine {
  #pending = Buffer.alloc(0);
  #late: Timer | undefined;

  private constructor(wire: CarrierWire, uuid: string, clock: Clock, options: LineOptions) {
    super(wire, clock, { from: LINEAR, to: LINEAR }, options);
    this.send(message(0x01, Buffer.from(uuid.replaceAll('-', ''), 'hex')));
    this.begin();
  }

  /** @throws when nobody takes the connection */
  static async open(
    { host, port, uuid }: { readonly host: string; readonly port: number; readonly uuid: string },
    clock: Clock,
    options: LineOptions = {},
  ): Promise<SimulatedAudioSocket> {
    return new SimulatedAudioSocket(await openTcp(host, port), uuid, clock, options);
  }

  protected override sendAudio(payload: Uint8Array): void {
    this.send(message(0x10, payload));
  }

  protected override sendDigit(digit: string): void {
    this.send(message(0x03, Buffer.from(digit)));
  }

  protected override received(chunk: Buffer): void {
    this.#late?.cancel();
    this.#pending = Buffer.concat([this.#pending, chunk]);
    while (this.#pending.length >= HEAD_BYTES) {
      const length = this.#pending.readUInt16BE(1);
      if (this.#pending.length < HEAD_BYTES + length) {
        this.#late = this.clock.after(PAYLOAD_WITHIN_MS, () => this.#error('the payload of a message is late'));
        return;
      }
      const [kind = 0] = this.#pending;
      const payload = this.#pending.subarray(HEAD_BYTES, HEAD_BYTES + length);
      this.#pending = this.#pending.subarray(HEAD_BYTES + length);
      this.#take(kind, payload);
    }
  }

  #take(kind: number, payload: Buffer): void {
    // The dialplan goes on.
    if (kind === 0x00) return this.close(1000);
    if (kind !== 0x10 || payload.length === 0) return this.#error(`message of kind ${kind} and ${payload.length} bytes`);
    this.play(payload);
    if (this.playout.queuedMs > MOST_QUEUED_MS) this.complain(`${this.playout.queuedMs} ms are sent ahead`);
  }

  /** Asterisk drops the call. */
  #error(what: string): void {
    this.complain(what);
    this.drop();
  }
}

function message(kind: number, payload: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([kind, payload.length >> 8, payload.length & 0xff]), payload]);
}

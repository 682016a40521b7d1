import { randomBytes } from 'node:crypto';
import { WebSocket } from 'ws';
import { encodeAudio } from '../audio/codec.ts';
import { joinSamples } from '../audio/samples.ts';
import { noise, seededRandom } from '../audio/tone.ts';
import type { Clock, Timer } from '../kernel/clock.ts';
import { type GatewayMessage, judgeMessage } from './carrier-message.ts';
import { DelayedLine } from './delayed-line.ts';
import { PlayoutBuffer } from './playout-buffer.ts';

export interface StreamOptions {
  /** Delay of every message from the gateway before the carrier acts on it, in ms; called for each. Order is kept. */
  readonly networkDelayMs?: () => number;
  /** Delay of every message to the gateway, in ms; called for each. Order is kept. */
  readonly toGatewayDelayMs?: () => number;
  /** Delay of a mark's return after it was reached; called for each. Order is kept. */
  readonly markDelayMs?: () => number;
  readonly marks?: boolean;
  readonly clear?: boolean;
  /** How long audio that comes to an empty playout buffer waits before it is played. */
  readonly prefillMs?: number;
  /** Peak of the line noise, 0 to 1. */
  readonly lineNoise?: number;
  /** What the caller's side sounds like when nothing is said, in place of the line noise; 8 kHz, repeated without end. */
  readonly background?: Int16Array;
  /** How much faster the carrier's sample clock runs than the machine's, in parts per million. */
  readonly skewPpm?: number;
  /** Asked for each frame of the caller: whether it is lost on its way. Its time passes all the same. */
  readonly loses?: () => boolean;
  /** The law of the leg, both ways; mu-law when absent, as Twilio has it. */
  readonly law?: 'mulaw' | 'alaw';
  /** Encodes one frame of the caller, in place of the leg's law. */
  readonly encode?: (frame: Int16Array, fromSample: number) => Uint8Array;
  /** Frames of 100 ms, silence that is encoded once, and nothing of what was said or heard is kept: for hundreds of calls at once. */
  readonly light?: boolean;
  /** Sees the socket itself, before and after every delay that is simulated. */
  readonly tap?: WireTap;
}

/** Times are the clock's, in ms. */
export interface WireTap {
  /** A frame of the caller was written to the socket. @param frame counted from 0, lost ones included */
  sent(frame: number, atMs: number): void;
  received(event: GatewayMessage['event'], atMs: number): void;
}

export interface StreamEnd {
  readonly byGateway: boolean;
  readonly code: number;
}

/** Something on the carrier's sample clock, in ms since the stream began. */
export type StreamNote =
  | { readonly type: 'mark' | 'clear'; readonly atMs: number; readonly name: string }
  | { readonly type: 'warning'; readonly atMs: number; readonly text: string };

const FRAME_MS = 20;
const LIGHT_FRAME_MS = 100;
const SAMPLES_PER_MS = 8;
const SILENT_SECOND = new Int16Array(1_000 * SAMPLES_PER_MS);
const silentPayload = (law: 'mulaw' | 'alaw'): string =>
  Buffer.from(encodeAudio(law, SILENT_SECOND.subarray(0, LIGHT_FRAME_MS * SAMPLES_PER_MS))).toString('base64');
/** One light frame, by law. */
const SILENT_PAYLOADS = { mulaw: silentPayload('mulaw'), alaw: silentPayload('alaw') };
/** Twilio's first timestamps are not 0 (seen in recorded sessions). */
const FIRST_TIMESTAMP_MS = 102;

/** One bidirectional media stream, from the carrier's side: a real clock, a real socket, and the caller's ear. */
export class SimulatedStream {
  readonly streamSid = `MZ${randomBytes(16).toString('hex')}`;
  readonly buffer: PlayoutBuffer;
  readonly notes: StreamNote[] = [];
  readonly ended: Promise<StreamEnd>;
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #options: StreamOptions;
  readonly #spoken: Int16Array[] = [];
  readonly #sent: Int16Array[] = [];
  readonly #watchers = new Set<() => void>();
  readonly #background: Int16Array;
  readonly #frameMs: number;
  /** Ms of the carrier's clock for one of the machine's. */
  readonly #speed: number;
  #sequence = 1;
  #chunk = 0;
  #frames = 0;
  #startedMs = 0;
  #timer: Timer | undefined;
  #stopped = false;
  #ids = { callSid: '', accountSid: '' };
  readonly #fromGateway: DelayedLine;
  readonly #toGateway: DelayedLine;
  readonly #markReturns: DelayedLine;

  private constructor(socket: WebSocket, clock: Clock, options: StreamOptions) {
    this.#socket = socket;
    this.#clock = clock;
    this.#options = options;
    this.#fromGateway = new DelayedLine(clock, options.networkDelayMs);
    this.#toGateway = new DelayedLine(clock, options.toGatewayDelayMs);
    this.#markReturns = new DelayedLine(clock, options.markDelayMs);
    this.#background =
      options.light === true
        ? SILENT_SECOND
        : (options.background ?? noise(1_000, 8_000, options.lineNoise ?? 0.0004, seededRandom(7)));
    this.#frameMs = options.light === true ? LIGHT_FRAME_MS : FRAME_MS;
    this.#speed = 1 + (options.skewPpm ?? 0) / 1_000_000;
    this.buffer = new PlayoutBuffer(options.law, options.prefillMs, 8_000, options.light !== true);
    this.ended = new Promise((resolve) => {
      socket.once('close', (code) => {
        this.#timer?.cancel();
        for (const line of [this.#fromGateway, this.#toGateway, this.#markReturns]) line.cut();
        for (const watch of this.#watchers) watch();
        resolve({ byGateway: !this.#stopped, code });
      });
    });
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer, isBinary) => this.#onMessage(data, isBinary));
  }

  /** Opens the socket and sends `connected` and `start`. */
  static async open(
    target: { readonly url: string; readonly parameters: Readonly<Record<string, string>> },
    ids: { readonly callSid: string; readonly accountSid: string },
    clock: Clock,
    signature: string,
    options: StreamOptions = {},
  ): Promise<SimulatedStream> {
    const socket = new WebSocket(target.url, {
      headers: { 'x-twilio-signature': signature },
      perMessageDeflate: false,
      handshakeTimeout: 5_000,
    });
    const stream = new SimulatedStream(socket, clock, options);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', () => resolve());
      socket.once('error', reject);
    });
    stream.#begin(ids, target.parameters);
    return stream;
  }

  get playout(): PlayoutBuffer {
    return this.buffer;
  }

  /** What the carrier warned of. */
  get complaints(): readonly string[] {
    return this.notes.flatMap((note) => (note.type === 'warning' ? [note.text] : []));
  }

  /** Ms since the stream began: the clock of everything reported here. */
  get nowMs(): number {
    return (this.#clock.nowMs() - this.#startedMs) * this.#speed;
  }

  get open(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** What the caller's side sent so far, line noise included, on the same clock as the ear. */
  get spoken(): Int16Array {
    return joinSamples(this.#sent);
  }

  /** Whether everything given to `say` has been sent. */
  get silent(): boolean {
    return this.#spoken.length === 0;
  }

  /** Queues caller audio, 8 kHz. @returns when its first sample will be sent, in ms since the stream began */
  say(pcm: Int16Array): number {
    const waiting = this.#spoken.reduce((sum, part) => sum + part.length, 0);
    this.#spoken.push(pcm);
    return this.#frames * this.#frameMs + waiting / 8;
  }

  press(digit: string): void {
    this.#send({
      event: 'dtmf',
      streamSid: this.streamSid,
      sequenceNumber: this.#next(),
      dtmf: { track: 'inbound_track', digit },
    });
  }

  /** The call ends at the carrier: `stop`, then the socket closes. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    const { accountSid, callSid } = this.#ids;
    this.#send({ event: 'stop', sequenceNumber: this.#next(), stop: { accountSid, callSid }, streamSid: this.streamSid });
    this.#toGateway.pass(() => this.#socket.close(1000));
  }

  /** The socket dies without a word. */
  drop(): void {
    this.#stopped = true;
    this.#socket.terminate();
  }

  /** Sends anything at all, for what a carrier never sends. */
  sendRaw(data: string | Uint8Array): void {
    this.#socket.send(data);
  }

  /** Calls back after every 20 ms of the stream and when it ends. @returns a function that stops it */
  watch(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  #begin(ids: { callSid: string; accountSid: string }, customParameters: Readonly<Record<string, string>>): void {
    const { streamSid } = this;
    this.#ids = ids;
    this.#startedMs = this.#clock.nowMs();
    this.#send({ event: 'connected', protocol: 'Call', version: '1.0.0' });
    this.#send({
      event: 'start',
      sequenceNumber: this.#next(),
      start: {
        ...ids,
        streamSid,
        tracks: ['inbound'],
        mediaFormat: { encoding: `audio/x-${this.#options.law ?? 'mulaw'}`, sampleRate: 8000, channels: 1 },
        customParameters,
      },
      streamSid,
    });
    this.#arm();
  }

  #arm(): void {
    const dueMs = (this.#frames + 1) * this.#frameMs;
    this.#timer = this.#clock.after(Math.max(0, (dueMs - this.nowMs) / this.#speed), () => {
      if (!this.open) return;
      while ((this.#frames + 1) * this.#frameMs <= this.nowMs) this.#sendFrame();
      this.#arm();
      for (const name of this.buffer.advance(this.nowMs)) this.#returnMark(name);
      for (const watch of this.#watchers) watch();
    });
  }

  #sendFrame(): void {
    const { law = 'mulaw', encode = (pcm: Int16Array) => encodeAudio(law, pcm), loses, tap, light = false } = this.#options;
    const isSilence = light && this.silent;
    const frame = isSilence ? undefined : this.#nextFrame();
    if (frame !== undefined && !light) this.#sent.push(frame);
    this.#chunk += 1;
    const index = this.#frames;
    const timestamp = String(FIRST_TIMESTAMP_MS + index * this.#frameMs);
    this.#frames += 1;
    const payload =
      frame === undefined
        ? SILENT_PAYLOADS[law]
        : Buffer.from(encode(frame, index * this.#frameMs * SAMPLES_PER_MS)).toString('base64');
    const sequenceNumber = this.#next();
    if (loses?.() === true) return;
    const media = { track: 'inbound', chunk: String(this.#chunk), timestamp, payload };
    this.#send({ event: 'media', sequenceNumber, media, streamSid: this.streamSid }, () => tap?.sent(index, this.#clock.nowMs()));
  }

  #nextFrame(): Int16Array {
    const samples = this.#frameMs * SAMPLES_PER_MS;
    const offset = (this.#frames * samples) % (this.#background.length - samples);
    const frame = this.#background.slice(offset, offset + samples);
    for (let filled = 0; filled < samples;) {
      const part = this.#spoken[0];
      if (part === undefined) break;
      const taken = part.subarray(0, samples - filled);
      for (let index = 0; index < taken.length; index += 1) {
        frame[filled + index] = Math.max(-32_768, Math.min(32_767, frame[filled + index]! + taken[index]!));
      }
      filled += taken.length;
      if (taken.length === part.length) this.#spoken.shift();
      else this.#spoken[0] = part.subarray(taken.length);
    }
    return frame;
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    if (isBinary) {
      this.#note({ type: 'warning', atMs: this.nowMs, text: '31950: binary frame' });
      return;
    }
    const judged = judgeMessage(data.toString('utf8'), this.streamSid);
    if ('warning' in judged) {
      this.#note({ type: 'warning', atMs: this.nowMs, text: judged.warning });
      return;
    }
    this.#options.tap?.received(judged.message.event, this.#clock.nowMs());
    this.#fromGateway.pass(() => this.#obey(judged.message));
  }

  #obey(message: GatewayMessage): void {
    const atMs = this.nowMs;
    // Marks reached before this message come back before what it causes.
    for (const name of this.buffer.advance(atMs)) this.#returnMark(name);
    switch (message.event) {
      case 'media':
        this.#append(message.payload, atMs);
        break;
      case 'mark':
        this.buffer.mark(message.name, atMs);
        break;
      case 'clear':
        if (this.#options.clear === false) break;
        this.#note({ type: 'clear', atMs, name: '' });
        for (const name of this.buffer.clear(atMs)) this.#returnMark(name);
    }
    for (const name of this.buffer.advance(atMs)) this.#returnMark(name);
  }

  #append(payload: Uint8Array, atMs: number): void {
    const droppedBefore = this.buffer.droppedSamples;
    this.buffer.append(payload, atMs);
    if (this.buffer.droppedSamples === droppedBefore) return;
    this.#note({ type: 'warning', atMs, text: '31931: more than ten minutes of audio queued' });
  }

  #returnMark(name: string): void {
    if (this.#options.marks === false) return;
    this.#markReturns.pass(() => {
      this.#note({ type: 'mark', atMs: this.nowMs, name });
      this.#send({ event: 'mark', sequenceNumber: this.#next(), streamSid: this.streamSid, mark: { name } });
    });
  }

  #note(note: StreamNote): void {
    this.notes.push(note);
  }

  #next(): string {
    return String(this.#sequence++);
  }

  #send(message: object, sent: () => void = () => undefined): void {
    const text = JSON.stringify(message);
    this.#toGateway.pass(() => {
      if (!this.open) return;
      this.#socket.send(text);
      sent();
    });
  }
}

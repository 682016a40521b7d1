import { WebSocket } from 'ws';
import { resample } from '../audio/resample.ts';
import type { Clock, Timer } from '../kernel/clock.ts';
import type { CallerLine } from './caller.ts';
import { PlayoutBuffer } from './playout-buffer.ts';

export type WebsocketEndpoint = {
  readonly type: 'websocket';
  readonly uri: string;
  readonly 'content-type': string;
  readonly headers?: Readonly<Record<string, string>>;
};

const FRAME_MS = 20;
const LIGHT_FRAME_MS = 100;
/** Messages that may wait to be played. */
const MOST_WAITING = 3_072;
const CALLER_RATE_HZ = 8_000;

/** One media socket, with a buffer of its own and the caller's ear behind it. */
export class SimulatedVonageStream {
  readonly rateHz: number;
  /** What the ear hears, at `rateHz`. */
  readonly buffer: PlayoutBuffer;
  /** What a carrier would complain of: frames of a wrong length, messages it does not know. */
  readonly complaints: string[] = [];
  /** Lengths of binary messages from the gateway, in bytes, and how often each came. */
  readonly frameBytes = new Map<number, number>();
  readonly texts: string[] = [];
  readonly ended: Promise<{ readonly byGateway: boolean; readonly code: number }>;
  readonly #watchers = new Set<() => void>();
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #frameMs: number;
  readonly #silence: Buffer;
  #waiting: Int16Array;
  #frames = 0;
  #startedMs = 0;
  #timer: Timer | undefined;
  #stopped = false;

  private constructor(socket: WebSocket, rateHz: number, clock: Clock, light: boolean) {
    this.#frameMs = light ? LIGHT_FRAME_MS : FRAME_MS;
    this.#silence = Buffer.alloc((rateHz * this.#frameMs) / 500);
    this.#socket = socket;
    this.#clock = clock;
    this.rateHz = rateHz;
    this.#waiting = new Int16Array();
    this.buffer = new PlayoutBuffer('pcm16', 0, rateHz, !light);
    this.ended = new Promise((resolve) => {
      socket.once('close', (code) => {
        this.#timer?.cancel();
        for (const watch of this.#watchers) watch();
        resolve({ byGateway: !this.#stopped, code });
      });
    });
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer, isBinary) => (isBinary ? this.#audio(data) : this.#command(data.toString('utf8'))));
  }

  /**
   * @param light messages of 100 ms to the gateway, and nothing of what is heard is kept: for hundreds of calls at once
   * @throws when the gateway does not upgrade the socket
   */
  static async open(
    { uri, 'content-type': contentType, headers = {} }: WebsocketEndpoint,
    clock: Clock,
    light = false,
  ): Promise<SimulatedVonageStream> {
    const rateHz = Number(/^audio\/l16;rate=(8000|16000|24000)$/u.exec(contentType)?.[1]);
    if (Number.isNaN(rateHz)) throw new Error(`content-type ${contentType} is none that the endpoint takes`);
    if (JSON.stringify(headers).length > 512) throw new Error('headers of more than 512 bytes');
    const socket = new WebSocket(uri, { perMessageDeflate: false, handshakeTimeout: 5_000 });
    const stream = new SimulatedVonageStream(socket, rateHz, clock, light);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', () => resolve());
      socket.once('error', reject);
    });
    stream.#startedMs = clock.nowMs();
    socket.send(JSON.stringify({ event: 'websocket:connected', 'content-type': contentType, ...headers }));
    stream.#arm();
    return stream;
  }

  get open(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** Ms since the stream began. */
  get nowMs(): number {
    return this.#clock.nowMs() - this.#startedMs;
  }

  get silent(): boolean {
    return this.#waiting.length === 0;
  }

  /** Queues caller audio at 8 kHz, as callers of the public network sound. @returns when it begins, in ms since the stream began */
  say(pcm: Int16Array): number {
    const wide = resample(pcm, CALLER_RATE_HZ, this.rateHz);
    const beginsMs = this.#frames * this.#frameMs + (this.#waiting.length * 1000) / this.rateHz;
    const joined = new Int16Array(this.#waiting.length + wide.length);
    joined.set(this.#waiting);
    joined.set(wide, this.#waiting.length);
    this.#waiting = joined;
    return beginsMs;
  }

  /** Calls back after every 20 ms of the stream and when it ends. @returns a function that stops it */
  watch(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  /** The stream as a scripted caller has it. */
  get line(): CallerLine {
    return new ThinnedLine(this);
  }

  press(digit: string): void {
    this.#tell({ event: 'websocket:dtmf', digit, duration: 260 });
  }

  /** The call ends at the carrier: the socket is closed, and nothing is said before. */
  stop(): void {
    this.#stopped = true;
    this.#socket.close(1000);
  }

  #arm(): void {
    const dueMs = (this.#frames + 1) * this.#frameMs;
    this.#timer = this.#clock.after(Math.max(0, dueMs - this.nowMs), () => {
      if (!this.open) return;
      while ((this.#frames + 1) * this.#frameMs <= this.nowMs) this.#sendFrame();
      this.#report(this.buffer.advance(this.nowMs));
      for (const watch of this.#watchers) watch();
      this.#arm();
    });
  }

  #sendFrame(): void {
    this.#frames += 1;
    if (this.silent) {
      this.#socket.send(this.#silence);
      return;
    }
    const frame = new Int16Array((this.rateHz * this.#frameMs) / 1000);
    frame.set(this.#waiting.subarray(0, frame.length));
    this.#waiting = this.#waiting.slice(frame.length);
    const bytes = Buffer.alloc(frame.length * 2);
    for (const [index, sample] of frame.entries()) bytes.writeInt16LE(sample, index * 2);
    this.#socket.send(bytes);
  }

  #audio(data: Buffer): void {
    this.frameBytes.set(data.length, (this.frameBytes.get(data.length) ?? 0) + 1);
    const wanted = (this.rateHz * FRAME_MS) / 500;
    if (data.length !== wanted) {
      this.complaints.push(`frame size ${data.length / 2}, when required ${wanted / 2}`);
      this.#socket.terminate();
      return;
    }
    this.buffer.append(data, this.nowMs);
    if (this.buffer.queuedMs / FRAME_MS > MOST_WAITING) this.complaints.push(`more than ${MOST_WAITING} messages wait`);
  }

  #command(text: string): void {
    this.texts.push(text);
    const command: unknown = JSON.parse(text);
    if (!isObject(command)) return;
    this.#report(this.buffer.advance(this.nowMs));
    const { action, payload } = command;
    if (action === 'clear') {
      // Whether notifications that wait come back is not documented; here they are gone with the audio.
      this.buffer.clear(this.nowMs);
      this.#tell({ event: 'websocket:cleared' });
    } else if (action === 'notify' && isObject(payload)) {
      this.buffer.mark(JSON.stringify(payload), this.nowMs);
      this.#report(this.buffer.advance(this.nowMs));
    } else this.complaints.push(`unknown command ${text.slice(0, 60)}`);
  }

  #report(payloads: readonly string[]): void {
    for (const payload of payloads) this.#tell({ event: 'websocket:notify', payload: JSON.parse(payload) as unknown });
  }

  #tell(message: object): void {
    if (this.open) this.#socket.send(JSON.stringify(message));
  }
}

/** A wideband stream for a caller whose ear is made for 8 kHz and goes by level alone: every so many samples of what is heard. */
class ThinnedLine implements CallerLine {
  readonly buffer: { readonly heard: Int16Array };
  readonly #stream: SimulatedVonageStream;

  constructor(stream: SimulatedVonageStream) {
    this.#stream = stream;
    const step = stream.rateHz / CALLER_RATE_HZ;
    let thinned = new Int16Array();
    this.buffer = {
      get heard() {
        const { heard } = stream.buffer;
        const before = thinned;
        thinned = new Int16Array(Math.floor(heard.length / step));
        thinned.set(before);
        for (let at = before.length; at < thinned.length; at += 1) thinned[at] = heard[at * step] ?? 0;
        return thinned;
      },
    };
  }

  get nowMs(): number {
    return this.#stream.nowMs;
  }

  get open(): boolean {
    return this.#stream.open;
  }

  get silent(): boolean {
    return this.#stream.silent;
  }

  say(pcm: Int16Array): number {
    return this.#stream.say(pcm);
  }

  press(digit: string): void {
    this.#stream.press(digit);
  }

  stop(): void {
    this.#stream.stop();
  }

  watch(listener: () => void): () => void {
    return this.#stream.watch(listener);
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

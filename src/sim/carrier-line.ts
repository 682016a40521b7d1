import { encodeAudio } from '../audio/codec.ts';
import { type AudioFormat, bytesPerSample, type WireFormat } from '../audio/format.ts';
import { resample } from '../audio/resample.ts';
import { joinSamples } from '../audio/samples.ts';
import { noise, seededRandom } from '../audio/tone.ts';
import type { Clock, Timer } from '../kernel/clock.ts';
import type { CallerLine } from './caller/caller.ts';
import type { CarrierWire } from './carrier-wire.ts';
import { DelayedLine } from './caller/delayed-line.ts';
import { earOf, PlayoutBuffer } from './caller/playout-buffer.ts';

/** How a carrier's leg is made. */
export interface LineFormats {
  /** The caller's audio, as it goes to the gateway. */
  readonly from: WireFormat;
  /** The gateway's audio. */
  readonly to: AudioFormat;
  /** Length of one message of the caller; 20 ms when absent. */
  readonly ptimeMs?: number;
  /** Both sides of a call between people: interleaved in one payload, or each in a message of its own. The caller alone when absent. */
  readonly sides?: 'stereo' | 'tracks';
}

/** What a simulated network and its caller's side are like; the same for every carrier. */
export interface LineOptions {
  /** Delay of every message from the gateway before the carrier acts on it, in ms; called for each. Order is kept. */
  readonly networkDelayMs?: () => number;
  /** Delay of every message to the gateway, in ms; called for each. Order is kept. */
  readonly toGatewayDelayMs?: () => number;
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
  /** Frames of 100 ms or more, silence encoded once, and nothing of what was said or heard is kept: for hundreds of calls at once. */
  readonly light?: boolean;
  /** Encodes one frame of the caller, in place of the leg's format. */
  readonly encode?: (frame: Int16Array, fromSample: number) => Uint8Array;
  /** Sees the wire itself, before and after every delay that is simulated. */
  readonly tap?: WireTap;
  /** What is sent to the gateway in place of each message: itself, nothing, something broken, … For tests of what a gateway survives. */
  readonly tamper?: (message: string | Uint8Array) => readonly (string | Uint8Array)[];
}

/** Times are the clock's, in ms. */
export interface WireTap {
  /** A frame of the caller was written to the wire. @param frame counted from 0, lost ones included */
  sent(frame: number, atMs: number): void;
  received(message: Buffer, isBinary: boolean, atMs: number): void;
}

export interface LineEnd {
  readonly byGateway: boolean;
  readonly code: number;
}

/** One message of the caller. */
export interface CallerFrame {
  /** Counted from 0; lost ones included. */
  readonly index: number;
  /** Of its first sample, since the stream began. */
  readonly atMs: number;
  readonly fromSample: number;
  readonly durationMs: number;
  /** Whose it is; always `caller` unless `sides` is `tracks`. */
  readonly side: Side;
}

export type Side = 'caller' | 'other';

const TICK_MS = 20;
const LIGHT_FRAME_MS = 100;
/** What callers of the public network sound like. */
const CALLER_RATE_HZ = 8_000;

/**
 * One media stream from a carrier's side: a sample clock, the caller's voice in frames, a playout buffer and the caller's ear behind it.
 * A carrier adds its messages: `sendAudio` and `sendDigit` out, `received` in, which calls `play`, `mark` and `clear`; `markPlayed` when a
 * mark was reached, `goodbye` before the carrier closes. Its constructor calls `super`, and `begin` once the stream has started.
 */
export abstract class CarrierLine implements CallerLine {
  readonly formats: LineFormats;
  /** What was played at the caller's end, at the rate of `formats.to`; holes in it are `underruns`. */
  readonly playout: PlayoutBuffer;
  /** What the caller's ear hears, at 8 kHz whatever the wire has. */
  readonly buffer: { readonly heard: Int16Array };
  /** What the carrier would complain of: wrong frames, messages it does not know, floods. */
  readonly complaints: string[] = [];
  /** Lengths of the payloads that were played, in bytes, and how often each came. */
  readonly payloadBytes = new Map<number, number>();
  /** Resolves when the wire is gone. Never rejects. */
  readonly ended: Promise<LineEnd>;
  protected readonly clock: Clock;
  readonly #wire: CarrierWire;
  readonly #options: LineOptions;
  readonly #voices: readonly Voice[];
  readonly #watchers = new Set<() => void>();
  readonly #fromGateway: DelayedLine;
  readonly #toGateway: DelayedLine;
  readonly #frameMs: number;
  /** Ms of the carrier's clock for one of the machine's. */
  readonly #speed: number;
  readonly #lightSilence: Uint8Array | undefined;
  #frames = 0;
  /** The frame that `sendAudio` is called for. */
  #frameSent: number | undefined;
  #startedMs: number | undefined;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(wire: CarrierWire, clock: Clock, formats: LineFormats, options: LineOptions = {}) {
    const { ptimeMs = TICK_MS, from, to, sides } = formats;
    const { light = false, skewPpm = 0, prefillMs = 0 } = options;
    this.formats = formats;
    this.clock = clock;
    this.#wire = wire;
    this.#options = options;
    this.#frameMs = light ? Math.max(LIGHT_FRAME_MS, ptimeMs) : ptimeMs;
    this.#speed = 1 + skewPpm / 1_000_000;
    this.#voices = (sides === undefined ? [7] : [7, 8]).map((seed) => new Voice(from.rateHz, options, seed));
    const frameSamples = (from.rateHz * this.#frameMs) / 1000;
    if (light) this.#lightSilence = encodeAudio(from.encoding, new Int16Array(frameSamples * (sides === 'stereo' ? 2 : 1)));
    this.playout = new PlayoutBuffer(to.encoding, prefillMs, to.rateHz, !light);
    this.buffer = earOf(this.playout, to.rateHz);
    this.#fromGateway = new DelayedLine(clock, options.networkDelayMs);
    this.#toGateway = new DelayedLine(clock, options.toGatewayDelayMs);
    this.ended = new Promise((resolve) => {
      wire.listen({
        message: (data, isBinary) => {
          options.tap?.received(data, isBinary, clock.nowMs());
          const bytes = options.networkDelayMs === undefined ? data : Buffer.from(data);
          this.#fromGateway.pass(() => this.received(bytes, isBinary));
        },
        closed: (code) => {
          this.#timer?.cancel();
          for (const line of [this.#fromGateway, this.#toGateway]) line.cut();
          for (const watch of this.#watchers) watch();
          resolve({ byGateway: !this.#stopped, code });
        },
      });
    });
  }

  /** Sends one message of audio, in bytes as it is where a carrier has no form for it. @param payload in the format `from`; lent until this returns */
  protected sendAudio(payload: Uint8Array, _frame: CallerFrame): void {
    this.send(payload);
  }
  protected abstract sendDigit(digit: string): void;
  /** A message from the gateway, or over TCP a chunk. */
  protected abstract received(message: Buffer, isBinary: boolean): void;
  /** A mark was reached by the playout; to be told to the gateway where the carrier does that. */
  protected markPlayed(_name: string): void {}
  /** What the carrier sends before it closes. @returns `wait` where the gateway has to answer it: `close` is called then */
  protected goodbye(): 'close' | 'wait' {
    return 'close';
  }

  /** Ms since the stream began: the clock of everything here. 0 before it has. */
  get nowMs(): number {
    return this.#startedMs === undefined ? 0 : (this.clock.nowMs() - this.#startedMs) * this.#speed;
  }

  get open(): boolean {
    return this.#wire.open;
  }

  /** Whether everything given to `say` has been sent. */
  get silent(): boolean {
    return this.#voices.every(({ waiting }) => waiting === 0);
  }

  /** What the caller's side sent so far, line noise included, at the rate of `formats.from`. */
  get spoken(): Int16Array {
    return joinSamples(this.#voices[0]?.sent ?? []);
  }

  /**
   * Queues audio of the caller, or of whoever they talk to.
   * @param rateHz of the samples; 8 kHz as callers of the public network sound
   * @returns when its first sample will be sent, in ms since the stream began
   */
  say(pcm: Int16Array, rateHz = CALLER_RATE_HZ, side: Side = 'caller'): number {
    const voice = this.#voices[side === 'caller' ? 0 : 1];
    if (voice === undefined) throw new RangeError('this stream has the caller alone');
    const beginsMs = this.#frames * this.#frameMs + (voice.waiting * 1000) / this.formats.from.rateHz;
    voice.say(resample(pcm, rateHz, this.formats.from.rateHz));
    return beginsMs;
  }

  press(digit: string): void {
    this.sendDigit(digit);
  }

  /** The call ends at the carrier: its goodbye, if it has one, and the wire is closed. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    if (this.goodbye() === 'close') this.close(1000);
  }

  /** The wire dies without a word. */
  drop(): void {
    this.#stopped = true;
    this.#wire.destroy();
  }

  /** The connection breaks, as when the gateway's process dies: the carrier does next what it does at the end of a stream. */
  sever(): void {
    this.#wire.destroy();
  }

  /** Sends anything at all, for what a carrier never sends. */
  sendRaw(data: string | Uint8Array): void {
    this.#wire.send(data);
  }

  /** Calls back after every 20 ms of the stream (100 ms in `light` mode) and when it ends. @returns a function that stops it */
  watch(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  /** The stream has started: audio flows from now on. */
  protected begin(): void {
    this.#startedMs = this.clock.nowMs();
    this.#arm();
  }

  /** Sends a message in its turn. */
  protected send(data: string | Uint8Array): void {
    const { tamper, tap, toGatewayDelayMs } = this.#options;
    const frame = this.#frameSent;
    const message = typeof data === 'string' || toGatewayDelayMs === undefined ? data : Uint8Array.from(data);
    this.#toGateway.pass(() => {
      if (!this.open) return;
      for (const one of tamper?.(message) ?? [message]) this.#wire.send(one);
      if (frame !== undefined) tap?.sent(frame, this.clock.nowMs());
    });
  }

  protected tell(message: object): void {
    this.send(JSON.stringify(message));
  }

  /** Closes the wire when everything was sent; for who got the gateway's answer to a goodbye, or is fed up with it. */
  protected close(code: number): void {
    this.#stopped = true;
    this.#toGateway.pass(() => this.#wire.close(code));
  }

  protected complain(about: string): void {
    this.complaints.push(about);
  }

  /** Queues audio of the gateway, in the format `to`. @returns false where that is more than the playout buffer holds: it is dropped */
  protected play(payload: Uint8Array): boolean {
    this.settle();
    this.payloadBytes.set(payload.length, (this.payloadBytes.get(payload.length) ?? 0) + 1);
    const droppedBefore = this.playout.droppedSamples;
    this.playout.append(payload, this.nowMs);
    return this.playout.droppedSamples === droppedBefore;
  }

  /** A mark behind what is queued; `markPlayed` is called at once where nothing is. */
  protected mark(name: string): void {
    this.playout.mark(name, this.nowMs);
    this.settle();
  }

  /** Drops what is queued. @returns the names of the marks in it, for a carrier that sends them back */
  protected clear(): readonly string[] {
    this.settle();
    return this.playout.clear(this.nowMs);
  }

  /** Plays up to this moment: marks reached before a message come back before what it causes. */
  protected settle(): void {
    for (const name of this.playout.advance(this.nowMs)) this.markPlayed(name);
  }

  #arm(): void {
    // One message may be longer than what the ear listens in.
    const tickMs = this.#options.light === true ? this.#frameMs : Math.min(TICK_MS, this.#frameMs);
    const dueMs = (Math.floor(this.nowMs / tickMs + 1e-6) + 1) * tickMs;
    this.#timer = this.clock.after(Math.max(0, (dueMs - this.nowMs) / this.#speed), () => {
      if (!this.open) return;
      while ((this.#frames + 1) * this.#frameMs <= this.nowMs) this.#sendFrame();
      this.#arm();
      this.settle();
      for (const watch of this.#watchers) watch();
    });
  }

  #sendFrame(): void {
    const { from, sides } = this.formats;
    const index = this.#frames;
    this.#frames += 1;
    const fromSample = (index * this.#frameMs * from.rateHz) / 1000;
    const payloads = this.#payloads(fromSample);
    if (this.#options.loses?.() === true) return;
    const about = { index, atMs: index * this.#frameMs, fromSample, durationMs: this.#frameMs };
    this.#frameSent = index;
    const [caller = new Uint8Array(), other] = payloads;
    this.sendAudio(caller, { ...about, side: 'caller' });
    if (sides === 'tracks' && other !== undefined) this.sendAudio(other, { ...about, side: 'other' });
    this.#frameSent = undefined;
  }

  /** One payload, or one for each side where those are tracks. */
  #payloads(fromSample: number): readonly Uint8Array[] {
    const { from, sides } = this.formats;
    const { encode = (pcm: Int16Array) => encodeAudio(from.encoding, pcm) } = this.#options;
    if (this.#lightSilence !== undefined && this.silent) return [this.#lightSilence, this.#lightSilence];
    const parts = this.#voices.map((voice) => encode(voice.next(fromSample, this.#frameMs), fromSample));
    const [caller, other] = parts;
    if (sides !== 'stereo' || caller === undefined || other === undefined) return parts;
    return [interleave(caller, other, bytesPerSample(from.encoding))];
  }
}

/** One side's voice over its line noise, frame by frame. */
class Voice {
  /** What was sent, unless nothing is kept. */
  readonly sent: Int16Array[] = [];
  readonly #rateHz: number;
  readonly #light: boolean;
  readonly #background: Int16Array;
  readonly #parts: Int16Array[] = [];

  constructor(rateHz: number, { light = false, background, lineNoise = 0.0004 }: LineOptions, seed: number) {
    this.#rateHz = rateHz;
    this.#light = light;
    if (light) this.#background = new Int16Array(rateHz);
    else if (background === undefined) this.#background = noise(1_000, rateHz, lineNoise, seededRandom(seed));
    else this.#background = resample(background, CALLER_RATE_HZ, rateHz);
  }

  /** Samples that are still to be sent. */
  get waiting(): number {
    return this.#parts.reduce((sum, part) => sum + part.length, 0);
  }

  say(pcm: Int16Array): void {
    if (pcm.length > 0) this.#parts.push(pcm);
  }

  next(fromSample: number, frameMs: number): Int16Array {
    const samples = (frameMs * this.#rateHz) / 1000;
    const offset = fromSample % (this.#background.length - samples);
    const frame = this.#background.slice(offset, offset + samples);
    for (let filled = 0; filled < samples;) {
      const [part] = this.#parts;
      if (part === undefined) break;
      const taken = part.subarray(0, samples - filled);
      for (const [index, sample] of taken.entries()) {
        const sum = (frame[filled + index] ?? 0) + sample;
        frame[filled + index] = Math.max(-32_768, Math.min(32_767, sum));
      }
      filled += taken.length;
      if (taken.length === part.length) this.#parts.shift();
      else this.#parts[0] = part.subarray(taken.length);
    }
    if (!this.#light) this.sent.push(frame);
    return frame;
  }
}

function interleave(left: Uint8Array, right: Uint8Array, sampleBytes: number): Uint8Array {
  const both = new Uint8Array(left.length * 2);
  for (let at = 0; at < left.length; at += sampleBytes) {
    both.set(left.subarray(at, at + sampleBytes), at * 2);
    both.set(right.subarray(at, at + sampleBytes), at * 2 + sampleBytes);
  }
  return both;
}

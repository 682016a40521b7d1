import type { WireFormat } from '../audio/format.ts';
import { bytesPerSample, durationMs } from '../audio/format.ts';
import { FrameOrder } from './frame-order.ts';
import { base64Length, decodeBase64Into, encodeBase64Into } from './base64.ts';
import type { FieldPath, JsonDialect } from './json-dialect.ts';
import { maxMessageBytes, type MediaCodec, type MessageSink, type WireEvent } from './media-codec.ts';
import { MediaTemplate } from './media-template.ts';
import type { MediaTrack, StreamStarted } from './port.ts';

/** Scratch buffer for payloads of all sockets: listeners copy what they keep. A payload is never longer than its message. */
const scratch = Buffer.allocUnsafeSlow(maxMessageBytes);
/** The lent view; reused for payloads of equal length, as nearly all are. */
let lent = scratch.subarray(0, 0);
/** Most templates; a carrier that varies every message is parsed in full. */
const mostTemplates = 16;
const digitText = /^[0-9*#A-Da-d]$/;

/** The media protocol of one socket, by its carrier's table of JSON messages. Lenient where carriers differ (numbers as text, unknown keys). */
export class JsonCodec implements MediaCodec {
  readonly #dialect: JsonDialect;
  #streamId = '';
  #callId = '';
  /** Text before and after an audio message's base64. */
  #before: Uint8Array = new Uint8Array();
  #after: Uint8Array = new Uint8Array();
  #state: 'waiting' | 'started' | 'stopped' = 'waiting';
  #format: WireFormat;
  #template: MediaTemplate | undefined;
  #templates = 0;
  /** By track, for carriers that may send frames out of order. */
  readonly #orders: Readonly<Record<MediaTrack, FrameOrder>> | undefined;
  /** Number of the last audio message. */
  #number: number | undefined;

  constructor(dialect: JsonDialect) {
    this.#dialect = dialect;
    this.#format = dialect.start.format;
    if (dialect.audio.order === undefined) return;
    const lengthMs = (bytes: number): number => durationMs(this.#format, bytes);
    this.#orders = { caller: new FrameOrder(lengthMs), other: new FrameOrder(lengthMs) };
  }

  read(data: Buffer, isBinary: boolean): WireEvent {
    if (isBinary) return rejected('binary message; text messages are accepted');
    const template = this.#template;
    if (this.#state === 'started' && template?.fits(data) === true) {
      const length = decodeBase64Into(data, template.payloadStart, template.payloadEnd, scratch);
      // Invalid base64 may contain an early quote.
      if (length !== -1) return this.#lend(length, template.timestampMs, template.number, 'caller');
    }
    const text = data.toString('utf8');
    const result = this.readText(text);
    if (result.type === 'audio' && result.track === undefined && this.#templates < mostTemplates) {
      this.#templates += 1;
      this.#template = MediaTemplate.of(text, this.#dialect.audio, result.timestampMs, this.#number);
    }
    return result;
  }

  /** Parses a message in full, without templates. @param text one complete text message */
  readText(text: string): WireEvent {
    if (text.length > maxMessageBytes)
      return rejected(`message of ${text.length} bytes; at most ${maxMessageBytes} are accepted`);
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return rejected('message is not JSON; a JSON object is accepted');
    }
    if (!isRecord(message)) return rejected('message is not a JSON object');
    const { eventKey, otherEventKey } = this.#dialect;
    const name = message[eventKey] ?? (otherEventKey === undefined ? undefined : message[otherEventKey]);
    if (typeof name !== 'string') return rejected(`message has no text under "${eventKey}"`);
    switch (Object.hasOwn(this.#dialect.events, name) ? this.#dialect.events[name] : undefined) {
      case undefined:
        return { type: 'ignored', name: name.slice(0, 40) };
      case 'connected':
        return { type: 'connected' };
      case 'start':
        return this.#start(message);
      case 'audio':
        return this.#audio(message);
      case 'digit':
        return this.#digit(message);
      case 'mark':
        return this.#mark(message);
      case 'stop':
        return this.#stop(message);
      case 'alive':
        return { type: 'alive' };
      case 'error':
        return rejected(`the carrier reports an error: ${texted(message, this.#dialect.errorText ?? [])}`);
    }
  }

  #start(message: Json): WireEvent {
    if (this.#state !== 'waiting') return rejected('second start on one stream; the first one stays in force');
    const { start } = this.#dialect;
    const streamId = firstText(message, start.streamId);
    const carrierCallId = firstText(message, start.callId);
    if (streamId === undefined) return fatal(`start has no ${named(start.streamId)}`);
    if (carrierCallId === undefined) return fatal(`start has no ${named(start.callId)}`);
    // Needed to end a stream whose start is unusable.
    this.#streamId = streamId;
    this.#callId = carrierCallId;
    const format = this.#formatOf(message);
    if ('problem' in format) return fatal(format.problem);
    this.#state = 'started';
    this.#format = format;
    const outbound = start.outbound?.(format) ?? format;
    const [before, after] = this.#dialect.send.audio(streamId, outbound);
    this.#before = Buffer.from(before);
    this.#after = Buffer.from(after);
    const given = first(message, start.parameters);
    const parameters = isRecord(given) ? texts(given) : {};
    const call = this.#callOf(message);
    return { type: 'started', streamId, carrierCallId, inbound: format, outbound, parameters, ...(call && { call }) };
  }

  /** The ids in its start message, even an unusable one; empty before. */
  get named(): { readonly streamId: string; readonly callId: string } {
    return { streamId: this.#streamId, callId: this.#callId };
  }

  #callOf(message: Json): StreamStarted['call'] {
    const { call } = this.#dialect.start;
    if (call === undefined) return undefined;
    const direction = firstText(message, call.direction)?.toLowerCase().startsWith('out') === true ? 'outbound' : 'inbound';
    return { from: firstText(message, call.from) ?? '', to: firstText(message, call.to) ?? '', direction };
  }

  audio(payload: Uint8Array, to: MessageSink): void {
    sendBase64(this.#before, payload, this.#after, to);
  }

  /** @throws TypeError where the table has no such message */
  mark(name: string, to: MessageSink): void {
    const message = this.#dialect.send.mark?.(this.#streamId, name);
    if (message === undefined) throw new TypeError('this carrier has no marks');
    to.sendText(message);
  }

  clear(to: MessageSink): void {
    to.sendText(this.#dialect.send.clear(this.#streamId));
  }

  /** @throws TypeError where the table has no such message */
  digits(digits: string, to: MessageSink): void {
    const messages = this.#dialect.send.digits?.(this.#streamId, digits);
    if (messages === undefined) throw new TypeError('this carrier takes no keys on its socket');
    for (const message of typeof messages === 'string' ? [messages] : messages) to.sendText(message);
  }

  goodbye(_reason: string, to: MessageSink): 'close' | 'wait' {
    const message = this.#dialect.send.goodbye?.(this.#streamId);
    if (message === undefined || this.#streamId === '' || this.#state === 'stopped') return 'close';
    to.sendText(message);
    return 'wait';
  }

  #formatOf(message: Json): WireFormat | { problem: string } {
    const { start } = this.#dialect;
    const encodingName = firstText(message, start.encoding)?.toLowerCase().split(';', 1)[0];
    const rateHz = numberOf(first(message, start.rateHz)) ?? start.format.rateHz;
    const channels = numberOf(first(message, start.channels)) ?? 1;
    const accepted = `accepted is ${Object.keys(start.encodings).join(', ')} at ${start.ratesHz.join(', ')} Hz, one channel`;
    const listed = encodingName !== undefined && Object.hasOwn(start.encodings, encodingName);
    const known = encodingName === undefined || listed || start.otherEncoding !== undefined;
    if (!known || !start.ratesHz.includes(rateHz) || channels !== 1) {
      const found = `${(encodingName ?? start.format.encoding).slice(0, 40)} at ${rateHz} Hz, ${channels} channels`;
      return { problem: `media format is ${found}; ${accepted}` };
    }
    const encoding =
      encodingName === undefined ? start.format.encoding : listed ? start.encodings[encodingName] : start.otherEncoding;
    return { encoding: encoding ?? start.format.encoding, rateHz };
  }

  #audio(message: Json): WireEvent {
    if (this.#state !== 'started') return rejected(this.#outside('audio'));
    const { audio } = this.#dialect;
    const track = field(message, audio.track);
    const isOther = typeof track === 'string' && audio.otherTracks?.includes(track) === true;
    if (typeof track === 'string' && !isOther && !audio.callerTracks.includes(track))
      return { type: 'ignored', name: `audio:${track.slice(0, 20)}` };
    const payload = field(message, audio.payload);
    if (typeof payload !== 'string' || payload === '') return rejected(`audio has no ${audio.payload.join('.')}`);
    const number = audio.order === undefined ? undefined : numberOf(field(message, audio.order));
    const decoded = this.#decoded(payload, numberOf(field(message, audio.timestampMs)), number, isOther ? 'other' : 'caller');
    return isOther && decoded.type === 'audio' ? { ...decoded, track: 'other' } : decoded;
  }

  #decoded(payload: string, timestampMs: number | undefined, number: number | undefined, track: MediaTrack): WireEvent {
    const length = scratch.write(payload, 0, 'base64');
    if (length !== base64Bytes(payload)) return rejected('audio payload is not base64');
    return this.#lend(length, timestampMs, number, track);
  }

  /** @param length bytes of payload in `scratch` */
  #lend(length: number, timestampMs: number | undefined, number: number | undefined, track: MediaTrack): WireEvent {
    if (length % bytesPerSample(this.#format.encoding) !== 0) return rejected('audio payload ends within a sample');
    if (lent.length !== length) lent = scratch.subarray(0, length);
    if (this.#orders === undefined) return { type: 'audio', payload: lent, timestampMs };
    this.#number = number;
    const taken = this.#orders[track].take(number, lent, timestampMs);
    if (taken === 'held') return { type: 'alive' };
    return taken === 'late' ? { type: 'ignored', name: 'audio:late' } : { type: 'audio', ...taken };
  }

  #digit(message: Json): WireEvent {
    if (this.#state !== 'started') return rejected(this.#outside('digit'));
    const found = field(message, this.#dialect.digit);
    const digit = typeof found === 'number' ? String(found) : found;
    if (typeof digit !== 'string' || !digitText.test(digit)) return rejected('digit is not one of 0 to 9, *, #, A to D');
    return { type: 'digit', digit: digit.toUpperCase() };
  }

  #mark(message: Json): WireEvent {
    if (this.#state !== 'started') return rejected(this.#outside('mark'));
    const name = field(message, this.#dialect.markName);
    return typeof name === 'string' ? { type: 'mark', name } : rejected(`mark has no ${this.#dialect.markName.join('.')}`);
  }

  #stop(message: Json): WireEvent {
    if (this.#state !== 'started') return rejected(this.#outside('stop'));
    this.#state = 'stopped';
    const reason = field(message, this.#dialect.stopReason);
    return { type: 'stopped', reason: typeof reason === 'string' ? reason.slice(0, 200) : 'stop' };
  }

  #outside(what: string): string {
    return this.#state === 'waiting' ? `${what} before start` : `${what} after stop`;
  }
}

/** Sends a text message with base64 in the middle. */
export function sendBase64(before: Uint8Array, payload: Uint8Array, after: Uint8Array, to: MessageSink): void {
  const length = before.length + base64Length(payload.length) + after.length;
  const message = to.room(length);
  message.set(before);
  message.set(after, encodeBase64Into(payload, message, before.length));
  to.send('text', length);
}

/** Length of decoded base64; shorter than expected for invalid text, whose unknown characters the decoder skips. */
function base64Bytes(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const digits = text.length - padding;
  return digits % 4 === 1 ? -1 : Math.floor((digits * 3) / 4);
}

type Json = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function rejected(problem: string): WireEvent {
  return { type: 'rejected', problem };
}

function fatal(problem: string): WireEvent {
  return { type: 'rejected', problem, fatal: true };
}

/** Path names come from carrier tables; none is an inherited property of objects. */
function field(message: Json, path: FieldPath): unknown {
  let value: unknown = message;
  for (const name of path) {
    if (!isRecord(value)) return undefined;
    value = value[name];
  }
  return value;
}

function first(message: Json, paths: readonly FieldPath[]): unknown {
  for (const path of paths) {
    const value = field(message, path);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** Ids are opaque: a number is taken as text. Empty or very long ones are not ids. */
function firstText(message: Json, paths: readonly FieldPath[]): string | undefined {
  const value = first(message, paths);
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text !== '' && text.length <= 256 ? text : undefined;
}

/** Carriers write numbers as numbers or as decimal text. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  return typeof value === 'string' && /^\d{1,15}(\.\d{1,9})?$/.test(value) ? Number(value) : undefined;
}

function texts(given: Json): Record<string, string> {
  const entries = Object.entries(given).filter((entry): entry is [string, string | number | boolean] =>
    ['string', 'number', 'boolean'].includes(typeof entry[1]),
  );
  return Object.fromEntries(entries.slice(0, 100).map(([name, value]) => [name, String(value)]));
}

/** The carrier's error text, shortened for a log. */
function texted(message: Json, paths: readonly FieldPath[]): string {
  return paths
    .map((path) => field(message, path))
    .filter((part) => typeof part === 'string' || typeof part === 'number')
    .join(' ')
    .slice(0, 200);
}

function named(paths: readonly FieldPath[]): string {
  return paths.map((path) => path.join('.')).join(' or ');
}

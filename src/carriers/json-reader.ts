import type { AudioFormat } from '../audio/format.ts';
import { bytesPerSample } from '../audio/format.ts';
import { decodeBase64Into } from './base64.ts';
import type { FieldPath, JsonDialect } from './json-dialect.ts';
import { MediaTemplate } from './media-template.ts';
import type { MediaEvent } from './port.ts';

/** Longest message that is looked at; the socket enforces the same. */
export const maxMessageBytes = 65_536;

type Rejected = {
  readonly type: 'rejected';
  readonly problem: string;
  /** The stream can never start after this: the socket should be closed. */
  readonly fatal?: true;
};

/** What one message gave. `ignored` is a message of a kind we have no use for. */
export type ReadResult =
  | Exclude<MediaEvent, { type: 'closed' } | { type: 'rejected' }>
  | Rejected
  | { readonly type: 'ignored'; readonly name: string };

/**
 * Used again for every payload of every socket: the listener copies what it keeps before the next message is read. A message
 * cannot decode to more than its own length.
 */
const scratch = Buffer.allocUnsafeSlow(maxMessageBytes);
/** What is lent of it: the same view again for a payload of the same length, as nearly all are. */
let lent = scratch.subarray(0, 0);
/** A carrier that writes each message in another way is read in full. */
const mostTemplates = 16;
const digitText = /^[0-9*#A-Da-d]$/;

/**
 * Reads one socket's messages by its carrier's table. Lenient where carriers differ (numbers as text, unknown keys),
 * and it never throws: what cannot be used becomes `rejected`, and the next message is read as if nothing had been.
 */
export class JsonReader {
  readonly #dialect: JsonDialect;
  #state: 'waiting' | 'started' | 'stopped' = 'waiting';
  #format: AudioFormat;
  #template: MediaTemplate | undefined;
  #templates = 0;

  constructor(dialect: JsonDialect) {
    this.#dialect = dialect;
    this.#format = dialect.start.format;
  }

  /** @param data one whole text message, as it came */
  readBytes(data: Buffer): ReadResult {
    const template = this.#template;
    if (this.#state === 'started' && template?.fits(data) === true) {
      const length = decodeBase64Into(data, template.payloadStart, template.payloadEnd, scratch);
      // What is no base64 may have ended before the quotes did.
      if (length !== -1) return this.#lend(length, template.timestampMs);
    }
    const text = data.toString('utf8');
    const result = this.read(text);
    if (result.type === 'audio' && this.#templates < mostTemplates) {
      this.#templates += 1;
      this.#template = MediaTemplate.of(text, this.#dialect.audio, result.timestampMs);
    }
    return result;
  }

  /** @param text one whole text message */
  read(text: string): ReadResult {
    if (text.length > maxMessageBytes)
      return rejected(`message of ${text.length} bytes; at most ${maxMessageBytes} are accepted`);
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return rejected('message is not JSON; a JSON object is accepted');
    }
    if (!isRecord(message)) return rejected('message is not a JSON object');
    const name = message[this.#dialect.eventKey];
    if (typeof name !== 'string') return rejected(`message has no text under "${this.#dialect.eventKey}"`);
    if (!Object.hasOwn(this.#dialect.events, name)) return { type: 'ignored', name: name.slice(0, 40) };
    const kind = this.#dialect.events[name]!;
    switch (kind) {
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
    }
  }

  #start(message: Json): ReadResult {
    if (this.#state !== 'waiting') return rejected('second start on one stream; the first one stays in force');
    const { start } = this.#dialect;
    const streamId = firstText(message, start.streamId);
    const carrierCallId = firstText(message, start.callId);
    if (streamId === undefined) return fatal(`start has no ${named(start.streamId)}`);
    if (carrierCallId === undefined) return fatal(`start has no ${named(start.callId)}`);
    const format = this.#formatOf(message);
    if ('problem' in format) return fatal(format.problem);
    this.#state = 'started';
    this.#format = format;
    const given = first(message, start.parameters);
    return { type: 'started', streamId, carrierCallId, format, parameters: isRecord(given) ? texts(given) : {} };
  }

  #formatOf(message: Json): AudioFormat | { problem: string } {
    const { start } = this.#dialect;
    const encodingName = firstText(message, start.encoding)?.toLowerCase();
    const rateHz = numberOf(first(message, start.rateHz)) ?? start.format.rateHz;
    const channels = numberOf(first(message, start.channels)) ?? 1;
    const accepted = `accepted is ${Object.keys(start.encodings).join(', ')} at ${start.ratesHz.join(', ')} Hz, one channel`;
    const known = encodingName === undefined || Object.hasOwn(start.encodings, encodingName);
    if (!known || !start.ratesHz.includes(rateHz) || channels !== 1) {
      const found = `${(encodingName ?? start.format.encoding).slice(0, 40)} at ${rateHz} Hz, ${channels} channels`;
      return { problem: `media format is ${found}; ${accepted}` };
    }
    const encoding = encodingName === undefined ? start.format.encoding : start.encodings[encodingName]!;
    return { encoding, rateHz };
  }

  #audio(message: Json): ReadResult {
    if (this.#state !== 'started') return rejected(this.#outside('audio'));
    const { audio } = this.#dialect;
    const track = field(message, audio.track);
    if (typeof track === 'string' && !audio.callerTracks.includes(track))
      return { type: 'ignored', name: `audio:${track.slice(0, 20)}` };
    const payload = field(message, audio.payload);
    if (typeof payload !== 'string' || payload === '') return rejected(`audio has no ${audio.payload.join('.')}`);
    return this.#decoded(payload, numberOf(field(message, audio.timestampMs)));
  }

  #decoded(payload: string, timestampMs: number | undefined): ReadResult {
    const length = scratch.write(payload, 0, 'base64');
    if (length !== base64Bytes(payload)) return rejected('audio payload is not base64');
    return this.#lend(length, timestampMs);
  }

  /** @param length how many bytes of `scratch` are the payload */
  #lend(length: number, timestampMs: number | undefined): ReadResult {
    if (length % bytesPerSample(this.#format.encoding) !== 0) return rejected('audio payload ends within a sample');
    if (lent.length !== length) lent = scratch.subarray(0, length);
    return { type: 'audio', payload: lent, timestampMs };
  }

  #digit(message: Json): ReadResult {
    if (this.#state !== 'started') return rejected(this.#outside('digit'));
    const found = field(message, this.#dialect.digit);
    const digit = typeof found === 'number' ? String(found) : found;
    if (typeof digit !== 'string' || !digitText.test(digit)) return rejected('digit is not one of 0 to 9, *, #, A to D');
    return { type: 'digit', digit: digit.toUpperCase() };
  }

  #mark(message: Json): ReadResult {
    if (this.#state !== 'started') return rejected(this.#outside('mark'));
    const name = field(message, this.#dialect.markName);
    return typeof name === 'string' ? { type: 'mark', name } : rejected(`mark has no ${this.#dialect.markName.join('.')}`);
  }

  #stop(message: Json): ReadResult {
    if (this.#state !== 'started') return rejected(this.#outside('stop'));
    this.#state = 'stopped';
    const reason = field(message, this.#dialect.stopReason);
    return { type: 'stopped', reason: typeof reason === 'string' ? reason.slice(0, 200) : 'stop' };
  }

  #outside(what: string): string {
    return this.#state === 'waiting' ? `${what} before start` : `${what} after stop`;
  }
}

/** How many bytes a text of base64 is, if it is one: the decoder passes over what is not, and so gives fewer. */
function base64Bytes(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const digits = text.length - padding;
  return digits % 4 === 1 ? -1 : Math.floor((digits * 3) / 4);
}

type Json = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function rejected(problem: string): ReadResult {
  return { type: 'rejected', problem };
}

function fatal(problem: string): ReadResult {
  return { type: 'rejected', problem, fatal: true };
}

/** The names of a path are a carrier's own words; none of them is one that every object inherits. */
function field(message: Json, path: FieldPath): unknown {
  let value: unknown = message;
  for (let at = 0; at < path.length; at += 1) {
    if (!isRecord(value)) return undefined;
    value = value[path[at]!];
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

/** Ids are opaque: a number is taken as its text. Empty ones and very long ones are not ids. */
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

function named(paths: readonly FieldPath[]): string {
  return paths.map((path) => path.join('.')).join(' or ');
}

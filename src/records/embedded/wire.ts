/** Builders for the few protocol messages that the embedded store says itself. */

function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function text(value: string): Buffer {
  return Buffer.from(`${value}\0`, 'utf8');
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** A simple query, as a client would send it. */
export function queryMessage(sql: string): Buffer {
  return message('Q', text(sql));
}

/** A server's greeting. Every client that can open the socket is admitted: its folder is private. */
export function welcome(sessionNumber: number): Buffer {
  const parameters = {
    server_version: '18.0',
    server_encoding: 'UTF8',
    client_encoding: 'UTF8',
    DateStyle: 'ISO, MDY',
    integer_datetimes: 'on',
    standard_conforming_strings: 'on',
    TimeZone: 'UTC',
  };
  return Buffer.concat([
    message('R', int32(0)),
    ...Object.entries(parameters).map(([name, value]) => message('S', text(name), text(value))),
    message('K', int32(sessionNumber), int32(0)),
    message('Z', Buffer.from('I')),
  ]);
}

/** The end of a session. @param sqlState five characters (PostgreSQL manual, appendix A) */
export function fatal(sqlState: string, reason: string): Buffer {
  return message('E', text('SFATAL'), text('VFATAL'), text(`C${sqlState}`), text(`M${reason}`), Buffer.from([0]));
}

/**
 * The parts of the PostgreSQL frontend/backend protocol 3.0 that a session needs to be shared: cutting a byte stream into
 * messages, telling where a batch ends, and reading transaction status and notifications out of a reply
 * (PostgreSQL manual, "Message Formats").
 */

/** Codes that open a connection, sent without a message type. */
export const PROTOCOL_3 = 196_608;
export const SSL_REQUEST = 80_877_103;
export const CANCEL_REQUEST = 80_877_102;

export type FrontendFrame =
  | { readonly kind: 'startup'; readonly code: number }
  /** `bytes` is the whole message: type, length, body. */
  | { readonly kind: 'message'; readonly type: string; readonly bytes: Buffer };

/** Cuts what a client sends into whole messages; keeps the tail for the next call. */
export class FrontendFrames {
  readonly #maxBytes: number;
  #pending: Buffer = Buffer.alloc(0);
  #started = false;

  /** @param maxBytes the longest message accepted, in bytes */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws RangeError when a message says it is longer than allowed, or shorter than its own length field */
  push(chunk: Uint8Array): FrontendFrame[] {
    this.#pending = this.#pending.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#pending, chunk]);
    const frames: FrontendFrame[] = [];
    for (let frame = this.#next(); frame !== undefined; frame = this.#next()) frames.push(frame);
    return frames;
  }

  #next(): FrontendFrame | undefined {
    const typeBytes = this.#started ? 1 : 0;
    if (this.#pending.length < typeBytes + 4) return undefined;
    const length = this.#pending.readInt32BE(typeBytes);
    const least = this.#started ? 4 : 8;
    if (length < least || length > this.#maxBytes) throw new RangeError(`a message of ${length} bytes is not accepted`);
    if (this.#pending.length < typeBytes + length) return undefined;
    const bytes = this.#pending.subarray(0, typeBytes + length);
    this.#pending = this.#pending.subarray(typeBytes + length);
    if (this.#started) return { kind: 'message', type: String.fromCharCode(bytes[0] ?? 0), bytes };
    const code = bytes.readInt32BE(4);
    this.#started = code === PROTOCOL_3;
    return { kind: 'startup', code };
  }
}

/** Messages after which the backend has everything it needs to answer: Sync, Query, FunctionCall, Flush, CopyDone, CopyFail. */
export function endsBatch(type: string): boolean {
  return 'SQFHcf'.includes(type);
}

export interface SplitReply {
  /** The reply without its notifications. */
  readonly body: Buffer;
  readonly notifications: readonly { readonly channel: string; readonly bytes: Buffer }[];
  /** Idle, in a transaction, in a failed transaction; undefined when the reply does not end in ReadyForQuery. */
  readonly status: 'I' | 'T' | 'E' | undefined;
  /** What the backend said last, where it is one that would have ended its process; undefined while it works. */
  readonly panic: string | undefined;
}

/** The severity and text of an error, in English (PostgreSQL manual, "Error and Notice Message Fields"). */
function panicOf(message: Buffer): string | undefined {
  const fields = message.toString('utf8', 5).split('\0');
  const field = (type: string): string | undefined => fields.find((text) => text.startsWith(type))?.slice(1);
  const severity = field('V');
  return severity === 'PANIC' || severity === 'FATAL' ? `${severity}: ${field('M')}` : undefined;
}

/** @param reply whole backend messages, as the engine returned them */
export function splitReply(reply: Uint8Array): SplitReply {
  const bytes = Buffer.from(reply.buffer, reply.byteOffset, reply.byteLength);
  const kept: Buffer[] = [];
  const notifications: { channel: string; bytes: Buffer }[] = [];
  let status: SplitReply['status'];
  let panic: string | undefined;
  for (let at = 0; at + 5 <= bytes.length;) {
    const message = bytes.subarray(at, at + 1 + bytes.readInt32BE(at + 1));
    at += message.length;
    status = undefined;
    if (message[0] === 0x41) {
      // NotificationResponse: sender's process id (4 bytes), channel, payload; both zero-terminated.
      notifications.push({ channel: message.toString('utf8', 9, message.indexOf(0, 9)), bytes: message });
      continue;
    }
    if (message[0] === 0x45) panic ??= panicOf(message);
    if (message[0] === 0x5a) {
      const letter = String.fromCharCode(message[5] ?? 0);
      if (letter === 'I' || letter === 'T' || letter === 'E') status = letter;
    }
    kept.push(message);
  }
  return { body: Buffer.concat(kept), notifications, status, panic };
}

/** The SQL of a Query or Parse message; undefined for any other. */
export function sqlOf(frame: { readonly type: string; readonly bytes: Buffer }): string | undefined {
  if (frame.type !== 'Q' && frame.type !== 'P') return undefined;
  // Parse carries the statement's name first; both end with a zero byte.
  const from = frame.type === 'Q' ? 5 : frame.bytes.indexOf(0, 5) + 1;
  return frame.bytes.toString('utf8', from, frame.bytes.indexOf(0, from));
}

export type Subscription = { readonly act: 'listen' | 'unlisten'; readonly channel: string };

/** Finds a LISTEN or UNLISTEN, which belongs to one client although all share one backend session. `*` is every channel. */
export function subscriptionOf(sql: string): Subscription | undefined {
  const bare = sql.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ');
  const found = /^\s*(un)?listen\s+(?:"((?:[^"]|"")+)"|([\w$]+)|(\*))\s*;?\s*$/i.exec(bare);
  if (found === null) return undefined;
  const [, un, quoted, plain] = found;
  // An unquoted name is folded to lower case, as the backend does.
  const channel = quoted?.replaceAll('""', '"') ?? plain?.toLowerCase() ?? '*';
  return { act: un === undefined ? 'listen' : 'unlisten', channel };
}

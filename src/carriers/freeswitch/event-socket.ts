import { connect, type Socket } from 'node:net';
import type { Secret } from '../../config/secrets.ts';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { CarrierControlError } from '../errors.ts';

export interface EventSocketSettings {
  readonly host: string;
  readonly port: number;
  readonly password: Secret;
}

/** One message of the event socket: header fields and body. */
export interface EslMessage {
  readonly head: ReadonlyMap<string, string>;
  readonly body: string;
}

const TIMEOUT_MS = 5_000;
const MOST_BYTES = 1_048_576;
const MOST_WAITING = 1_000;

interface Waiting {
  readonly resolve: (message: EslMessage) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A client of FreeSWITCH's event socket (mod_event_socket, inbound; developer.signalwire.com/freeswitch, "mod_event_socket"): a command is a line
 * followed by an empty one; answers come in command order, with events in between.
 */
export class EventSocket implements AsyncDisposable {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #onEvent: (event: EslMessage) => void;
  readonly #waiting: Waiting[] = [];
  readonly #closed: Promise<void>;
  #buffer: Buffer = Buffer.alloc(0);
  #head: ReadonlyMap<string, string> | undefined;
  #failure: Error | undefined;

  private constructor(socket: Socket, clock: Clock, onEvent: (event: EslMessage) => void) {
    this.#socket = socket;
    this.#clock = clock;
    this.#onEvent = onEvent;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', (error) => this.#fail(error));
    this.#closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#fail(new Error('FreeSWITCH closed the event socket'));
        resolve();
      });
    });
  }

  /**
   * Connects and authenticates.
   * @param onEvent hears events, after an `event plain …` command
   * @throws CarrierControlError, marked as certainly not done
   */
  static async open(
    { host, port, password }: EventSocketSettings,
    clock: Clock,
    signal: AbortSignal,
    onEvent: (event: EslMessage) => void = () => undefined,
  ): Promise<EventSocket> {
    const socket = new EventSocket(connect({ host, port, noDelay: true }), clock, onEvent);
    try {
      // The first message asks for the password, or refuses our address.
      const greeting = await socket.#next(signal);
      if (greeting.head.get('content-type') !== 'auth/request')
        throw new Error('FreeSWITCH refuses this address: see apply-inbound-acl in event_socket.conf.xml');
      const reply = await socket.command(`auth ${password.reveal()}`, signal);
      if (!reply.startsWith('+OK')) throw new Error('FreeSWITCH refuses the password of the event socket');
      return socket;
    } catch (cause) {
      socket.#socket.destroy();
      if (signal.aborted) throw cause;
      const message = "FreeSWITCH's event socket cannot be used";
      throw new CarrierControlError(message, { retryable: true, surelyNotDone: true, cause });
    }
  }

  /** Resolves when the connection is closed. */
  get closed(): Promise<void> {
    return this.#closed;
  }

  /**
   * @param jobId of a `bgapi` command, which identifies its result
   * @returns the reply text, or the output of an `api` command
   * @throws TypeError for a command of more than one line; Error when no answer came
   */
  async command(line: string, signal: AbortSignal, jobId?: string): Promise<string> {
    if (/[\r\n\0]/u.test(line + (jobId ?? ''))) throw new TypeError('a command is one line');
    if (this.#waiting.length >= MOST_WAITING) throw new Error('too many commands wait for FreeSWITCH');
    const reply = this.#next(signal);
    this.#socket.write(jobId === undefined ? `${line}\n\n` : `${line}\nJob-UUID: ${jobId}\n\n`);
    const { head, body } = await reply;
    return head.get('reply-text') ?? body;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy();
    await this.#closed;
  }

  #next(signal: AbortSignal): Promise<EslMessage> {
    let timer: Timer | undefined;
    const onAbort = (): void => this.#fail(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    signal.addEventListener('abort', onAbort, { once: true });
    return new Promise<EslMessage>((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure);
      // Answers have no ids: after a missing one they cannot be matched any longer.
      timer = this.#clock.after(TIMEOUT_MS, () => this.#fail(new Error(`no answer of FreeSWITCH within ${TIMEOUT_MS} ms`)));
      this.#waiting.push({ resolve, reject });
    }).finally(() => {
      timer?.cancel();
      signal.removeEventListener('abort', onAbort);
    });
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#socket.destroy();
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
  }

  #take(chunk: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, chunk]);
    if (this.#buffer.length > MOST_BYTES) return this.#fail(new Error('FreeSWITCH sends more than is read at once'));
    for (;;) {
      if (this.#head === undefined) {
        const end = this.#buffer.indexOf('\n\n');
        if (end === -1) return;
        this.#head = fieldsOf(this.#buffer.toString('utf8', 0, end), false);
        this.#buffer = this.#buffer.subarray(end + 2);
      }
      const length = Number(this.#head.get('content-length') ?? 0);
      if (!(length >= 0 && length <= MOST_BYTES)) return this.#fail(new Error('FreeSWITCH sends a message of no length'));
      if (this.#buffer.length < length) return;
      const message = { head: this.#head, body: this.#buffer.toString('utf8', 0, length) };
      this.#buffer = this.#buffer.subarray(length);
      this.#head = undefined;
      this.#deliver(message);
    }
  }

  #deliver(message: EslMessage): void {
    const type = message.head.get('content-type') ?? '';
    if (type === 'text/event-plain')
      return this.#onEvent({ head: fieldsOf(message.body.split('\n\n', 1)[0] ?? '', true), body: bodyOf(message.body) });
    // The connection closes right after it.
    if (type === 'text/disconnect-notice') return;
    this.#waiting.shift()?.resolve(message);
  }
}

/** Field names in lower case. @param isEncoded values are percent-encoded, as in events */
function fieldsOf(text: string, isEncoded: boolean): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    if (colon !== -1) fields.set(line.slice(0, colon).trim().toLowerCase(), decoded(line.slice(colon + 1).trim(), isEncoded));
  }
  return fields;
}

function decoded(value: string, isEncoded: boolean): string {
  if (!isEncoded) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** The inner body of an event: a background job's result. */
function bodyOf(event: string): string {
  const end = event.indexOf('\n\n');
  return end === -1 ? '' : event.slice(end + 2).trim();
}

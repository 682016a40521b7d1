import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { takeMessages } from '../../kernel/websocket/lent-reads.ts';
import { LentWrites } from '../../kernel/websocket/lent-writes.ts';
import { errorOfAnswer, type SpeechError, SpeechFailedError, SpeechUnavailableError } from './errors.ts';
import type { MaskSecret } from '../../kernel/mask-secret.ts';
import { retryAfterMs } from './retry-after.ts';
import { serviceUrl } from './settings.ts';

export interface SocketListener {
  text(text: string): void;
  /** The bytes are valid during the call only: copy them to keep them. */
  binary(bytes: Uint8Array): void;
  /** Called once, as the last event. */
  closed(code: number, reason: string): void;
}

/** Query parameters by name; a list repeats the parameter. Never a credential: addresses are logged. */
export type SocketQuery = Readonly<Record<string, string | readonly string[]>>;

export interface SocketOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** `/v1/realtime` when absent. */
  readonly path?: string | undefined;
  readonly query?: SocketQuery | undefined;
  /** Name of the service in errors; `the speech platform` when absent. */
  readonly title?: string | undefined;
  /** What to do about a refused credential. */
  readonly keyAdvice?: string | undefined;
  readonly clock: Clock;
  /** Longest time until the socket is open; 5 s when absent. */
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
  /** Masks the socket's credential in the server's texts. */
  readonly mask?: MaskSecret;
}

/** Longest message; a second of 48 kHz PCM is far below it. */
const MAX_PAYLOAD_BYTES = 4 * 1024 * 1024;
const MOST_REFUSAL_CHARACTERS = 4_096;
const DEFAULT_TIMEOUT_MS = 5_000;
/** The documents have no keep-alive message: pings detect a dead connection. */
const PING_EVERY_MS = 5_000;
const CLOSE_TIMEOUT_MS = 1_000;

/**
 * Opens `WS {baseUrl}/v1/realtime`, or another path of it, without compression and without following redirects.
 * @param listener hears everything from the opening on
 * @throws SpeechAuthError for an upgrade refused with 401 or 403, another SpeechError by its status, SpeechUnavailableError
 * when the platform cannot be reached in time; the signal's reason when it aborts first
 */
export function openSocket(baseUrl: string, listener: SocketListener, options: SocketOptions): Promise<PlatformSocket> {
  const { headers = {}, clock, timeoutMs = DEFAULT_TIMEOUT_MS, signal, mask = (text) => text } = options;
  const { title = 'the speech platform' } = options;
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const socket = new WebSocket(socketUrl(baseUrl, options), {
      headers,
      perMessageDeflate: false,
      maxPayload: MAX_PAYLOAD_BYTES,
      followRedirects: false,
    });
    const fail = (error: Error): void => {
      settled();
      reject(error);
      socket.terminate();
    };
    const onAbort = (): void => fail(signal.reason as Error);
    const timer = clock.after(timeoutMs, () =>
      fail(new SpeechUnavailableError(`${title} did not open a socket within ${timeoutMs} ms`)),
    );
    const settled = (): void => {
      timer.cancel();
      signal.removeEventListener('abort', onAbort);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    socket.on('unexpected-response', (_request, response) => void refusedUpgrade(response, mask, options).then(fail));
    // Once it is open, an error is always followed by `close`.
    socket.on('error', (cause) =>
      fail(
        new SpeechUnavailableError(`${new URL(baseUrl).origin} cannot be reached; check the address and the network`, { cause }),
      ),
    );
    let stream: Socket | undefined;
    socket.once('upgrade', (response) => (stream = response.socket));
    socket.once('open', () => {
      settled();
      const closed = (code: number, reason: string): void => listener.closed(code, mask(reason));
      resolve(
        new PlatformSocket(
          socket,
          stream,
          { text: (text) => listener.text(text), binary: (bytes) => listener.binary(bytes), closed },
          clock,
        ),
      );
    });
  });
}

function socketUrl(baseUrl: string, { path = '/v1/realtime', query = {} }: Pick<SocketOptions, 'path' | 'query'>): URL {
  const url = serviceUrl(baseUrl, path);
  for (const [name, value] of Object.entries(query)) {
    url.searchParams.delete(name);
    for (const one of typeof value === 'string' ? [value] : value) url.searchParams.append(name, one);
  }
  url.protocol = url.protocol === 'https:' || url.protocol === 'wss:' ? 'wss:' : 'ws:';
  return url;
}

/** Where services put the id of a request: the speech platform and many others, Deepgram, ElevenLabs. */
const REQUEST_IDS = ['x-request-id', 'dg-request-id', 'request-id'];

/** The error of a refused upgrade. Never rejects. */
async function refusedUpgrade(
  response: IncomingMessage,
  mask: MaskSecret,
  { title, keyAdvice, clock }: SocketOptions,
): Promise<Error> {
  let text = '';
  try {
    response.setEncoding('utf8');
    for await (const part of response) {
      text += part;
      if (text.length >= MOST_REFUSAL_CHARACTERS) break;
    }
  } catch {
    // The part that arrived is reported.
  }
  const sent = REQUEST_IDS.map((name) => response.headers[name]).find((id) => id !== undefined);
  const requestId = typeof sent === 'string' ? mask(sent) : undefined;
  const what = title === undefined ? 'socket upgrade' : `${title} socket upgrade`;
  const waitMs = retryAfterMs(response.headers['retry-after'] ?? null, clock.wallMs());
  return errorOfAnswer(what, response.statusCode ?? 0, mask(text), requestId, { waitMs, keyAdvice });
}

/** An open socket to the platform; terminated when a ping gets no answer before the next one. */
export class PlatformSocket {
  readonly #socket: WebSocket;
  readonly #writes: LentWrites;
  readonly #clock: Clock;
  #alive = true;
  #heardMs: number;
  #isClosing = false;
  #timer: Timer;

  /** @param stream the socket that was upgraded */
  constructor(socket: WebSocket, stream: Socket | undefined, listener: SocketListener, clock: Clock) {
    this.#socket = socket;
    this.#writes = new LentWrites(socket, stream, true);
    this.#clock = clock;
    this.#timer = clock.after(PING_EVERY_MS, () => this.#ping());
    this.#heardMs = clock.nowMs();
    const heard = (): void => {
      this.#alive = true;
      this.#heardMs = clock.nowMs();
    };
    socket.on('pong', heard);
    const take = (data: Buffer, isBinary: boolean): void => {
      heard();
      if (isBinary) listener.binary(data);
      else listener.text(data.toString('utf8'));
    };
    if (stream !== undefined) takeMessages(socket, stream, false, take);
    socket.on('message', take);
    socket.once('close', (code, reason) => {
      this.#timer.cancel();
      listener.closed(code, reason.toString('utf8'));
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** When anything last came: a message, or the answer to a ping. */
  get heardMs(): number {
    return this.#heardMs;
  }

  /** Asks for a sign of life. */
  ping(): void {
    if (this.isOpen) this.#socket.ping();
  }

  /** Sent bytes that the kernel has not taken yet. */
  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Does nothing when the socket is not open. */
  send(data: string | Uint8Array): void {
    if (!this.isOpen) return;
    if (typeof data === 'string') this.#writes.sendText(data);
    else this.#writes.sendBinary(data);
  }

  /** Stops reading until `resume`, which holds the sender back. */
  pause(): void {
    this.#socket.pause();
    // Pongs are not read either.
    this.#timer.cancel();
  }

  resume(): void {
    this.#socket.resume();
    this.#alive = true;
    this.#timer.cancel();
    if (this.isOpen) this.#timer = this.#clock.after(PING_EVERY_MS, () => this.#ping());
  }

  /** Closes with 1000; terminates the connection when the other end does not answer within a second of the first call. */
  close(): void {
    if (this.#isClosing || this.#socket.readyState === WebSocket.CLOSED) return;
    this.#isClosing = true;
    this.#timer.cancel();
    if (this.#socket.isPaused) this.#socket.resume();
    this.#timer = this.#clock.after(CLOSE_TIMEOUT_MS, () => this.#socket.terminate());
    this.#socket.close(1000);
  }

  #ping(): void {
    if (!this.#alive) {
      this.#socket.terminate();
      return;
    }
    this.#alive = false;
    if (this.isOpen) this.#socket.ping();
    this.#timer = this.#clock.after(PING_EVERY_MS, () => this.#ping());
  }
}

/**
 * What a WebSocket's close code means: a new session may be opened after going away, no code, abnormal, internal error, restart, try
 * later and a failed TLS handshake; not after a normal end and client errors.
 */
export function closeError(code: number, message: string): SpeechError {
  return RECOVERABLE.has(code) ? new SpeechUnavailableError(message) : new SpeechFailedError(message);
}

const RECOVERABLE: ReadonlySet<number> = new Set([1001, 1005, 1006, 1011, 1012, 1013, 1015]);

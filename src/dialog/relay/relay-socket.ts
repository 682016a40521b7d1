import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { DialogServerError } from '../wire/errors.ts';
import { endsAnswer, readServerMessage, type ServerMessage } from './relay-messages.ts';

/** Messages nobody has taken yet; a server that says more than this unasked loses the oldest. */
const MOST_WAITING = 256;
const MOST_FRAME_BYTES = 64 * 1024;
/** Messages that were no messages of the protocol; of more the server is not told. */
const MOST_DROPPED_TOLD = 100;

const MOST_REFUSAL_BYTES = 4_096;
const MOST_REFUSAL_CHARACTERS = 300;

/** What a server says that answers with a page in place of a socket, as one does that refuses a signature. */
async function refusal(response: IncomingMessage): Promise<DialogServerError> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      parts.push(part);
      bytes += part.length;
      if (bytes > MOST_REFUSAL_BYTES) break;
    }
  } catch {
    // What came of it is told.
  }
  response.destroy();
  const said = Buffer.concat(parts).toString('utf8').replaceAll(/\s+/gu, ' ').trim().slice(0, MOST_REFUSAL_CHARACTERS);
  const { statusCode = 0 } = response;
  const message = `the bot’s server refused the socket with HTTP ${statusCode}`;
  return new DialogServerError(said === '' ? message : `${message}: ${said}`, { retryable: statusCode >= 500 });
}

/** One socket to a bot's server, with what it sent in the order it came. */
export class RelaySocket {
  readonly #socket: WebSocket;
  readonly #waiting: ServerMessage[] = [];
  #wake: () => void = () => undefined;
  #closed: string | undefined;
  #dropped = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      const message = isBinary ? undefined : readServerMessage(data.toString('utf8'));
      if (message === undefined) {
        // A server that sends nothing else may read nothing either.
        if (this.#dropped < MOST_DROPPED_TOLD)
          this.send({
            type: 'error',
            description: 'a message was dropped: it is not one of text, play, sendDigits, language, end',
          });
        this.#dropped += 1;
        return;
      }
      this.#waiting.push(message);
      if (this.#waiting.length > MOST_WAITING) this.#waiting.shift();
      this.#wake();
    });
    const over = (why: string) => (): void => {
      this.#closed ??= why;
      this.#wake();
    };
    socket.on('close', over('the bot’s server closed the socket'));
    socket.on('error', over('the socket to the bot’s server broke'));
  }

  /** @throws DialogServerError when the server cannot be reached or refuses; the signal's reason when aborted */
  static open(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<RelaySocket> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(url, { headers, maxPayload: MOST_FRAME_BYTES, perMessageDeflate: false });
      const onAbort = (): void => {
        socket.terminate();
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      socket.once('error', (cause) => {
        signal.removeEventListener('abort', onAbort);
        reject(new DialogServerError('the bot’s server cannot be reached', { retryable: true, cause }));
      });
      socket.once('unexpected-response', (_request, response) => {
        signal.removeEventListener('abort', onAbort);
        void refusal(response).then((error) => {
          reject(error);
          socket.terminate();
        });
      });
      socket.once('open', () => {
        signal.removeEventListener('abort', onAbort);
        socket.removeAllListeners('error');
        resolve(new RelaySocket(socket));
      });
    });
  }

  get isOpen(): boolean {
    return this.#closed === undefined;
  }

  send(message: object): void {
    if (this.isOpen) this.#socket.send(JSON.stringify(message));
  }

  /**
   * The next message of the server.
   * @throws DialogServerError once the socket is gone and everything was taken; the signal's reason when aborted
   */
  async next(signal: AbortSignal): Promise<ServerMessage> {
    for (;;) {
      signal.throwIfAborted();
      const message = this.#waiting.shift();
      if (message !== undefined) return message;
      if (this.#closed !== undefined) throw new DialogServerError(this.#closed, { retryable: true });
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          signal.removeEventListener('abort', wake);
          resolve();
        };
        this.#wake = wake;
        signal.addEventListener('abort', wake, { once: true });
      });
    }
  }

  /** Whether a message is here that nobody has taken yet. */
  get isAhead(): boolean {
    return this.#waiting.length > 0;
  }

  /** Gives a message back that was taken, to be the next one again. */
  putBack(message: ServerMessage): void {
    this.#waiting.unshift(message);
  }

  /** Whole answers that nobody has taken yet. */
  get answers(): number {
    return this.#waiting.filter(endsAnswer).length;
  }

  /** Drops what was sent for an answer that nobody wants any more. */
  discard(): void {
    this.#waiting.length = 0;
  }

  close(): void {
    this.#socket.close(1000);
  }
}

import { z } from 'zod';
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { keysToPress, soundSource } from '../../config/bots.ts';
import { transferTarget } from '../../config/transfer-target.ts';
import { callBackTime, MOST_LOOPS } from '../action-schema.ts';
import type { CallFacts } from '../port.ts';
import { DialogServerError } from '../wire.ts';

/** Messages that wait to be read; the oldest are dropped. */
const MOST_WAITING = 256;
const MOST_FRAME_BYTES = 64 * 1024;
/** Most invalid messages reported to the server. */
const MOST_DROPPED_TOLD = 100;

const MOST_REFUSAL_BYTES = 4_096;
const MOST_REFUSAL_CHARACTERS = 300;

/** The error for a server that answers the upgrade with HTTP, for example to a wrong signature. */
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
    // The part that was read is reported.
  }
  response.destroy();
  const said = Buffer.concat(parts).toString('utf8').replaceAll(/\s+/gu, ' ').trim().slice(0, MOST_REFUSAL_CHARACTERS);
  const { statusCode = 0 } = response;
  const message = `the bot’s server refused the socket with HTTP ${statusCode}`;
  return new DialogServerError(said === '' ? message : `${message}: ${said}`, { retryable: statusCode >= 500 });
}

/** One socket to a bot's server, with its messages in the order of their arrival. */
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
        // Limited: a server that only sends invalid messages may not read either.
        if (this.#dropped < MOST_DROPPED_TOLD)
          this.send({
            type: 'error',
            description:
              'a message was dropped: it is not one of text, play, sendDigits, callBack, transfer, cancelTransfer, language, end',
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
   * The server's next message.
   * @throws DialogServerError once the socket is closed and all messages were read; the signal's reason when aborted
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

  /** Whether a message waits to be read. */
  get isAhead(): boolean {
    return this.#waiting.length > 0;
  }

  /** Returns a message to the front of the queue. */
  putBack(message: ServerMessage): void {
    this.#waiting.unshift(message);
  }

  /** Whole answers that wait to be read. */
  get answers(): number {
    return this.#waiting.filter(endsAnswer).length;
  }

  /** Drops all waiting messages. */
  discard(): void {
    this.#waiting.length = 0;
  }

  close(): void {
    this.#socket.close(1000);
  }
}

/** Messages of a ConversationRelay server (Twilio's page "ConversationRelay WebSocket messages"). */
const serverMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('text'),
    token: z.string().max(10_000),
    last: z.boolean().default(false),
    lang: z.string().min(2).max(35).optional(),
    interruptible: z.boolean().optional(),
  }),
  z.object({
    type: z.literal('play'),
    source: soundSource,
    /** 0: endless. */
    loop: z.int().min(0).max(MOST_LOOPS).default(1),
    preemptible: z.boolean().default(false),
    interruptible: z.boolean().default(true),
  }),
  z.object({ type: z.literal('sendDigits'), digits: keysToPress }),
  /** Ours, and not of the protocol. */
  z.object({ type: z.literal('callBack'), at: callBackTime.optional() }),
  /** With a brief, the caller stays with the bot until an agent who heard it takes the call. */
  z.object({ type: z.literal('transfer'), to: transferTarget, brief: z.string().min(1).max(1000).optional() }),
  z.object({ type: z.literal('cancelTransfer') }),
  z.object({
    type: z.literal('language'),
    ttsLanguage: z.string().min(2).max(35).optional(),
    transcriptionLanguage: z.string().min(2).max(35).optional(),
  }),
  z.object({ type: z.literal('end'), handoffData: z.string().max(10_000).optional() }),
]);

export type ServerMessage = z.infer<typeof serverMessage>;

/** @returns undefined for a frame that is not a message of the protocol */
export function readServerMessage(frame: string): ServerMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(frame);
  } catch {
    return undefined;
  }
  const parsed = serverMessage.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}

/** Whether this message ends an answer. */
export function endsAnswer(message: ServerMessage): boolean {
  return message.type === 'end' || (message.type === 'text' && message.last);
}

/** The first message on a socket: the call's parties and parameters. */
export function setupMessage(sessionId: string, call: CallFacts, parameters: Readonly<Record<string, string>>): object {
  return {
    type: 'setup',
    sessionId,
    callSid: call.carrierCallId ?? call.callId,
    parentCallSid: '',
    from: call.from,
    to: call.to,
    forwardedFrom: '',
    callerName: '',
    direction: call.direction,
    callType: 'PSTN',
    callStatus: 'IN-PROGRESS',
    accountSid: '',
    applicationSid: null,
    customParameters: parameters,
  };
}

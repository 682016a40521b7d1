import type { WebSocket } from 'ws';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { sleep } from '../../../kernel/waiting.ts';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { Refusal, detailText } from '../listener/refusal.ts';
import { errorText } from '../../../kernel/errors.ts';
import { parseJson } from '../../../kernel/json.ts';
import type { Logger } from '../../../observability/logger.ts';
import { refusalOf } from '../listener/http-app.ts';
import { closeReason } from '../../../kernel/websocket/close-reason.ts';
import { closeSocket } from '../listener/socket-routes.ts';
import { speechChunks, type SpeechChunksOptions } from './speech-chunks.ts';
import {
  checkSpeechSettings,
  readSpeechFields,
  type SpeechFields,
  speechModel,
  type SpeechRequest,
  speechRequestOf,
  type SpeechSurface,
} from './speech-request.ts';
import { TextStream } from './text-stream.ts';

export interface SpeechSocketOptions extends Omit<SpeechChunksOptions, 'onWarning'> {
  readonly socket: WebSocket;
  readonly logger: Logger;
  /** Also supports the vendor's newer protocol, for clients whose first message has settings and no text. */
  readonly compat: boolean;
  /** Fields of the query. */
  readonly initial: unknown;
}

/** Syntheses that may wait behind the running one. */
const maxWaiting = 16;

const typeSchema = z.object({ type: z.unknown().optional() });

/**
 * Serves the synthesis protocol on an admitted socket (TTS doc, WebSocket). Settings come in the query, in `config` messages and with
 * the text; later ones override earlier ones. Any message with text starts a synthesis, one after another. Any failure is sent as an
 * error event and closes the socket. With `compat` the first message chooses the protocol.
 */
export function serveSpeechSocket(options: SpeechSocketOptions): void {
  const served = new ServedSocket(options);
  options.socket.on('message', (data, isBinary) =>
    served.received(isBinary ? undefined : Buffer.isBuffer(data) ? data.toString('utf8') : errorText(data)),
  );
  options.socket.on('close', () => served.left());
  served.begin();
}

class ServedSocket {
  readonly #options: SpeechSocketOptions;
  readonly #surface: SpeechSurface;
  readonly #gone = new AbortController();
  #settings: SpeechFields = {};
  #waiting = 0;
  #turn: Promise<void> = Promise.resolve();
  #idle: Timer | undefined;
  #textStream: TextStream | undefined;

  constructor(options: SpeechSocketOptions) {
    this.#options = options;
    this.#surface = { kind: 'stream', compat: options.compat, voices: options.engine.voices };
  }

  /** Takes the settings of the query. */
  begin(): void {
    this.#watchIdle();
    this.#guarded(() => this.#configure(readSpeechFields(this.#options.initial)));
  }

  /** @param text undefined for a binary message */
  received(text: string | undefined): void {
    if (this.#gone.signal.aborted) return;
    this.#watchIdle();
    this.#guarded(() => {
      if (text === undefined) throw new Refusal(400, 'Messages must be JSON text');
      this.#receive(text);
    });
  }

  left(): void {
    const reason = new Refusal(499, 'The client went away');
    this.#idle?.cancel();
    this.#gone.abort(reason);
    this.#textStream?.dispose(reason);
  }

  #guarded(task: () => void): void {
    try {
      task();
    } catch (error) {
      this.#fail(randomUUID(), error);
    }
  }

  #fail(requestId: string, error: unknown): void {
    if (this.#gone.signal.aborted) return;
    const { socket, logger, clock } = this.#options;
    const refusal = refusalOf(error);
    const text = detailText(refusal.detail);
    if (refusal.status >= 500) logger.warn({ requestId, error: refusal.cause ?? refusal }, 'synthesis failed');
    socket.send(JSON.stringify({ type: 'error', request_id: requestId, error: text }));
    this.#gone.abort(refusal);
    this.#textStream?.dispose(refusal);
    this.#idle?.cancel();
    void closeSocket(socket, refusal.status >= 500 ? 1011 : 1008, closeReason(text), clock);
  }

  #watchIdle(): void {
    const { clock, limits } = this.#options;
    this.#idle?.cancel();
    this.#idle = clock.after(limits.inactivityMs, () => {
      if (this.#waiting > 0 || this.#textStream?.busy === true) this.#watchIdle();
      else this.#fail(randomUUID(), new Refusal(408, `Nothing was asked for within ${limits.inactivityMs / 1000} s`));
    });
  }

  #receive(text: string): void {
    if (this.#textStream !== undefined) {
      this.#textStream.receive(text);
      return;
    }
    const raw = parse(text);
    const given = readSpeechFields(raw);
    const { type } = typeSchema.parse(raw);
    if (type === 'config') this.#configure(given);
    else if (this.#options.compat && type === undefined && !hasText(given) && given.voice !== undefined)
      this.#textStream = this.#beginTextStream(given);
    else if (type === undefined || hasText(given)) this.#enqueue(withDefaults(given, this.#settings));
    else throw unknownType(type);
  }

  #enqueue(fields: SpeechFields): void {
    const requestId = randomUUID();
    const request = speechRequestOf(fields, this.#surface);
    if (this.#waiting >= maxWaiting) throw new Refusal(429, `More than ${maxWaiting} syntheses are waiting on this socket`);
    this.#waiting += 1;
    this.#turn = this.#turn
      .then(() => synthesise(request, requestId, this.#options, this.#gone.signal))
      .catch((error: unknown) => this.#fail(requestId, error))
      .finally(() => {
        this.#waiting -= 1;
      });
  }

  /** Stores settings; a message with text is also a request. */
  #configure(given: SpeechFields): void {
    const { input: _input, target_text: _text, ...kept } = withDefaults(given, this.#settings);
    checkSpeechSettings(kept, this.#surface);
    if (hasText(given)) this.#enqueue(withDefaults(given, this.#settings));
    this.#settings = kept;
  }

  /** Starts the newer protocol: settings, `ready`, then text in pieces. */
  #beginTextStream(given: SpeechFields): TextStream {
    const { socket, clock } = this.#options;
    this.#configure(given);
    const request = (text: string): SpeechRequest =>
      speechRequestOf({ model: speechModel, ...this.#settings, input: text }, this.#surface);
    const { format } = request('ready');
    const send = (event: object): void => socket.send(JSON.stringify(event));
    send({ type: 'ready', sample_rate: format.rateHz });
    return new TextStream({
      speak: (text, signal) => speakPiece(request(text), this.#options, AbortSignal.any([signal, this.#gone.signal])),
      send,
      close: () => {
        this.#gone.abort(new Error('the client ended the session'));
        this.#idle?.cancel();
        void closeSocket(socket, 1000, '', clock);
      },
      fail: (error) => this.#fail(randomUUID(), error),
    });
  }
}

function hasText({ input, target_text }: SpeechFields): boolean {
  return input !== undefined || target_text !== undefined;
}

function unknownType(type: unknown): Refusal {
  const named = typeof type === 'string' || typeof type === 'number' ? ` ${JSON.stringify(type).slice(0, 40)}` : '';
  return new Refusal(400, `unknown message type${named}: a message is of type config, or has a text in input`);
}

/** The message's fields over earlier settings; an alias overrides its field. */
function withDefaults(given: SpeechFields, settings: SpeechFields): SpeechFields {
  const { voice, speaker_id, response_format, encoding, ...rest } = settings;
  return {
    ...rest,
    ...(given.voice === undefined && given.speaker_id === undefined ? { voice, speaker_id } : {}),
    ...(given.response_format === undefined && given.encoding === undefined ? { response_format, encoding } : {}),
    ...given,
  };
}

async function synthesise(
  request: SpeechRequest,
  requestId: string,
  options: SpeechSocketOptions,
  signal: AbortSignal,
): Promise<void> {
  const { socket, clock, limits } = options;
  const { format } = request;
  const about = { format: format.name, sample_rate: format.rateHz };
  const warnings: string[] = [];
  const chunks = speechChunks(request, { ...options, onWarning: (warning) => warnings.push(warning) }, signal);
  let index = 0;
  let next = await chunks.next();
  for (; next.done !== true; next = await chunks.next()) {
    const { bytes, isFinal } = next.value;
    socket.send(JSON.stringify({ type: 'chunk', request_id: requestId, chunk_index: index, is_final: isFinal, ...about }));
    socket.send(bytes);
    index += 1;
    await drained(socket, clock, limits.chunkMs, signal);
  }
  socket.send(
    JSON.stringify({
      type: 'completion',
      request_id: requestId,
      status: 'complete',
      total_chunks: index,
      total_duration_seconds: Math.round((next.value / format.rateHz) * 1e6) / 1e6,
      ...about,
      ...(warnings.length > 0 ? { warnings } : {}),
    }),
  );
}

/** Sends a `speaking` event, then audio frames only, as the newer protocol does. */
async function speakPiece(request: SpeechRequest, options: SpeechSocketOptions, signal: AbortSignal): Promise<void> {
  const { socket, clock, limits } = options;
  let begun = false;
  const warnings: string[] = [];
  const onWarning = (warning: string): unknown => warnings.push(warning);
  for await (const { bytes } of speechChunks(request, { ...options, onWarning }, signal)) {
    if (!begun) socket.send(JSON.stringify({ type: 'speaking', ...(warnings.length > 0 ? { warnings } : {}) }));
    begun = true;
    socket.send(bytes);
    await drained(socket, clock, limits.chunkMs, signal);
  }
}

/** @throws Refusal 400 */
function parse(text: string): unknown {
  const message = parseJson(text);
  if (message === undefined) throw new Refusal(400, 'Messages must be JSON');
  return message;
}

/** About five seconds of 24 kHz audio. */
const maxUnreadBytes = 256 * 1024;
const pollMs = 20;

/**
 * Waits until the client has read most of what was sent, so that a slow client does not fill memory.
 * @throws Refusal 408 when it does not read for `limitMs`; the signal's reason
 */
async function drained(socket: WebSocket, clock: Clock, limitMs: number, signal: AbortSignal): Promise<void> {
  const untilMs = clock.nowMs() + limitMs;
  while (socket.bufferedAmount > maxUnreadBytes) {
    if (clock.nowMs() > untilMs) throw new Refusal(408, 'The client does not read its audio');
    await sleep(clock, pollMs, signal);
  }
}

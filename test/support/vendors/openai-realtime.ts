import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { WebSocket } from 'ws';
import { decodeAudio } from '../../../src/audio/codec.ts';
import { takeSockets } from '../loopback.ts';
import type { SimulatedRecognition, VendorEngines } from './engines.ts';

/** What the server does instead of its part, or before it. */
export type SocketFault =
  | { readonly close: number; readonly reason?: string }
  /** The connection breaks. */
  | 'terminate'
  /** This text is sent, whatever it is, and the event is then handled. */
  | { readonly say: string }
  /** The event is not answered. */
  | 'ignore'
  /** The text of this commit comes after that of the next. */
  | 'late';

/** A client event as it arrived: the socket's number, the event's type, and how many of it came before on this socket. */
export interface SocketMoment {
  readonly socket: number;
  readonly event: string;
  readonly count: number;
}

export interface RealtimeServerOptions {
  readonly engines: VendorEngines;
  readonly apiKey?: string;
  readonly socketFault?: (moment: SocketMoment) => SocketFault | undefined;
  /** Answers the upgrade number `index` with this status. */
  readonly refuse?: (index: number) => { readonly status: number; readonly headers?: Record<string, string> } | undefined;
  /** Refuses fields that OpenAI's service does not know; false for a server that is only compatible. */
  readonly isStrict?: boolean;
}

/** A socket as the server saw it. */
export interface RealtimeSocketRecord {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  /** Client events without the audio, in order. */
  readonly events: Record<string, unknown>[];
  /** Samples received, at the session's rate. */
  readonly samples: () => number;
  closed: number | undefined;
}

/** Fields of a transcription session (RealtimeTranscriptionSessionCreateRequest and what is in it). */
const SESSION_FIELDS = new Set(['type', 'audio', 'include']);
const INPUT_FIELDS = new Set(['format', 'noise_reduction', 'transcription', 'turn_detection']);
const TRANSCRIPTION_FIELDS = new Set(['model', 'language', 'languages', 'keywords', 'prompt', 'delay']);
/** "Expected at least 100ms of audio." */
const LEAST_COMMIT_MS = 100;

/** Does what a fault says. @returns whether the event is then handled */
export function goesOn(socket: WebSocket, fault: SocketFault | 'stall' | undefined): boolean {
  if (fault === 'terminate') socket.terminate();
  if (typeof fault === 'object' && 'close' in fault) socket.close(fault.close, fault.reason);
  if (typeof fault === 'object' && 'say' in fault) socket.send(fault.say);
  return fault !== 'ignore' && socket.readyState === socket.OPEN;
}

/** Adds `/v1/realtime` to a server: transcription sessions, as OpenAI's reference has them. @returns its sockets */
export function serveRealtime(http: Server, options: RealtimeServerOptions): RealtimeSocketRecord[] {
  const sockets: RealtimeSocketRecord[] = [];
  takeSockets(
    http,
    ({ request: { headers }, url, index }) => {
      const isKnown = options.apiKey === undefined || headers.authorization === `Bearer ${options.apiKey}`;
      const refusal =
        options.refuse?.(index) ??
        (isKnown ? undefined : { status: 401 }) ??
        (url.pathname === '/v1/realtime' ? undefined : { status: 404 });
      const message = `Incorrect API key provided: ${headers.authorization ?? 'none'}`;
      const error = { message, type: 'invalid_request_error', code: 'invalid_api_key' };
      return refusal === undefined ? undefined : { ...refusal, body: { error } };
    },
    (socket, { request, url }) => {
      const record = {
        url: request.url ?? '',
        headers: request.headers,
        events: [],
        samples: () => session.samples,
        closed: undefined,
      };
      const session: TranscriptionSession = new TranscriptionSession(socket, sockets.push(record) - 1, record, options);
      session.start(url);
    },
  );
  return sockets;
}

class TranscriptionSession {
  readonly #socket: WebSocket;
  readonly #index: number;
  readonly #record: RealtimeSocketRecord;
  readonly #options: RealtimeServerOptions;
  readonly #counts = new Map<string, number>();
  #engine: SimulatedRecognition | undefined;
  #encoding: 'mulaw' | 'pcm16' = 'pcm16';
  #rateHz = 24_000;
  #buffered = 0;
  samples = 0;
  #lastItem: string | null = null;
  /** Items whose text is awaited, oldest first. */
  readonly #items: { readonly id: string; readonly isLate: boolean }[] = [];
  readonly #early: string[] = [];
  #late: (() => void) | undefined;

  constructor(socket: WebSocket, index: number, record: RealtimeSocketRecord, options: RealtimeServerOptions) {
    this.#socket = socket;
    this.#index = index;
    this.#record = record;
    this.#options = options;
  }

  start(url: URL): void {
    this.#socket.on('message', (data: Buffer) => this.#event(JSON.parse(data.toString()) as Record<string, unknown>));
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', (code) => {
      this.#record.closed = code;
      this.#engine?.close();
    });
    if (this.#options.isStrict !== false && url.searchParams.has('model'))
      this.#error('invalid_request_error', 'invalid_parameter', 'You must not provide a model for a transcription session.');
    this.#say('session.created', {
      session: { id: `sess_${this.#index}`, object: 'realtime.transcription_session', type: 'transcription' },
    });
  }

  #event(event: Record<string, unknown>): void {
    const type = String(event['type']);
    const count = this.#counts.get(type) ?? 0;
    this.#counts.set(type, count + 1);
    if (type !== 'input_audio_buffer.append') this.#record.events.push(event);
    const fault = this.#options.socketFault?.({ socket: this.#index, event: type, count });
    if (!goesOn(this.#socket, fault)) return;
    if (type === 'session.update') this.#update(event['session'] as Record<string, unknown>);
    else if (type === 'input_audio_buffer.append') this.#append(String(event['audio']));
    else if (type === 'input_audio_buffer.commit') this.#commit(fault === 'late');
    else this.#error('invalid_request_error', 'invalid_value', `Invalid value: '${type}'.`);
  }

  #update(session: Record<string, unknown>): void {
    const input = (session['audio'] as { input?: Record<string, unknown> } | undefined)?.input ?? {};
    const transcription = (input['transcription'] ?? {}) as Record<string, unknown>;
    const format = (input['format'] ?? {}) as { type?: string; rate?: number };
    if (this.#options.isStrict !== false) {
      const unknown = [
        ...Object.keys(session).filter((name) => !SESSION_FIELDS.has(name)),
        ...Object.keys(input).filter((name) => !INPUT_FIELDS.has(name)),
        ...Object.keys(transcription).filter((name) => !TRANSCRIPTION_FIELDS.has(name)),
      ];
      if (unknown.length > 0 || session['type'] !== 'transcription') {
        this.#error('invalid_request_error', 'unknown_parameter', `Unknown parameter: '${unknown[0] ?? 'session.type'}'.`);
        return;
      }
    }
    if (String(transcription['model']).startsWith('no-such-model')) {
      this.#error('invalid_request_error', 'model_not_found', `The model \`${String(transcription['model'])}\` does not exist.`);
      return;
    }
    this.#encoding = format.type === 'audio/pcmu' ? 'mulaw' : 'pcm16';
    this.#rateHz = format.type === 'audio/pcmu' ? 8_000 : (format.rate ?? 24_000);
    const { prompt, language } = transcription;
    const hints = [
      ...((transcription['keywords'] as string[] | undefined) ?? []),
      ...(typeof prompt === 'string' ? [prompt] : []),
    ];
    this.#engine = this.#options.engines.recognise(
      { language: typeof language === 'string' ? language : 'en', rateHz: this.#rateHz, hints },
      ({ type, text }) => {
        if (type === 'final') this.#heard(text);
      },
    );
    this.#say('session.updated', { session: { ...session, id: `sess_${this.#index}` } });
  }

  #append(audio: string): void {
    const pcm = decodeAudio(this.#encoding, Buffer.from(audio, 'base64'));
    this.#buffered += pcm.length;
    this.samples += pcm.length;
    this.#engine?.push(pcm);
  }

  #commit(isLate: boolean): void {
    const bufferedMs = (this.#buffered / this.#rateHz) * 1000;
    if (bufferedMs < LEAST_COMMIT_MS) {
      const has = `Expected at least 100ms of audio, but buffer only has ${bufferedMs.toFixed(2)}ms of audio.`;
      this.#error(
        'invalid_request_error',
        'input_audio_buffer_commit_empty',
        `Error committing input audio buffer: buffer too small. ${has}`,
      );
      return;
    }
    this.#buffered = 0;
    const id = `item_${randomUUID()}`;
    this.#say('input_audio_buffer.committed', { item_id: id, previous_item_id: this.#lastItem });
    this.#say('conversation.item.added', { item: { id, type: 'message', role: 'user' }, previous_item_id: this.#lastItem });
    this.#lastItem = id;
    this.#items.push({ id, isLate });
    this.#engine?.commit();
  }

  /** The engine's text of the oldest item. An engine may end an utterance by itself: its words belong to the next item. */
  #heard(words: string): void {
    const item = this.#items.shift();
    if (item === undefined) {
      this.#early.push(words);
      return;
    }
    const text = [...this.#early.splice(0), words].filter((part) => part !== '').join(' ');
    const tell = (): void => {
      const name = 'conversation.item.input_audio_transcription';
      for (const delta of text.match(/\s*\S+/gu) ?? []) this.#say(`${name}.delta`, { item_id: item.id, content_index: 0, delta });
      this.#say(`${name}.completed`, {
        item_id: item.id,
        content_index: 0,
        transcript: text,
        usage: { type: 'duration', seconds: 1 },
      });
    };
    if (item.isLate) {
      this.#late = tell;
      return;
    }
    tell();
    this.#late?.();
    this.#late = undefined;
  }

  #error(type: string, code: string, message: string): void {
    this.#say('error', { error: { type, code, message, param: null, event_id: null } });
  }

  #say(type: string, fields: object): void {
    if (this.#socket.readyState === this.#socket.OPEN)
      this.#socket.send(JSON.stringify({ type, event_id: `event_${randomUUID()}`, ...fields }));
  }
}

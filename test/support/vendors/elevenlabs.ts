import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { decodeAudio, encodeAudio } from '../../../src/audio/codec.ts';
import type { Encoding } from '../../../src/audio/format.ts';
import { onLoopback, takeSockets } from '../loopback.ts';
import type { SimulatedRecognition, VendorEngines } from './engines.ts';

/** What goes wrong with one request for speech. */
export type SpeechFault =
  | { readonly status: number; readonly detail: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** The connection is reset before the answer. */
  | 'reset'
  /** The connection breaks after the first audio. */
  | 'break';

export interface ElevenLabsServerOptions {
  readonly engines: VendorEngines;
  readonly apiKey?: string;
  /** What the session number `index` is told instead of its start, before it is closed with 1008. */
  readonly sessionError?: (index: number) => { readonly message_type: string; readonly error: string } | undefined;
  /** The status of a refused upgrade. */
  readonly refuse?: (index: number) => number | undefined;
  /** A session without a message is closed after this long. */
  readonly idleMs?: number;
  /** A commit of silence gets no answer. */
  readonly silentCommits?: boolean;
  readonly speechFault?: (index: number) => SpeechFault | undefined;
  /** Bytes of one piece of the answer; as the engine makes them when absent. */
  readonly pieceBytes?: number;
}

/** One session of recognition, from ElevenLabs' side. */
export interface ScribeSession {
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** 16-bit samples that came. */
  readonly samples: number[];
  commits: number;
  /** Chunks without audio and commit. */
  empty: number;
  closeCode: number | undefined;
  send(message: object | string): void;
  close(code: number, reason: string): void;
  /** Drops the connection without a close frame. */
  cut(): void;
}

export interface SpeechRequestSeen {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly fields: Readonly<Record<string, unknown>>;
  /** Resolves when the client has hung up before the whole answer was sent. */
  readonly hungUp: Promise<void>;
}

export interface ElevenLabsServer extends AsyncDisposable {
  readonly url: string;
  readonly sessions: ScribeSession[];
  readonly requests: SpeechRequestSeen[];
  /** Paths and queries of all upgrades. */
  readonly upgrades: string[];
}

/** A commit needs so much audio since the last one. */
const LEAST_COMMIT_MS = 300;
const ENCODINGS: Readonly<Record<string, Encoding>> = { ulaw: 'mulaw', alaw: 'alaw', pcm: 'pcm16' };
const VOICES = new Set(['JBFqnCBsd6RMkjVDRZzb', '21m00Tcm4TlvDq8ikWAM']);

/**
 * ElevenLabs' realtime recognition and streamed synthesis as its API reference describes them, on a free port of loopback.
 * @see https://elevenlabs.io/docs/api-reference/speech-to-text/v-1-speech-to-text-realtime
 * @see https://elevenlabs.io/docs/api-reference/text-to-speech/stream
 */
export async function startElevenLabs(options: ElevenLabsServerOptions): Promise<ElevenLabsServer> {
  const { apiKey = 'xi-key' } = options;
  const sessions: ScribeSession[] = [];
  const requests: SpeechRequestSeen[] = [];
  const upgrades: string[] = [];
  const http = createServer((request, response) => {
    speak(request, response, options, requests).catch(() => response.destroy());
  });
  takeSockets(
    http,
    ({ request, url, index }) => {
      upgrades.push(request.url ?? '');
      const status = options.refuse?.(index) ?? (url.pathname === '/v1/speech-to-text/realtime' ? undefined : 404);
      if (status === undefined) return undefined;
      const detail = { status: 'refused', message: `not with ${String(request.headers['xi-api-key'])}` };
      return { status, headers: { 'request-id': 'request-1' }, body: { detail } };
    },
    (socket, { request, url, index }) => {
      const wrongKey = { message_type: 'auth_error', error: 'You must be authenticated to use this endpoint.' };
      const error = request.headers['xi-api-key'] === apiKey ? options.sessionError?.(index) : wrongKey;
      new Transcribing(socket, request, url, options, sessions).begin(error);
    },
  );
  return { sessions, requests, upgrades, ...(await onLoopback(http)) };
}

/** Runs one session: transcripts are committed by hand. */
class Transcribing {
  readonly #socket: WebSocket;
  readonly #options: ElevenLabsServerOptions;
  readonly #session: ScribeSession;
  readonly #rateHz: number;
  readonly #engine: SimulatedRecognition;
  #uncommitted = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(
    socket: WebSocket,
    request: IncomingMessage,
    url: URL,
    options: ElevenLabsServerOptions,
    sessions: ScribeSession[],
  ) {
    const { searchParams: query } = url;
    this.#socket = socket;
    this.#options = options;
    this.#rateHz = Number(/^pcm_(\d+)$/u.exec(query.get('audio_format') ?? '')?.[1]);
    this.#session = {
      query,
      headers: request.headers,
      samples: [],
      commits: 0,
      empty: 0,
      closeCode: undefined,
      send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
      close: (code, reason) => socket.close(code, reason),
      cut: () => socket.terminate(),
    };
    sessions.push(this.#session);
    this.#engine = options.engines.recognise(
      { language: query.get('language_code') ?? 'auto', rateHz: this.#rateHz, hints: query.getAll('keyterms') },
      ({ type, text }) => {
        if (type === 'partial') this.#tell({ message_type: 'partial_transcript', text });
        else this.#committed(text);
      },
    );
  }

  begin(error: { readonly message_type: string; readonly error: string } | undefined): void {
    this.#socket.on('close', (code) => {
      clearTimeout(this.#idle);
      this.#session.closeCode = code;
      this.#engine.close();
    });
    if (error !== undefined) {
      this.#session.send(error);
      this.#socket.close(1008, error.message_type);
      return;
    }
    const { query } = this.#session;
    const config = { sample_rate: this.#rateHz, audio_format: query.get('audio_format'), model_id: query.get('model_id') };
    this.#session.send({ message_type: 'session_started', session_id: randomUUID(), config });
    this.#waitForMore();
    this.#socket.on('message', (data: Buffer) => {
      this.#waitForMore();
      this.#chunk(data.toString());
    });
  }

  #waitForMore(): void {
    clearTimeout(this.#idle);
    const { idleMs } = this.#options;
    if (idleMs !== undefined) this.#idle = setTimeout(() => this.#socket.close(1000, 'inactive'), idleMs);
  }

  #chunk(text: string): void {
    const chunk = JSON.parse(text) as { message_type: string; audio_base_64: string; commit: boolean; sample_rate: number };
    if (chunk.message_type !== 'input_audio_chunk' || chunk.sample_rate !== this.#rateHz) {
      this.#tell({ message_type: 'input_error', error: 'Invalid message.' });
      return;
    }
    const pcm = decodeAudio('pcm16', Buffer.from(chunk.audio_base_64, 'base64'));
    if (pcm.length > 0) {
      this.#session.samples.push(...pcm);
      this.#uncommitted += pcm.length;
      this.#engine.push(pcm);
    }
    if (chunk.commit) this.#commit();
    else if (pcm.length === 0) this.#session.empty += 1;
  }

  #commit(): void {
    this.#session.commits += 1;
    if ((this.#uncommitted / this.#rateHz) * 1_000 < LEAST_COMMIT_MS) {
      this.#tell({ message_type: 'commit_throttled', error: 'Commit request ignored: there is too little uncommitted audio.' });
      return;
    }
    this.#uncommitted = 0;
    this.#engine.commit();
  }

  #committed(text: string): void {
    if (text === '' && this.#options.silentCommits === true) return;
    this.#tell({ message_type: 'committed_transcript', text });
    if (this.#session.query.get('include_timestamps') !== 'true') return;
    this.#tell({ message_type: 'committed_transcript_with_timestamps', text, language_code: 'hi', words: [] });
  }

  #tell(message: object): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}

async function speak(
  request: IncomingMessage,
  response: ServerResponse,
  options: ElevenLabsServerOptions,
  requests: SpeechRequestSeen[],
): Promise<void> {
  const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://loopback');
  if (request.method === 'HEAD') {
    response.writeHead(404).end();
    return;
  }
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const fields = JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>;
  const hungUp = new Promise<void>((resolve) => response.once('close', () => (response.writableEnded ? undefined : resolve())));
  const { headers } = request;
  const index = requests.push({ path, query, headers, fields, hungUp }) - 1;
  const fault = options.speechFault?.(index);
  const refuse = (status: number, detail: unknown, more: Readonly<Record<string, string>> = {}): void =>
    void response.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify({ detail }));
  if (fault === 'reset') {
    request.socket.resetAndDestroy();
    return;
  }
  if (typeof fault === 'object') return refuse(fault.status, fault.detail, fault.headers);
  if (headers['xi-api-key'] !== (options.apiKey ?? 'xi-key'))
    return refuse(401, { status: 'invalid_api_key', message: `Invalid API key ${String(headers['xi-api-key'])}` });
  const voice = decodeURIComponent(/^\/v1\/text-to-speech\/([^/]+)\/stream$/u.exec(path)?.[1] ?? '');
  if (!VOICES.has(voice))
    return refuse(404, { status: 'voice_not_found', message: `A voice with the ID ${voice} was not found.` });
  const { text, model_id: model, language_code: language } = fields;
  if (typeof text !== 'string') return refuse(422, [{ loc: ['body', 'text'], msg: 'Field required', type: 'missing' }]);
  if (language !== undefined && !String(model).endsWith('_v2_5'))
    return refuse(400, { status: 'unsupported_language', message: 'The model does not support language_code.' });
  const [, name = '', rate = ''] = /^(ulaw|alaw|pcm)_(\d+)$/u.exec(query.get('output_format') ?? '') ?? [];
  const encoding = ENCODINGS[name];
  if (encoding === undefined) return refuse(400, { status: 'invalid_output_format', message: 'Unknown output format.' });
  response.writeHead(200, { 'content-type': encoding === 'pcm16' ? 'audio/pcm' : 'audio/basic', 'request-id': 'request-2' });
  const spoken = options.engines.speak({
    text,
    language: typeof language === 'string' ? language : 'en',
    voice,
    rateHz: Number(rate),
  });
  for await (const pcm of spoken) {
    const bytes = encodeAudio(encoding, pcm);
    const { pieceBytes = bytes.length } = options;
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      if (response.destroyed) return;
      response.write(bytes.subarray(at, at + pieceBytes));
      await nextTurn();
    }
    if (fault === 'break') {
      response.write(bytes.subarray(0, 1), () => request.socket.destroy());
      return;
    }
  }
  response.end();
}

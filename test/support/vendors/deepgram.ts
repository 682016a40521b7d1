import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { decodeAudio, encodeAudio } from '../../../src/audio/codec.ts';
import type { Encoding } from '../../../src/audio/format.ts';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { codePoints } from '../../../src/speech/tts/speech-fields.ts';
import { onLoopback, type RefusedUpgrade, takeSockets } from '../loopback.ts';
import type { SimulatedRecognition, VendorEngines } from './engines.ts';

/** An upgrade that is refused: Deepgram says why in the body and in `dg-error`. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface DeepgramServerOptions {
  readonly engines: VendorEngines;
  readonly apiKey?: string;
  /** The upgrade number `index`, from 0 on, is refused. */
  readonly refuse?: (index: number) => Refusal | undefined;
  /** A stream without audio or KeepAlive is closed after this long; 10 s, as documented, when absent. */
  readonly idleMs?: number;
  /** `Finalize` is answered only where something was recognised, as the documentation allows. */
  readonly silentFinalize?: boolean;
  /** Sends an empty final for each second of silence, as streams do. */
  readonly emptyFinals?: boolean;
  /** Audio of a text comes when this resolves. */
  readonly beforeAudio?: () => Promise<void>;
  /** Bytes of one binary frame of synthesis; as the engine makes them when absent. */
  readonly frameBytes?: number;
}

/** One `listen` stream, from Deepgram's side. */
export interface ListenStream {
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** 16-bit samples that came. */
  readonly samples: number[];
  /** Types of the control messages, in order. */
  readonly controls: string[];
  /** Keyterms in force. */
  keyterms: readonly string[];
  closeCode: number | undefined;
  send(message: object | string): void;
  close(code: number, reason: string): void;
  /** Drops the connection without a close frame. */
  cut(): void;
}

/** One `speak` socket, from Deepgram's side. */
export interface SpeakSocket {
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** Control messages, and texts as `Speak:text`, in order. */
  readonly messages: string[];
  closeCode: number | undefined;
  send(message: object | string | Uint8Array): void;
  close(code: number, reason: string): void;
  cut(): void;
}

export interface DeepgramServer extends AsyncDisposable {
  readonly url: string;
  readonly listens: ListenStream[];
  readonly speaks: SpeakSocket[];
  /** Paths and queries of all upgrades, the refused ones too. */
  readonly upgrades: string[];
}

const ENCODINGS: Readonly<Record<string, Encoding>> = { linear16: 'pcm16', mulaw: 'mulaw', alaw: 'alaw' };
const MOST_FLUSHES = 20;
const LONGEST_TEXT = 2_000;

/**
 * Deepgram's `listen` and `speak` sockets as its API reference and guides describe them, on a free port of loopback.
 * @see https://developers.deepgram.com/reference/speech-to-text/listen-streaming
 * @see https://developers.deepgram.com/reference/text-to-speech/speak-streaming
 */
export async function startDeepgram(options: DeepgramServerOptions): Promise<DeepgramServer> {
  const { apiKey = 'dg-key' } = options;
  const listens: ListenStream[] = [];
  const speaks: SpeakSocket[] = [];
  const upgrades: string[] = [];
  const http = createServer((_request, response) => response.writeHead(404).end());
  takeSockets(
    http,
    ({ request, url, index }) => {
      upgrades.push(request.url ?? '');
      const refusal = options.refuse?.(index) ?? refusalOf(request, url, apiKey);
      return refusal === undefined ? undefined : upgradeRefusal(refusal);
    },
    (socket, { request, url }) => {
      if (url.pathname === '/v1/listen') new Listening(socket, request, url, options, listens).begin();
      else new Speaking(socket, request, url, options, speaks).begin();
    },
  );
  return { listens, speaks, upgrades, ...(await onLoopback(http)) };
}

function refusalOf({ headers }: IncomingMessage, url: URL, apiKey: string): Refusal | undefined {
  const { searchParams: query, pathname } = url;
  if (headers.authorization !== `Token ${apiKey}`) return { status: 401, code: 'INVALID_AUTH', message: 'Invalid credentials.' };
  if (pathname !== '/v1/listen' && pathname !== '/v1/speak')
    return { status: 404, code: 'NOT_FOUND', message: 'There is nothing here.' };
  const bad = (message: string): Refusal => ({ status: 400, code: 'INVALID_QUERY_PARAMETER', message });
  if (ENCODINGS[query.get('encoding') ?? ''] === undefined) return bad('Unsupported encoding.');
  if (!(Number(query.get('sample_rate')) >= 8_000)) return bad('Unsupported sample rate.');
  if (pathname === '/v1/speak' && !(query.get('model') ?? '').startsWith('aura-'))
    return bad('No such model/version combination found.');
  return undefined;
}

function upgradeRefusal({ status, code, message, headers }: Refusal): RefusedUpgrade {
  const body = { err_code: code, err_msg: message, request_id: randomUUID() };
  return { status, headers: { 'dg-request-id': 'request-1', 'dg-error': message, ...headers }, body };
}

/** What both kinds of socket have for tests. */
function hand(socket: WebSocket) {
  return {
    send: (message: object | string | Uint8Array) =>
      socket.send(typeof message === 'string' || message instanceof Uint8Array ? message : JSON.stringify(message)),
    close: (code: number, reason: string) => socket.close(code, reason),
    cut: () => socket.terminate(),
  };
}

/** Runs one stream of recognition: `Results` for pauses, `Finalize` and `CloseStream`. */
class Listening {
  readonly #socket: WebSocket;
  readonly #options: DeepgramServerOptions;
  readonly #stream: ListenStream;
  readonly #rateHz: number;
  readonly #endpointingMs: number;
  readonly #engine: SimulatedRecognition;
  /** Why each commit of the engine was made, oldest first. */
  readonly #reasons: ('endpoint' | 'finalize' | 'close')[] = [];
  #idle: NodeJS.Timeout | undefined;
  #silentMs = 0;
  #spoke = false;
  /** In the stream, in seconds. */
  #reportedS = 0;

  constructor(socket: WebSocket, request: IncomingMessage, url: URL, options: DeepgramServerOptions, streams: ListenStream[]) {
    const { searchParams: query } = url;
    this.#socket = socket;
    this.#options = options;
    const keyterms = query.getAll('keyterm');
    this.#stream = {
      query,
      headers: request.headers,
      samples: [],
      controls: [],
      keyterms,
      closeCode: undefined,
      ...hand(socket),
    };
    streams.push(this.#stream);
    this.#rateHz = Number(query.get('sample_rate'));
    this.#endpointingMs = Number(query.get('endpointing') ?? 10) || Infinity;
    this.#engine = options.engines.recognise(
      { language: query.get('language') ?? 'en', rateHz: this.#rateHz, hints: keyterms },
      (event) => (event.type === 'partial' ? this.#results(event.text, {}) : this.#final(event.text)),
    );
  }

  begin(): void {
    this.#waitForMore();
    this.#socket.on('close', (code) => {
      clearTimeout(this.#idle);
      this.#stream.closeCode = code;
      this.#engine.close();
    });
    this.#socket.on('message', (data: Buffer, isBinary) => {
      this.#waitForMore();
      if (isBinary) this.#audio(data);
      else this.#control(data.toString());
    });
  }

  #waitForMore(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(
      () =>
        this.#socket.close(1011, 'Deepgram did not receive audio data or a text message within the timeout window. See NET-0001'),
      this.#options.idleMs ?? 10_000,
    );
  }

  #audio(bytes: Buffer): void {
    if (bytes.length === 0) {
      this.#socket.close(1008, 'An empty message. See DATA-0000');
      return;
    }
    const pcm = decodeAudio(ENCODINGS[this.#stream.query.get('encoding') ?? ''] ?? 'pcm16', bytes);
    this.#stream.samples.push(...pcm);
    this.#engine.push(pcm);
    const isVoiced = rmsLevelDb(pcm) > -40;
    this.#spoke ||= isVoiced;
    this.#silentMs = isVoiced ? 0 : this.#silentMs + (pcm.length / this.#rateHz) * 1_000;
    if (this.#spoke && this.#silentMs >= this.#endpointingMs) {
      this.#spoke = false;
      this.#commit('endpoint');
    } else if (this.#options.emptyFinals === true && !this.#spoke && this.#silentMs >= 1_000) {
      this.#silentMs = 0;
      this.#results('', { is_final: true });
    }
  }

  #control(text: string): void {
    const { type, keyterms } = JSON.parse(text) as { type: string; keyterms?: string[] };
    this.#stream.controls.push(type);
    if (type === 'Finalize') this.#commit('finalize');
    if (type === 'CloseStream') this.#commit('close');
    if (type === 'Configure') this.#stream.keyterms = keyterms ?? this.#stream.keyterms;
  }

  #commit(reason: 'endpoint' | 'finalize' | 'close'): void {
    this.#reasons.push(reason);
    this.#engine.commit();
  }

  #final(text: string): void {
    const reason = this.#reasons.shift();
    if (reason === 'finalize') {
      if (text !== '' || this.#options.silentFinalize !== true) this.#results(text, { is_final: true, from_finalize: true });
    } else if (reason === 'endpoint') this.#results(text, { is_final: true, speech_final: true });
    else {
      if (text !== '') this.#results(text, { is_final: true });
      const duration = this.#stream.samples.length / this.#rateHz;
      this.#stream.send({ type: 'Metadata', transaction_key: 'deprecated', request_id: randomUUID(), duration, channels: 1 });
      this.#socket.close(1000);
    }
  }

  #results(transcript: string, marks: { is_final?: boolean; speech_final?: boolean; from_finalize?: boolean }): void {
    const endS = this.#stream.samples.length / this.#rateHz;
    const start = this.#reportedS;
    if (marks.is_final === true) this.#reportedS = endS;
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#stream.send({
      type: 'Results',
      channel_index: [0, 1],
      start,
      duration: endS - start,
      is_final: false,
      speech_final: false,
      from_finalize: false,
      ...marks,
      channel: { alternatives: [{ transcript, confidence: transcript === '' ? 0 : 0.98, words: [] }] },
      metadata: {
        request_id: randomUUID(),
        model_info: { name: 'general-nova-3', version: '1', arch: 'nova-3' },
        model_uuid: randomUUID(),
      },
    });
  }
}

/** Runs one socket of synthesis: texts are collected until `Flush`, and dropped at `Clear`. */
class Speaking {
  readonly #socket: WebSocket;
  readonly #options: DeepgramServerOptions;
  readonly #wire: SpeakSocket;
  #text = '';
  #flushes = 0;
  #sequence = 0;
  /** A new value drops what is being spoken. */
  #generation = 0;
  #speaking: Promise<void> = Promise.resolve();

  constructor(socket: WebSocket, request: IncomingMessage, url: URL, options: DeepgramServerOptions, sockets: SpeakSocket[]) {
    this.#socket = socket;
    this.#options = options;
    this.#wire = { query: url.searchParams, headers: request.headers, messages: [], closeCode: undefined, ...hand(socket) };
    sockets.push(this.#wire);
  }

  begin(): void {
    this.#socket.on('close', (code) => {
      this.#generation += 1;
      this.#wire.closeCode = code;
    });
    this.#send({
      type: 'Metadata',
      request_id: randomUUID(),
      model_name: this.#wire.query.get('model'),
      model_version: '1',
      model_uuid: randomUUID(),
    });
    this.#socket.on('message', (data: Buffer) => {
      const { type, text = '' } = JSON.parse(data.toString()) as { type: string; text?: string };
      this.#wire.messages.push(type === 'Speak' ? `Speak:${text}` : type);
      if (type === 'Speak' && codePoints(text) > LONGEST_TEXT)
        this.#socket.close(1008, 'Input text exceeds maximum character limit.');
      else if (type === 'Speak') this.#text += text;
      if (type === 'Flush') this.#flush();
      if (type === 'Clear') this.#clear();
      if (type === 'Close') this.#socket.close(1000);
    });
  }

  #flush(): void {
    this.#flushes += 1;
    if (this.#flushes > MOST_FLUSHES) {
      this.#send({ type: 'Warning', description: 'Exceeded the flush limit', code: 'EXCESSIVE_FLUSH' });
      return;
    }
    const text = this.#text;
    this.#text = '';
    const generation = this.#generation;
    this.#speaking = this.#speaking.then(() => this.#speak(text, generation));
  }

  #clear(): void {
    this.#generation += 1;
    this.#text = '';
    this.#send({ type: 'Cleared', sequence_id: this.#sequence });
  }

  async #speak(text: string, generation: number): Promise<void> {
    await this.#options.beforeAudio?.();
    const { query } = this.#wire;
    const encoding = ENCODINGS[query.get('encoding') ?? ''] ?? 'pcm16';
    const rateHz = Number(query.get('sample_rate'));
    const voice = query.get('model') ?? '';
    for await (const pcm of this.#options.engines.speak({ text, language: voice.split('-').at(-1) ?? 'en', voice, rateHz })) {
      const bytes = encodeAudio(encoding, pcm);
      const { frameBytes = bytes.length } = this.#options;
      for (let at = 0; at < bytes.length; at += frameBytes) {
        // Frames come one by one, so that a Clear finds some of them unsent.
        await nextTurn();
        if (this.#generation !== generation) return;
        this.#socket.send(bytes.subarray(at, at + frameBytes));
      }
    }
    if (this.#generation !== generation) return;
    this.#send({ type: 'Flushed', sequence_id: this.#sequence });
    this.#sequence += 1;
  }

  #send(message: object): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}

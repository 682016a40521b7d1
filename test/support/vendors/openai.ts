import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseWav, wavHeader } from '../../../src/audio/wav.ts';
import { onLoopback } from '../loopback.ts';
import { type RealtimeServerOptions, type RealtimeSocketRecord, serveRealtime } from './openai-realtime.ts';

/** What a simulated server does wrong with one request. */
export type HttpFault =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** The connection is reset before the answer. */
  | 'reset'
  /** No answer comes. */
  | 'silent'
  /** The connection breaks in the middle of the answer's body. */
  | 'break'
  /** The answer's body stops and the connection stays. */
  | 'stall';

/** A request as the server understood it. */
export interface SpeechServerRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Fields of the form or of the JSON body; lists under their names with brackets. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Of the uploaded WAV file. */
  readonly audio?: { readonly pcm: Int16Array; readonly rateHz: number };
  /** Resolves when the client has hung up before the whole answer was sent. */
  readonly hungUp: Promise<void>;
}

/** No key is asked for without `apiKey`, as at a server of one's own. */
export interface OpenAiServerOptions extends RealtimeServerOptions {
  /** Rate of synthesized audio; 24,000 when absent. */
  readonly rateHz?: number;
  /** Bytes of one chunk of the answer, odd ones too; as the engine makes them when absent. */
  readonly chunkBytes?: number;
  /** Length that a WAV header states; `unknown` is 0xFFFFFFFF. */
  readonly wavLength?: 'right' | 'unknown' | 'zero' | 'too short' | 'too long';
  /** A LIST chunk follows the samples of a WAV file. */
  readonly trailingChunk?: boolean;
  readonly fault?: (request: SpeechServerRequest, index: number) => HttpFault | undefined;
  /** Whether the answer of a transcription names the language, as gpt-transcribe does. */
  readonly namesLanguage?: boolean;
}

export interface OpenAiServer extends AsyncDisposable {
  /** With `/v1`. */
  readonly url: string;
  readonly requests: SpeechServerRequest[];
  readonly sockets: RealtimeSocketRecord[];
}

const MODELS_OF_SPEECH = new Set(['gpt-4o-mini-tts', 'tts-1', 'kokoro']);

/**
 * A server of OpenAI's audio API, written from its reference (createTranscription, createSpeech) and the servers that are compatible
 * with it, on a free port of loopback.
 */
export async function startOpenAi(options: OpenAiServerOptions): Promise<OpenAiServer> {
  const requests: SpeechServerRequest[] = [];
  const http = createServer((request, response) => {
    answer(request, response, options, requests).catch(() => response.destroy());
  });
  const sockets = serveRealtime(http, options);
  const loopback = await onLoopback(http);
  return { ...loopback, url: `${loopback.url}/v1`, requests, sockets };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: OpenAiServerOptions,
  requests: SpeechServerRequest[],
): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const path = new URL(request.url ?? '/', 'http://localhost').pathname;
  const hungUp = new Promise<void>((resolve) => response.once('close', () => (response.writableEnded ? undefined : resolve())));
  const asked = { path, headers: request.headers, hungUp, ...(await readBody(request, Buffer.concat(parts))) };
  const index = requests.push(asked) - 1;
  const fault = options.fault?.(asked, index);
  if (fault === 'reset') {
    request.socket.resetAndDestroy();
    return;
  }
  if (fault === 'silent') return;
  if (typeof fault === 'object') {
    refuse(response, fault.status, 'server_error', fault.body ?? 'The server had an error', fault.headers);
    return;
  }
  const { apiKey } = options;
  const given = request.headers.authorization;
  if (apiKey !== undefined && given !== `Bearer ${apiKey}`) {
    const shown = given?.replace('Bearer ', '') ?? 'none';
    refuse(response, 401, 'invalid_api_key', `Incorrect API key provided: ${shown}. You can find your API key in your account.`);
    return;
  }
  if (path === '/v1/audio/transcriptions') transcribe(asked, response, options);
  else if (path === '/v1/audio/speech') await speak(asked, response, options, fault);
  else refuse(response, 404, 'unknown_url', `Unknown request URL: ${path}`);
}

function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_refused', ...headers });
  response.end(JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code } }));
}

async function readBody(
  request: IncomingMessage,
  bytes: Buffer,
): Promise<Pick<SpeechServerRequest, 'fields'> & { audio?: { pcm: Int16Array; rateHz: number } }> {
  const type = request.headers['content-type'] ?? '';
  if (type.startsWith('application/json')) return { fields: JSON.parse(bytes.toString()) as Record<string, unknown> };
  if (!type.startsWith('multipart/form-data')) return { fields: {} };
  const form = await new Response(Uint8Array.from(bytes), { headers: { 'content-type': type } }).formData();
  const names = [...new Set(form.keys())].filter((name) => name !== 'file');
  const fields = Object.fromEntries(names.map((name) => [name, name.endsWith('[]') ? form.getAll(name) : form.get(name)]));
  const file = form.get('file');
  if (!(file instanceof Blob)) return { fields };
  const wav = parseWav(new Uint8Array(await file.arrayBuffer()));
  return { fields, audio: { pcm: wav.samples[0] ?? new Int16Array(), rateHz: wav.rateHz } };
}

function transcribe({ fields, audio }: SpeechServerRequest, response: ServerResponse, options: OpenAiServerOptions): void {
  const { model, language, prompt } = fields;
  if (audio === undefined || typeof model !== 'string') {
    refuse(response, 400, 'missing_required_parameter', 'you must provide a file and a model parameter');
    return;
  }
  if (audio.pcm.length < audio.rateHz / 10) {
    refuse(response, 400, 'audio_too_short', 'Audio file is too short. Minimum audio length is 0.1 seconds.');
    return;
  }
  const code = typeof language === 'string' ? language : 'en';
  const hints = [...((fields['keywords[]'] as string[] | undefined) ?? []), ...(typeof prompt === 'string' ? [prompt] : [])];
  const engine = options.engines.recognise({ language: code, rateHz: audio.rateHz, hints }, ({ type, text }) => {
    if (type !== 'final') return;
    engine.close();
    const languages = options.namesLanguage === true ? { languages: [{ code }] } : {};
    response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'req_heard' });
    response.end(JSON.stringify({ text, ...languages, usage: { type: 'duration', seconds: 1 } }));
  });
  engine.push(audio.pcm);
  engine.commit();
}

async function speak(
  { fields }: SpeechServerRequest,
  response: ServerResponse,
  options: OpenAiServerOptions,
  fault: 'break' | 'stall' | undefined,
): Promise<void> {
  const { model, input, voice, response_format: format } = fields;
  if (typeof model !== 'string' || !MODELS_OF_SPEECH.has(model)) {
    refuse(response, 404, 'model_not_found', `The model \`${String(model)}\` does not exist`);
    return;
  }
  if (typeof input !== 'string' || input === '' || input.length > 4096 || typeof voice !== 'string') {
    refuse(response, 400, 'invalid_request_error', 'input has 1 to 4096 characters, and voice is required');
    return;
  }
  const { rateHz = 24_000, chunkBytes } = options;
  response.writeHead(200, { 'content-type': format === 'wav' ? 'audio/wav' : 'audio/pcm' });
  const chunks: Buffer[] = [];
  for await (const pcm of options.engines.speak({ text: input, language: 'en', voice, rateHz }))
    chunks.push(Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength));
  if (format === 'wav') {
    const dataBytes = chunks.reduce((sum, { length }) => sum + length, 0);
    chunks.unshift(Buffer.from(headerOf(rateHz, dataBytes, options.wavLength ?? 'right')));
    if (options.trailingChunk === true) chunks.push(Buffer.from('LIST\x10\x00\x00\x00INFOISFT\x04\x00\x00\x00sim\x00', 'latin1'));
  }
  let sent = 0;
  for (const chunk of chunkBytes === undefined ? chunks : inChunks(Buffer.concat(chunks), chunkBytes)) {
    if (response.destroyed) return;
    if (!response.write(chunk)) await new Promise<void>((resolve) => response.once('drain', resolve).once('close', resolve));
    sent += 1;
    if (sent >= 2 && fault === 'stall') return;
    // Each chunk goes out by itself.
    await nextTurn();
    if (sent >= 2 && fault === 'break') {
      response.destroy();
      return;
    }
  }
  response.end();
}

function headerOf(rateHz: number, dataBytes: number, told: NonNullable<OpenAiServerOptions['wavLength']>): Uint8Array {
  const header = wavHeader({ rateHz, channels: 1, dataBytes, encoding: 'pcm16' });
  const bytes = { right: dataBytes, unknown: 0xffff_ffff, zero: 0, 'too short': 1_000, 'too long': dataBytes + 5_000 }[told];
  const view = new DataView(header.buffer);
  view.setUint32(40, bytes, true);
  view.setUint32(4, Math.min(0xffff_ffff, bytes + 36), true);
  return header;
}

function* inChunks(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

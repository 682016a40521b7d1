import { createServer, type IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { decodeAudio, encodeAudio } from '../../../src/audio/codec.ts';
import { wavFile } from '../../../src/audio/wav.ts';
import { onLoopback, takeSockets } from '../loopback.ts';
import type { SimulatedRecognition, VendorEngines } from './engines.ts';
import { goesOn, type SocketFault } from './openai-realtime.ts';

/** `stall`: speech stops after its first chunk. */
export type SarvamFault = Exclude<SocketFault, 'late'> | 'stall';

/** A message as it arrived: the socket's number, its `event` or `type`, and how many of it came before on this socket. */
export interface SarvamMoment {
  readonly path: string;
  readonly socket: number;
  readonly event: string;
  readonly count: number;
}

export interface SarvamServerOptions {
  readonly engines: VendorEngines;
  readonly apiKey: string;
  readonly fault?: (moment: SarvamMoment) => SarvamFault | undefined;
  /** Answers the upgrade number `index` with this status. */
  readonly refuse?: (index: number) => { readonly status: number; readonly headers?: Record<string, string> } | undefined;
  /** Linear audio comes as a WAV file in each message. */
  readonly sendsWav?: boolean;
  /** Bytes of one chunk of audio; as the engine makes it when absent. */
  readonly chunkBytes?: number;
  /** An utterance without words gets no final. */
  readonly skipsSilence?: boolean;
}

export interface SarvamSocketRecord {
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  /** Messages without the audio, in order. */
  readonly events: Record<string, unknown>[];
  /** Samples received. */
  samples: number;
  closed: number | undefined;
}

export interface SarvamServer extends AsyncDisposable {
  readonly url: string;
  readonly sockets: SarvamSocketRecord[];
}

const STT_PATH = '/speech-to-text-realtime/ws';
const TTS_PATH = '/text-to-speech/ws';
const STT_LANGUAGES = new Set(
  'auto,en,hi,bn,kn,ml,mr,or,pa,ta,te,gu,as,ur,ne,kok,ks,sd,sa,sat,mni,brx,mai,doi'
    .split(',')
    .map((code) => (code === 'auto' ? code : `${code}-IN`)),
);
const TTS_LANGUAGES = new Set('bn,en,gu,hi,kn,ml,mr,od,pa,ta,te'.split(',').map((code) => `${code}-IN`));
const V3_SPEAKERS = new Set(['shubh', 'aditya', 'ritu', 'priya', 'neha']);
const MOST_TEXT = 2_500;

/**
 * Sarvam's realtime recognition and streaming synthesis, written from its API reference (messages, close codes) on a free port of
 * loopback.
 */
export async function startSarvam(options: SarvamServerOptions): Promise<SarvamServer> {
  const sockets: SarvamSocketRecord[] = [];
  const http = createServer((_request, response) => response.writeHead(404).end());
  takeSockets(
    http,
    ({ url, index }) => {
      const refusal =
        options.refuse?.(index) ?? (url.pathname === STT_PATH || url.pathname === TTS_PATH ? undefined : { status: 404 });
      return refusal === undefined ? undefined : { ...refusal, body: { error: { message: 'refused', code: 'refused' } } };
    },
    (socket, { request, url }) => {
      const record: SarvamSocketRecord = { url, headers: request.headers, events: [], samples: 0, closed: undefined };
      const index = sockets.push(record) - 1;
      const serve = url.pathname === STT_PATH ? serveRecognition : serveSynthesis;
      const handle = serve(socket, record, options);
      const counts = new Map<string, number>();
      socket.on('error', () => undefined);
      socket.on('close', (code) => (record.closed = code));
      socket.on('message', (data: Buffer) => {
        const message = JSON.parse(data.toString()) as Record<string, unknown>;
        const event = nameOf(message);
        const count = counts.get(event) ?? 0;
        counts.set(event, count + 1);
        if (event !== 'audio_input') record.events.push(message);
        const fault = options.fault?.({ path: url.pathname, socket: index, event, count });
        if (goesOn(socket, fault)) handle(message, fault === 'stall');
      });
    },
  );
  return { sockets, ...(await onLoopback(http)) };
}

type Handle = (message: Record<string, unknown>, stalls: boolean) => void;

function textOf(message: Record<string, unknown>, name: string): string {
  const value = message[name];
  return typeof value === 'string' ? value : '';
}

function nameOf(message: Record<string, unknown>): string {
  const name = message['event'] ?? message['type'];
  return typeof name === 'string' ? name : '';
}

function serveRecognition(socket: WebSocket, record: SarvamSocketRecord, options: SarvamServerOptions): Handle {
  const say = (event: string, fields: object = {}): void => {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ event, ...fields }));
  };
  const query = Object.fromEntries(record.url.searchParams);
  const { language_code: language = '', sample_rate: rate = '16000', endpointing, encoding } = query;
  if (record.headers['api-subscription-key'] !== options.apiKey) socket.close(1003, 'Invalid subscription key');
  else if (!STT_LANGUAGES.has(language)) socket.close(4000, `Unsupported language_code ${language}`);
  else if (query['model'] !== 'saaras:v3-realtime') socket.close(4000, `Invalid model ${String(query['model'])}`);
  else if (encoding !== 'linear16' || !['8000', '16000'].includes(rate)) socket.close(4000, 'Unsupported encoding');
  else say('session.begin', { request_id: 'req-1', config: { ...query, turn_detection: endpointing } });
  let prompt = '';
  let engine: SimulatedRecognition | undefined;
  let utterance = 0;
  let isSpeaking = false;
  const detected = language === 'auto' ? { language: 'hi-IN', language_confidence: 0.9 } : {};
  const finalize = (): void => {
    isSpeaking = false;
    engine?.commit();
  };
  const opened = (): SimulatedRecognition =>
    (engine ??= options.engines.recognise(
      { language: language.replace(/-IN$/u, ''), rateHz: Number(rate), hints: prompt === '' ? [] : prompt.split(', ') },
      ({ type, text }) => {
        if (type === 'partial') say('transcript.partial', { utterance_idx: utterance, text, ...detected });
        else if (text !== '' || options.skipsSilence !== true) {
          const words = text.split(' ');
          for (const count of words.keys())
            say('transcript.partial', { utterance_idx: utterance, text: words.slice(0, count + 1).join(' '), ...detected });
          say('transcript.final', { utterance_idx: utterance, text, ...detected });
          utterance += 1;
        }
      },
    ));
  return (message) => {
    switch (nameOf(message)) {
      case 'config.update':
        prompt = typeof message['prompt'] === 'string' ? message['prompt'] : '';
        say('config.updated', { applied: ['prompt'] });
        return;
      case 'speech_start':
        if (isSpeaking) say('error', { code: 'invalid_state', is_fatal: false, message: 'an utterance has begun already' });
        isSpeaking = true;
        return;
      case 'audio_input': {
        if (!isSpeaking) {
          say('error', { code: 'invalid_state', is_fatal: false, message: 'audio outside of an utterance is dropped' });
          return;
        }
        const pcm = decodeAudio('pcm16', Buffer.from(textOf(message, 'audio'), 'base64'));
        record.samples += pcm.length;
        opened().push(pcm);
        return;
      }
      case 'speech_end':
      case 'flush':
        if (isSpeaking) finalize();
        return;
      case 'ping':
        say('pong');
        return;
      case 'end':
        if (isSpeaking) finalize();
        say('session.end', { request_id: 'req-1', total_utterances: utterance });
        socket.close(1000);
        return;
      default:
        say('error', { code: 'invalid_event', is_fatal: false, message: 'unknown event' });
    }
  };
}

interface SpeechConfig {
  readonly speaker: string;
  readonly language: string;
  readonly codec: string;
  readonly rateHz: number;
}

function serveSynthesis(socket: WebSocket, record: SarvamSocketRecord, options: SarvamServerOptions): Handle {
  const say = (type: string, data: object): void => {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ type, data }));
  };
  if (record.headers['api-subscription-key'] !== options.apiKey) socket.close(1003, 'Invalid subscription key');
  let config: SpeechConfig | undefined;
  let text = '';
  return (message, stalls) => {
    const data = (message['data'] ?? {}) as Record<string, unknown>;
    switch (nameOf(message)) {
      case 'config':
        config = readConfig(data);
        if (!TTS_LANGUAGES.has(config.language)) say('error', { message: 'Input should be a supported language', code: 422 });
        else if (!V3_SPEAKERS.has(config.speaker))
          say('error', { message: `Speaker ${config.speaker} is not one of bulbul:v3`, code: 422 });
        return;
      case 'text':
        text += typeof data['text'] === 'string' ? data['text'] : '';
        if (config === undefined || text.length > MOST_TEXT)
          say('error', { message: 'send a config first, and less text', code: 400 });
        return;
      case 'flush': {
        const said = text;
        text = '';
        if (config !== undefined) speak(socket, options, { ...config, text: said, stalls }, say).catch(() => socket.terminate());
        return;
      }
      case 'ping':
        return;
      default:
        say('error', { message: 'Invalid message type', code: 400 });
    }
  };
}

function readConfig(data: Record<string, unknown>): SpeechConfig {
  const told = (name: string): string => textOf(data, name);
  return {
    speaker: told('speaker'),
    language: told('language_code'),
    codec: told('output_audio_codec'),
    rateHz: Number(data['speech_sample_rate'] ?? 24_000),
  };
}

async function speak(
  socket: WebSocket,
  options: SarvamServerOptions,
  { speaker, language, codec, rateHz, text, stalls }: SpeechConfig & { readonly text: string; readonly stalls: boolean },
  say: (type: string, data: object) => void,
): Promise<void> {
  const encoding = codec === 'linear16' ? 'pcm16' : codec === 'alaw' ? 'alaw' : 'mulaw';
  const { chunkBytes, sendsWav } = options;
  const spoken = options.engines.speak({ text, language: language.replace(/-IN$/u, ''), voice: speaker, rateHz });
  for await (const pcm of spoken) {
    const made = encoding === 'pcm16' && sendsWav === true ? wavFile(pcm, rateHz) : encodeAudio(encoding, pcm);
    const size = chunkBytes === undefined || sendsWav === true ? made.length : chunkBytes;
    for (let at = 0; at < made.length; at += size) {
      const audio = Buffer.from(made.subarray(at, at + size)).toString('base64');
      say('audio', { content_type: `audio/${codec}`, audio, request_id: 'req-2' });
    }
    if (stalls) return;
    await nextTurn();
    if (socket.readyState !== socket.OPEN) return;
  }
  say('event', { event_type: 'final', message: 'done', timestamp: '2026-11-23T11:00:00Z' });
}

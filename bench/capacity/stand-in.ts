// A speech platform that costs next to nothing: it hears every sample and understands none, and speaks the same sound for every text.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { SpeechPlatformSettings } from '../../src/speech/platform.ts';
import type { Certificate } from './certificate.ts';
import type { Ledger } from './ledger.ts';
import { FRAME_MS, numberIn, type Sound } from './sounds.ts';

/** Audio of one message: as much as hosted synthesizers send at once. */
export const CHUNK_MS = 200;
/** A little faster than it is spoken. */
const CHUNK_EVERY_MS = 180;
/** As fast as synthesizers make speech that nobody waits for: what a stall does then is the gateway's alone. */
const AHEAD_CHUNK_EVERY_MS = 50;

export interface StandInOptions {
  /** What every sentence sounds like. */
  readonly voice: Sound;
  readonly ledger: Ledger;
  /** Whether speech is made well ahead of its time. */
  readonly ahead?: boolean;
  /** `https` and `wss` with it, where given. */
  readonly certificate?: Certificate | undefined;
}

/** Recognition, synthesis and tokens on three loopback ports. @returns their addresses, and what closes them */
export async function startStandIn(options: StandInOptions): Promise<{ speech: SpeechPlatformSettings; close: () => void }> {
  const listen = async (answer: Answer) => await listenWith(options.certificate, answer);
  const auth = await listen((_, response) => response.end(JSON.stringify({ token: 'stand-in', expires_in: 3600 })));
  const asr = await listen((_, response) => response.end('{"ok":true}'));
  const tts = await listen((_, response) => response.end('{"status":"ok","voices":["Nisha"]}'));
  const plain = { perMessageDeflate: false, skipUTF8Validation: true } as const;
  new WebSocketServer({ server: asr.server, ...plain }).on('connection', (socket) => hear(socket, options.ledger));
  const mulaw = inChunks(options.voice.frames);
  const pcm = inChunks(options.voice.pcm);
  const chunksOf = (format: string | undefined): SpokenChunks =>
    format === 'pcm' ? { format, chunks: pcm } : { format: 'mulaw', chunks: mulaw };
  new WebSocketServer({ server: tts.server, ...plain }).on('connection', (socket) => speak(socket, chunksOf, options));
  const speech = { authUrl: auth.url, asrUrl: asr.url, ttsUrl: tts.url, apiKey: 'stand-in-key', slotsPerKey: 10_000 };
  return {
    speech,
    close() {
      for (const { server } of [auth, asr, tts]) server.close().closeAllConnections();
    },
  };
}

function hear(socket: WebSocket, ledger: Ledger): void {
  let call: number | undefined;
  let heard = 0;
  let seg = 0;
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) {
      call ??= numberIn(data);
      ledger.heard(call, heard, data);
      heard += data.length / 2;
      return;
    }
    const text = data.toString('latin1');
    if (text === 'commit') {
      if (call !== undefined) ledger.committed(call);
      socket.send(JSON.stringify({ type: 'final', seg, text: `words ${seg} of call ${call}`, end_of_utterance: true }));
      seg += 1;
    } else if (text === 'end') socket.close(1000);
    else socket.send('{"type":"ready"}');
  });
}

/** What a sentence sounds like, at 8 kHz, in the format of a request: 16-bit samples, or mu-law where it wants no other. */
interface SpokenChunks {
  readonly format: 'pcm' | 'mulaw';
  readonly chunks: readonly Buffer[];
}

function speak(
  socket: WebSocket,
  chunksOf: (format: string | undefined) => SpokenChunks,
  { ledger, ahead = false }: StandInOptions,
): void {
  const everyMs = ahead ? AHEAD_CHUNK_EVERY_MS : CHUNK_EVERY_MS;
  let timer: NodeJS.Timeout | undefined;
  socket.on('close', () => clearTimeout(timer));
  socket.on('message', (data: Buffer) => {
    const { input, response_format: wanted } = JSON.parse(data.toString('utf8')) as Partial<Record<string, string>>;
    if (input === undefined) return;
    const { format, chunks } = chunksOf(wanted);
    const call = Number(/call (\d+)/u.exec(input)?.[1] ?? -1);
    const startedMs = performance.now();
    const next = (index: number): void => {
      const chunk = chunks[index];
      // What is not said in a call is prepared before any, and nobody hears it.
      if (chunk === undefined || (call === -1 && index === 1)) {
        socket.send(JSON.stringify({ type: 'completion', status: 'completed', total_chunks: index }));
        return;
      }
      if (index === 0) ledger.speaks(call);
      socket.send(JSON.stringify({ type: 'chunk', chunk_index: index, format, sample_rate: 8000 }));
      socket.send(chunk);
      timer = setTimeout(() => next(index + 1), startedMs + (index + 1) * everyMs - performance.now());
    };
    next(0);
  });
}

function inChunks(frames: readonly Uint8Array[]): readonly Buffer[] {
  const framesOfChunk = CHUNK_MS / FRAME_MS;
  return Array.from({ length: Math.floor(frames.length / framesOfChunk) }, (_, at) =>
    Buffer.concat(frames.slice(at * framesOfChunk, (at + 1) * framesOfChunk)),
  );
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function listenWith(certificate: Certificate | undefined, answer: Answer) {
  const server = certificate === undefined ? createServer(answer) : createTlsServer(certificate, answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const scheme = certificate === undefined ? 'http' : 'https';
  return { server, url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

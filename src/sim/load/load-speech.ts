import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { botSentence } from './load-sounds.ts';

/** A speech platform that costs next to nothing: it hears all and understands the same every time, and has one sound for every text. */
export interface LoadSpeech extends AsyncDisposable {
  readonly authUrl: string;
  readonly asrUrl: string;
  readonly ttsUrl: string;
  readonly apiKey: string;
  /** Whether audio comes as fast as it is spoken, or all at once, as before any call, when sentences are prepared. */
  asSpoken: boolean;
}

/** What every caller says. */
const WORDS = 'yes please';
const SENTENCE_MS = 3_000;
/** As hosted synthesizers send: 200 ms at once, a little faster than it is spoken. */
const CHUNK_MS = 200;
const CHUNK_EVERY_MS = 180;
const BYTES_PER_MS = 8;

const spoken = z.object({ input: z.string() });

/** Hears with the recogniser, and knows when the synthesizer speaks; a benchmark compares what came. */
export interface SpeechTap {
  /** @returns what is told of one recognition session's samples and commits */
  hear(): { readonly audio: (pcm: Buffer) => void; readonly commit: () => void };
  /** The first audio for this text is about to be sent. @returns whether a call hears it; of others only the first chunk is sent */
  speaks(text: string): boolean;
}

/**
 * Tokens, recognition and synthesis on three loopback ports.
 * @param voice what every sentence sounds like: mu-law, 8 kHz
 */
export async function startLoadSpeech(clock: Clock, voice = botSentence(SENTENCE_MS), tap?: SpeechTap): Promise<LoadSpeech> {
  const auth = await listen((_, response) => void response.end(JSON.stringify({ token: 'stand-in', expires_in: 3600 })));
  const asr = await listen((_, response) => void response.end('{"ok":true}'));
  const tts = await listen((_, response) => void response.end('{"status":"ok","voices":[]}'));
  const plain = { perMessageDeflate: false, skipUTF8Validation: true } as const;
  const chunks = chunksOf(voice);
  new WebSocketServer({ server: asr, ...plain }).on('connection', (socket) => hear(socket, tap));
  new WebSocketServer({ server: tts, ...plain }).on('connection', (socket) =>
    speak(socket, chunks, clock, () => speech.asSpoken, tap),
  );
  const speech: LoadSpeech = {
    asSpoken: false,
    authUrl: addressOf(auth),
    asrUrl: addressOf(asr),
    ttsUrl: addressOf(tts),
    apiKey: 'stand-in-key',
    async [Symbol.asyncDispose]() {
      for (const server of [auth, asr, tts]) server.close().closeAllConnections();
    },
  };
  return speech;
}

function hear(socket: WebSocket, tap: SpeechTap | undefined): void {
  const listener = tap?.hear();
  let seg = 0;
  socket.on('error', () => undefined);
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) {
      listener?.audio(data);
      return;
    }
    const text = data.toString('latin1');
    if (text === 'commit') {
      listener?.commit();
      socket.send(JSON.stringify({ type: 'final', seg: seg++, text: WORDS, language: 'en', end_of_utterance: true }));
    } else if (text === 'end') socket.close(1000);
    else socket.send('{"type":"ready"}');
  });
}

function speak(
  socket: WebSocket,
  chunks: readonly Uint8Array[],
  clock: Clock,
  asSpoken: () => boolean,
  tap: SpeechTap | undefined,
): void {
  let timer: Timer | undefined;
  socket.on('error', () => undefined);
  socket.on('close', () => timer?.cancel());
  socket.on('message', (data: Buffer) => {
    const asked = spoken.safeParse(JSON.parse(data.toString('utf8')));
    if (!asked.success) return;
    const startedMs = clock.nowMs();
    const spokenChunks = (tap?.speaks(asked.data.input) ?? true) ? chunks : chunks.slice(0, 1);
    const next = (index: number): void => {
      const chunk = spokenChunks[index];
      if (chunk === undefined) {
        socket.send(JSON.stringify({ type: 'completion', status: 'completed', total_chunks: index }));
        return;
      }
      socket.send(JSON.stringify({ type: 'chunk', chunk_index: index, format: 'mulaw', sample_rate: 8000 }));
      socket.send(chunk);
      if (!asSpoken()) next(index + 1);
      else timer = clock.after(startedMs + (index + 1) * CHUNK_EVERY_MS - clock.nowMs(), () => next(index + 1));
    };
    next(0);
  });
}

function chunksOf(sentence: Uint8Array): Uint8Array[] {
  const bytes = CHUNK_MS * BYTES_PER_MS;
  return Array.from({ length: Math.ceil(sentence.length / bytes) }, (_, at) => sentence.slice(at * bytes, (at + 1) * bytes));
}

async function listen(answer: RequestListener): Promise<Server> {
  const server = createServer(answer);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}

function addressOf(server: Server): string {
  const address = server.address() as AddressInfo;
  return `http://127.0.0.1:${address.port}`;
}

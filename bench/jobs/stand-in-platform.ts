import { once } from 'node:events';
import { createServer } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { encodeMulaw } from '../../src/audio/g711.ts';
import { botSpeech } from '../conversation/bot-voice.ts';

// A platform that swallows what it is sent and answers at once: in a process of its own, so that its work is not counted.
const SEGMENTS = Array.from({ length: 40 }, (_, index) => ({
  start: index * 7,
  end: index * 7 + 5,
  text: 'well I wanted to ask about my order number four two double seven and when it will come',
  confidence: 0.9,
}));
const WORDS = SEGMENTS.flatMap(({ start, text }) =>
  text.split(' ').map((word, index) => ({ word, start: start + index * 0.25, end: start + index * 0.25 + 0.2, confidence: 0.9 })),
);
const answer = JSON.stringify({
  success: true,
  request_id: 'req',
  text: SEGMENTS.map(({ text }) => text).join(' '),
  detected_language: 'en',
  segments: SEGMENTS,
  words: WORDS,
  audio_duration: 300,
  nlp_analysis: { intent: 'order status', sentiment: 'neutral', summary: 'An order.', keyterms: ['order'] },
});

/** Audio of one message: as much as hosted synthesizers send at once, at the pace of speech that is made a little ahead. */
const CHUNK_MS = 200;
const CHUNK_EVERY_MS = 150;

/** One service on a loopback port: sockets, and an answer to whatever is posted. @returns its address */
async function serve(onSocket: (socket: WebSocket) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'req' });
      response.end(request.method === 'POST' ? answer : '{"status":"ok","voices":["Nisha"]}');
    });
  }).listen(0, '127.0.0.1');
  new WebSocketServer({ server, perMessageDeflate: false }).on('connection', onSocket);
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

/** Understands nothing that a caller says. */
function hear(socket: WebSocket): void {
  let seg = 0;
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) return;
    const text = data.toString('utf8');
    if (text === 'end') socket.close(1000);
    else if (text !== 'commit') socket.send('{"type":"ready"}');
    else socket.send(JSON.stringify({ type: 'final', seg: seg++, text: '', end_of_utterance: true }));
  });
}

function speak(socket: WebSocket): void {
  let timer: NodeJS.Timeout | undefined;
  socket.on('close', () => clearTimeout(timer));
  socket.on('message', (data: Buffer) => {
    const { input } = JSON.parse(data.toString('utf8')) as { input?: string };
    if (input === undefined) return;
    const sound = encodeMulaw(botSpeech(input).pcm);
    const startedMs = performance.now();
    const next = (index: number): void => {
      const chunk = sound.subarray(index * CHUNK_MS * 8, (index + 1) * CHUNK_MS * 8);
      if (chunk.length === 0) {
        socket.send(JSON.stringify({ type: 'completion', status: 'completed', total_chunks: index }));
        return;
      }
      socket.send(JSON.stringify({ type: 'chunk', chunk_index: index, format: 'mulaw', sample_rate: 8000 }));
      socket.send(chunk);
      timer = setTimeout(() => next(index + 1), startedMs + (index + 1) * CHUNK_EVERY_MS - performance.now());
    };
    next(0);
  });
}

process.stdout.write(`${JSON.stringify({ asrUrl: await serve(hear), ttsUrl: await serve(speak) })}\n`);
process.stdin.resume().once('end', () => process.exit(0));

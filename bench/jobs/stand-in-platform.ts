import { once } from 'node:events';
import { createServer } from 'node:http';

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

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'req' });
    response.end(answer);
  });
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}` })}\n`);
process.stdin.resume().once('end', () => process.exit(0));

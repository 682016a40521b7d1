import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { SpeechPlatform } from '../../src/speech/platform.ts';

/** Longer than the 300 s after which the runtime's `fetch` gives up. */
const SLOW_MS = 310_000;

it('waits as long as its deadlines say for the head of an answer and for the rest of it', async () => {
  const answer = JSON.stringify({ text: 'at last' });
  let requests = 0;
  const server = createServer((request, response: ServerResponse) => {
    requests += 1;
    request.resume();
    const half = answer.length / 2;
    if (request.url?.startsWith('/v1/audio/speech') === true) {
      response.write('RI');
      systemClock.after(SLOW_MS, () => response.end('FF'));
    } else systemClock.after(SLOW_MS, () => response.write(answer.slice(0, half)) && response.end(answer.slice(half)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using client = new SpeechPlatform({ asrUrl: url, ttsUrl: url, token: 'a-token', requestTimeoutMs: 2 * SLOW_MS });
  const { signal } = new AbortController();
  const spoken = async (): Promise<string> => {
    const parts: Uint8Array[] = [];
    const { audio } = await client.synthesize({ text: 'Hello.', voice: 'Nisha' }, signal);
    for await (const part of audio) parts.push(part);
    return Buffer.concat(parts).toString();
  };
  const transcribed = client.transcribe({ url: 'https://example.com/an-hour.wav' }, { language: 'en' }, signal);
  expect(await Promise.all([transcribed.then(({ text }) => text), spoken()])).toEqual(['at last', 'RIFF']);
  expect(requests).toBe(2);
  server.closeAllConnections();
  server.close();
});

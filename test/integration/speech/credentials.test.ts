import { inspect } from 'node:util';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { SpeechPlatform } from '../../../src/speech/platform.ts';
import { eventually } from '../../support/eventually.ts';
import { type ScriptedPlatform, type ScriptedSocket, startScripted } from './scripted-platform.ts';
import { failureOf } from './support.ts';

const API_KEY = 'the-key-of-the-account';
const { signal } = new AbortController();
const wav = { bytes: new Uint8Array(64), name: 'a.wav' };

interface Recorded {
  readonly origin: string;
  /** Everything that was sent but audio: address, headers, text frames. */
  readonly said: string;
}

/** Does everything the client offers, against one token service and one speech service. */
async function useAll(auth: ScriptedPlatform, service: ScriptedPlatform): Promise<Recorded[]> {
  const recorded: Recorded[] = [];
  const recording: typeof fetch = (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    recorded.push({ origin: url.origin, said: `${url.href} ${JSON.stringify([...new Headers(init?.headers)])}` });
    return fetch(input, init);
  };
  const settings = { authUrl: auth.url, asrUrl: service.url, ttsUrl: service.url, apiKey: API_KEY };
  await using platform = new SpeechPlatform(settings, { clock: systemClock, logger: silentLogger, fetch: recording });
  await platform.health(signal);
  await failureOf(platform.transcribe(wav, { language: 'en' }, signal));
  await failureOf(platform.prepare([{ text: 'Hello.', voice: 'Varun', language: 'en' }]));
  let isReady = false;
  const session = platform.recogniser.open({ language: 'en', sampleRateHz: 8_000 }, ({ type }) => (isReady ||= type === 'ready'));
  await eventually(() => isReady);
  session.commit();
  await session.end();
  for (const { headers, url, texts } of service.sockets)
    recorded.push({ origin: service.url, said: `${url} ${JSON.stringify(headers)} ${texts.join(' ')}` });
  return recorded;
}

/** What a server says where it repeats the token of the socket: as it is, percent-encoded, and with every character escaped. */
const ECHOES = [
  (token: string) => token,
  (token: string) => encodeURIComponent(encodeURIComponent(token)),
  (token: string) => Array.from(token, (character) => `\\u00${character.charCodeAt(0).toString(16)}`).join(''),
  (token: string) => token.slice(0, 30),
] as const;

describe('credentials', () => {
  it.each(ECHOES)('shows no token that a socket repeats in an error or a close reason (%#)', async (echo) => {
    const token = 'eyJhbGciOi/JSUzI1NiJ9+c2Vjcm=V0.s1gnature';
    const said = `no such token: ${echo(token)}`;
    const failing = (socket: ScriptedSocket, isClose: boolean): void => {
      if (isClose) socket.socket.close(1008, said.slice(0, 120));
      else socket.socket.send(`{"type":"error","error":"${said}","code":"${said}","request_id":"${said}"}`);
    };
    await using platform = await startScripted({
      mint: () => ({ status: 200, body: { token, expires_in: 900 } }),
      onText: (socket, text, index) => {
        if (text.includes('"input"')) failing(socket, index === 0);
        else if (text.includes('"sample_rate"')) {
          socket.json({ type: 'ready' });
          failing(socket, index === 2);
        }
      },
    });
    const settings = { authUrl: platform.url, asrUrl: platform.url, ttsUrl: platform.url, apiKey: API_KEY };
    await using speech = new SpeechPlatform(settings, { clock: systemClock, logger: silentLogger });
    const errors: unknown[] = [];
    const speak = { text: 'Hello.', voice: 'Varun', format: 'mulaw' } as const;
    for (let round = 0; round < 2; round += 1)
      errors.push(await failureOf(speech.stream(speak, signal)[Symbol.asyncIterator]().next()));
    for (let round = 0; round < 2; round += 1)
      errors.push(await failureOf(speech.recognise({ language: 'en', sampleRateHz: 8_000 }, signal).commit()));
    expect(platform.sockets).toHaveLength(4);
    for (const error of errors) {
      expect(error).toMatchObject({ message: expect.stringContaining('no such token: [token]') });
      expect(inspect(error, { depth: 9 }) + JSON.stringify(error)).not.toMatch(/eyJ|JSUz|0079/u);
    }
  });

  it('gives the key to the token service alone and its tokens to the services alone [26] [46] [48]', async () => {
    await using auth = await startScripted({});
    await using service = await startScripted({
      onText: (socket, text) => {
        if (text.includes('"input"')) socket.json({ type: 'error', error: 'no voice today' });
        if (text.includes('"sample_rate"')) socket.json({ type: 'ready' });
        if (text === 'end') socket.socket.close(1000);
      },
    });
    const recorded = await useAll(auth, service);
    const to = (url: string): string[] => recorded.filter(({ origin }) => origin === url).map(({ said }) => said);
    expect(to(auth.url).filter((said) => said.includes(API_KEY))).toHaveLength(1);
    expect(to(auth.url).join()).not.toContain('token-1');
    expect(to(service.url).join()).not.toContain(API_KEY);
    // Transcription, synthesis and recognition bring it; both health checks bring nothing.
    expect(to(service.url).filter((said) => said.includes('token-1'))).toHaveLength(3);
    expect(to(service.url).filter((said) => said.includes('/health'))).toHaveLength(2);
    for (const { url } of service.sockets) expect(url).toBe('/v1/realtime');
  });

  it('follows no redirect with a credential, wherever it points [47]', async () => {
    let strangers = 0;
    const stranger = createServer((_request, response) => {
      strangers += 1;
      response.end('{"token":"stolen","text":"stolen"}');
    });
    await new Promise<void>((resolve) => void stranger.listen(0, '127.0.0.1', resolve));
    const elsewhere = `http://localhost:${(stranger.address() as AddressInfo).port}`;
    const redirecting = createServer((request, response) => {
      request.resume();
      response.writeHead(307, { location: `${elsewhere}${request.url}` }).end();
    });
    redirecting.on('upgrade', (request, stream) =>
      stream.end(`HTTP/1.1 307 Moved\r\nlocation: ${elsewhere}${request.url}\r\ncontent-length: 0\r\n\r\n`),
    );
    await new Promise<void>((resolve) => void redirecting.listen(0, '127.0.0.1', resolve));
    const moved = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}`;
    await using auth = await startScripted({});
    const deps = { clock: systemClock, logger: silentLogger };
    const errors: Error[] = [];
    {
      await using services = new SpeechPlatform({ authUrl: auth.url, asrUrl: moved, ttsUrl: moved, apiKey: API_KEY }, deps);
      await using mint = new SpeechPlatform({ authUrl: moved, asrUrl: moved, ttsUrl: moved, apiKey: API_KEY }, deps);
      let ended: Error | undefined;
      services.recogniser.open({ language: 'en', sampleRateHz: 8_000 }, (event) => {
        if (event.type === 'closed') ended = event.error;
      });
      errors.push(
        await failureOf(services.transcribe(wav, {}, signal)),
        await failureOf(mint.transcribe(wav, {}, signal)),
        await failureOf(services.prepare([{ text: 'Hello.', voice: 'Varun', language: 'en' }])),
      );
      await eventually(() => ended !== undefined);
      errors.push(ended!);
    }
    for (const error of errors) expect(error).toMatchObject({ code: 'OFFHOOK_SPEECH_REQUEST', status: 307 });
    expect(strangers).toBe(0);
    await Promise.all([stranger, redirecting].map((server) => new Promise((resolve) => server.close(resolve))));
  });
});

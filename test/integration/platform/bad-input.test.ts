import fc from 'fast-check';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { startTestPlatform, testPlatform, TestSocket } from './setup.ts';
import { eventually } from '../../support/eventually.ts';

describe('bad input', () => {
  const test = testPlatform();

  const upload = async (body: string | Buffer, contentType = 'multipart/form-data; boundary=x') => {
    const response = await fetch(`${test.platform.asrUrl}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await test.token()}`, 'content-type': contentType },
      body: Buffer.from(body),
    });
    return { status: response.status, body: await response.json() };
  };
  const field = (name: string, value: string) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

  it.each([
    ['nothing', ''],
    ['no boundary', 'hello'],
    ['an unfinished part', '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nRIFF'],
    ['a part without a name', '--x\r\nContent-Disposition: form-data\r\n\r\nhello\r\n--x--\r\n'],
    ['a field named __proto__', `${field('__proto__', 'x')}--x--\r\n`],
    ['200 fields', `${Array.from({ length: 200 }, (_, index) => field(`f${index}`, 'x')).join('')}--x--\r\n`],
    ['a header of 200 kB', `--x\r\nContent-Disposition: form-data; name="${'n'.repeat(200_000)}"\r\n\r\nx\r\n--x--\r\n`],
    ['a field of 300 kB', `${field('boost_phrases', 'x'.repeat(300_000))}--x--\r\n`],
  ])('in a multipart body is refused with a 4xx and a detail: %s', async (_name, body) => {
    const answer = await upload(body);
    expect([answer.status, answer.body]).toEqual([
      expect.toSatisfy((status: number) => status >= 400 && status < 500),
      { detail: expect.anything() },
    ]);
  });

  it('of another content type is refused with 400', async () => {
    expect((await upload('x', 'multipart/form-data')).status).toBe(400);
    expect((await upload('x', 'text/plain')).status).toBeLessThan(500);
  });

  it('random multipart bytes never bring a 5xx', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({
          unit: fc.constantFrom('--x', '\r\n', 'name="file"', 'Content-Disposition: form-data; ', 'a', '"', ';', '--'),
          maxLength: 30,
        }),
        async (body) => {
          expect((await upload(body)).status).toBeLessThan(500);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('an upload cut off half-way leaves nothing running', async () => {
    const token = await test.token();
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'multipart/form-data; boundary=x',
      'content-length': '100000',
    };
    const request = httpRequest(`${test.platform.asrUrl}/v1/audio/transcriptions`, { method: 'POST', headers });
    request.on('error', () => undefined);
    request.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF');
    await new Promise((resolve) => request.once('socket', (socket) => socket.once('connect', resolve)));
    request.destroy();
    await eventually(() => test.recognition.openStreams === 0);
    expect((await fetch(`${test.platform.asrUrl}/health`)).status).toBe(200);
  });

  it('random first frames close a recognition socket with 1008, and the platform lives', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), fc.string(), fc.uint8Array()), async (frame) => {
        await using socket = await TestSocket.open(`${test.platform.asrUrl}/v1/realtime`);
        socket.socket.send(frame);
        expect((await socket.untilClosed()).code).toBe(1008);
        expect(socket.events).toEqual([{ type: 'error', error: expect.any(String) }]);
      }),
      { numRuns: 40 },
    );
  });

  it('random messages close a synthesis socket with 1008 and one error', async () => {
    const url = `${test.platform.ttsUrl}/ws?token=${await test.token()}`;
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), fc.string(), fc.uint8Array()), async (frame) => {
        await using socket = await TestSocket.open(url);
        socket.socket.send(frame);
        expect((await socket.untilClosed()).code).toBe(1008);
        expect(socket.events).toEqual([{ type: 'error', request_id: expect.any(String), error: expect.any(String) }]);
      }),
      { numRuns: 40 },
    );
  });

  it('random queries never bring a synthesis upgrade down', async () => {
    const token = await test.token();
    await fc.assert(
      fc.asyncProperty(fc.webQueryParameters(), async (query) => {
        await using socket = await TestSocket.open(`${test.platform.ttsUrl}/ws?token=${token}&${query}`);
        expect(socket.socket.readyState).toBe(1);
      }),
      { numRuns: 30 },
    );
  });

  it('hundreds of sockets that say nothing are bounded', async () => {
    await using small = await startTestPlatform({ limits: { sockets: 20 } });
    const url = `${small.platform.asrUrl}/v1/realtime`;
    const sockets = await Promise.all(Array.from({ length: 20 }, () => TestSocket.open(url)));
    await expect(TestSocket.open(url)).rejects.toThrow('503');
    for (const socket of sockets) socket.socket.terminate();
    await expect
      .poll(async () =>
        TestSocket.open(url).then(
          () => 'open',
          () => 'refused',
        ),
      )
      .toBe('open');
  });

  it.each([
    'GET /v1/realtime HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    'GET //[ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    'hello\r\n\r\n',
  ])('a broken handshake is answered 4xx and closed: %j', async (text) => {
    const socket = connect(Number(new URL(test.platform.asrUrl).port), '127.0.0.1');
    socket.write(text);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.1 4\d\d /);
    socket.destroy();
  });

  it('gives a peer that reads late every event, once', async () => {
    await using socket = await TestSocket.ready(test);
    socket.socket.pause();
    for (let index = 0; index < 250; index += 1) socket.text('commit');
    socket.socket.resume();
    await socket.until(() => socket.of('final').length >= 250);
    expect(socket.of('final')).toHaveLength(250);
  });
});

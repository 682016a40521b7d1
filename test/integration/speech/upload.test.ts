import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { transcribe } from '../../../src/speech/asr/batch.ts';
import { SpeechHttp } from '../../../src/speech/client/requests.ts';
import { eventually } from '../../support/eventually.ts';
import { startScripted } from './scripted-platform.ts';
import { failureOf, tokensOf } from './support.ts';

async function uploadingTo(answer: (request: IncomingMessage, response: ServerResponse, index: number) => void) {
  let requests = 0;
  const server = createServer((request, response) => answer(request, response, requests++));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const auth = await startScripted({});
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await auth[Symbol.asyncDispose]();
  });
  // With `random` near one, waits between repeats are at their shortest.
  const http = new SpeechHttp({ tokens: tokensOf(auth), clock: systemClock, fetch, timeoutMs: 120_000, random: () => 0.99 });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bytes = new Uint8Array(24 * 1024 * 1024).fill(7);
  return {
    bytes,
    requests: () => requests,
    upload: (signal: AbortSignal) => transcribe(http, url, { bytes, name: 'long.wav' }, { language: 'en' }, signal),
  };
}

describe('uploading a recording', () => {
  it('stops in the middle of the upload when aborted [92]', async () => {
    let received = 0;
    let cut = false;
    let held: IncomingMessage | undefined;
    // Nobody reads the body at first, so that most of it cannot be sent.
    const { upload, bytes, requests } = await uploadingTo((request) => {
      held = request.pause();
      request.on('data', (part: Buffer) => (received += part.length));
      request.on('error', () => undefined);
      request.on('close', () => (cut = true));
      request.pause();
    });
    const leaving = new AbortController();
    const failure = failureOf(upload(leaving.signal));
    await eventually(() => held !== undefined);
    leaving.abort(new Error('hung up'));
    expect((await failure).message).toBe('hung up');
    held!.resume();
    await eventually(() => cut);
    expect(received).toBeLessThan(bytes.length);
    expect(requests()).toBe(1);
  });

  it('sends all of it again when the connection is reset [101]', async () => {
    const lengths: number[] = [];
    const { upload, bytes, requests } = await uploadingTo((request, response, index) => {
      if (index === 0) {
        request.socket.resetAndDestroy();
        return;
      }
      let length = 0;
      request.on('data', (part: Buffer) => (length += part.length));
      request.on('end', () => {
        lengths.push(length);
        response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'req-1' }).end('{"text":"all of it"}');
      });
    });
    expect(await upload(new AbortController().signal)).toMatchObject({ text: 'all of it', requestId: 'req-1' });
    expect(requests()).toBe(2);
    expect(lengths[0]).toBeGreaterThan(bytes.length);
  });

  it('tells of a refusal that comes before the upload is done', async () => {
    const { upload } = await uploadingTo((request, response) => {
      request.resume();
      response.writeHead(413, { 'content-type': 'application/json' }).end('{"detail":"over 500 MB"}');
    });
    const error = await failureOf(upload(new AbortController().signal));
    expect(error).toMatchObject({ code: 'OFFHOOK_SPEECH_REQUEST', status: 413 });
    expect(error.message).toContain('over 500 MB');
  });

  it('takes a redirect for a refusal, and does not upload again', async () => {
    const { upload, requests } = await uploadingTo((request, response) => {
      request.resume();
      request.on('end', () => response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end());
    });
    expect(await failureOf(upload(new AbortController().signal))).toMatchObject({ code: 'OFFHOOK_SPEECH_REQUEST' });
    expect(requests()).toBe(1);
  });
});

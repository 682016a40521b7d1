import { connect } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { startGateway } from './gateway.ts';
import { hangs } from '../../support/patience.ts';
import { untilPasses } from '../../support/eventually.ts';

describe('the HTTP application', () => {
  it('answers for its health, its readiness and its metrics', async () => {
    await using gateway = await startGateway();
    expect(await (await fetch(`${gateway.url}/healthz`)).json()).toEqual({ status: 'ok' });
    const ready = await fetch(`${gateway.url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready', parts: { platform: 'ok' } }]);
    const metrics = await fetch(`${gateway.url}/metrics`);
    expect(metrics.headers.get('content-type')).toContain('text/plain');
    expect(await metrics.text()).toContain('# TYPE offhook_calls_total counter');
  });

  it('is not ready with 503 when a part is not', async () => {
    await using gateway = await startGateway({ readiness: { ready: false, parts: { platform: 'down' } } });
    const response = await fetch(`${gateway.url}/readyz`);
    expect([response.status, await response.json()]).toEqual([503, { status: 'not ready', parts: { platform: 'down' } }]);
  });

  it('is not ready when a part does not answer', async () => {
    await using gateway = await startGateway({ readiness: new Promise(() => undefined) });
    const asking = fetch(`${gateway.url}/readyz`);
    await untilPasses(() => expect(gateway.clock.pendingTimers).toBe(1));
    gateway.clock.advance(2000);
    expect((await asking).status).toBe(503);
  });

  it('gives a value that a caller keyed to the bot that was given its token', async () => {
    await using gateway = await startGateway();
    const redeem = (secret: string | undefined, body: unknown) =>
      fetch(`${gateway.url}/secrets/redeem`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }) },
        body: JSON.stringify(body),
      });
    const given = await redeem('bot-secret', { token: 'tok' });
    expect([given.status, given.headers.get('cache-control'), await given.json()]).toEqual([
      200,
      'no-store',
      { value: '4111111111111111' },
    ]);
    const refused = [redeem(undefined, { token: 'tok' }), redeem('bot-secret', {}), redeem('other', { token: 'tok' })];
    expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([401, 400, 404]);
    expect(gateway.lines.join('')).not.toMatch(/4111111111111111|bot-secret/u);
  });

  it("answers 429 to guesses at a caller's value, also to a right one, and keeps out no server beside the gateway", async () => {
    await using gateway = await startGateway();
    const redeem = async (secret: string, headers: Record<string, string> = {}) => {
      const body = JSON.stringify({ token: 'tok' });
      const given = { 'content-type': 'application/json', authorization: `Bearer ${secret}`, ...headers };
      return (await fetch(`${gateway.url}/secrets/redeem`, { method: 'POST', headers: given, body })).status;
    };
    const proxied = { 'x-forwarded-for': '192.0.2.1' };
    const guesses: number[] = [];
    for (let at = 0; at < 11; at += 1) guesses.push(await redeem(`guess ${at}`, proxied));
    expect(guesses).toEqual([...Array.from({ length: 10 }, () => 404), 429]);
    expect([await redeem('bot-secret', proxied), await redeem('bot-secret')]).toEqual([429, 200]);
    gateway.clock.advance(10_000);
    expect([await redeem('guess', proxied), await redeem('bot-secret', proxied)]).toEqual([404, 429]);
  });

  it('asks for its state and its metrics once for all who ask at the same time', async () => {
    let asked = 0;
    let answer = (_ready: { ready: boolean; parts: Record<string, string> }): void => undefined;
    const answered = new Promise<{ ready: boolean; parts: Record<string, string> }>((resolve) => (answer = resolve));
    await using gateway = await startGateway({
      get readiness() {
        asked += 1;
        return answered;
      },
    });
    const asking = [fetch(`${gateway.url}/readyz`), fetch(`${gateway.url}/readyz`)];
    await untilPasses(() => expect(gateway.clock.pendingTimers).toBe(2));
    answer({ ready: true, parts: {} });
    expect((await Promise.all(asking)).map(({ status }) => status)).toEqual([200, 200]);
    expect(asked).toBe(1);
  });

  it('gives each request an id of its own, whatever the client sends', async () => {
    await using gateway = await startGateway();
    const ask = async () =>
      (await fetch(`${gateway.url}/nowhere`, { headers: { 'x-request-id': 'mine' } })).headers.get('x-request-id');
    const [one, two] = [await ask(), await ask()];
    expect(one).toMatch(/^req_[0-9a-f]{32}$/);
    expect(one).not.toBe(two);
  });

  it('answers what it cannot find or read with a problem document', async () => {
    await using gateway = await startGateway();
    const missing = await fetch(`${gateway.url}/nowhere?secret=1`);
    expect(missing.status).toBe(404);
    expect(missing.headers.get('content-type')).toContain('application/problem+json');
    expect(await missing.json()).toEqual({ type: 'about:blank', title: 'Not Found', status: 404, requestId: expect.any(String) });
    expect((await fetch(`${gateway.url}/%`)).status).toBe(400);
    expect(gateway.lines.join()).not.toContain('secret=1');
  });

  it('tells nothing of what failed inside, and logs it', async () => {
    await using gateway = await startGateway();
    gateway.metrics.render = () => Promise.reject(new Error('path /secret/place'));
    const response = await fetch(`${gateway.url}/metrics`);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('secret');
    expect(gateway.lines.join()).toContain('/secret/place');
  });

  it('drops a client that never finishes its headers', async () => {
    await using gateway = await startGateway({
      env: { OFFHOOK_HTTP__HEADERS_TIMEOUT_MS: '100', OFFHOOK_HTTP__REQUEST_TIMEOUT_MS: '100' },
    });
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.write('GET /healthz HTTP/1.1\r\nHost: ');
    await once(socket, 'close', { signal: hangs() });
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1.1 408 /);
  });

  it.each([
    ['a path that there is not', 'POST /nowhere HTTP/1.1', 404, 'content-length: 1000'],
    ['a body that is not taken', 'POST /healthz HTTP/1.1', 404, 'transfer-encoding: chunked'],
    ['a webhook without a signature', 'POST /carriers/twilio/voice HTTP/1.1', 400, 'content-length: 20000'],
    [
      'a request that is not answered yet',
      'POST /secrets/redeem HTTP/1.1',
      408,
      'content-type: application/json\r\ncontent-length: 100',
    ],
  ])('ends a request that never ends, of %s, after requestTimeoutMs', async (_note, line, status, header) => {
    await using gateway = await startGateway();
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    const answer = () => Buffer.concat(chunks).toString();
    const closed = once(socket, 'close', { signal: hangs() });
    socket.write(`${line}\r\nHost: x\r\n${header}\r\n\r\n`);
    const isEarly = status !== 408;
    await untilPasses(() => expect([answer() !== '', gateway.clock.pendingTimers]).toEqual([isEarly, 1]));
    gateway.clock.advance(9_999);
    if (isEarly) expect(socket.readyState).toBe('open');
    gateway.clock.advance(1);
    await closed;
    expect(answer()).toMatch(new RegExp(`^HTTP/1.1 ${status} `, 'u'));
  });

  it('lets go of its port when it closes, also with a connection that says nothing', async () => {
    const gateway = await startGateway();
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    await once(socket, 'connect');
    const ended = once(socket, 'close');
    socket.resume();
    const closing = gateway.app.close();
    await untilPasses(() => expect(gateway.clock.pendingTimers).toBe(1));
    gateway.clock.advance(2000);
    await Promise.all([closing, ended]);
    await expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow();
  });
});

import { request as httpRequest } from 'node:http';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { startTestPlatform, type TestPlatform, TestSocket } from './setup.ts';

interface Minted {
  readonly token: string;
  readonly expires_in: number;
  readonly expires_at: string;
}

async function mint(
  test: TestPlatform,
  query = '',
  init: RequestInit = {},
): Promise<{ status: number; body: Minted; headers: Headers }> {
  const response = await fetch(`${test.platform.authUrl}/api/auth/token${query}`, {
    method: 'POST',
    headers: { 'api-key': test.platform.apiKey },
    ...init,
  });
  return { status: response.status, body: (await response.json()) as Minted, headers: response.headers };
}

/** A POST with headers exactly as given, duplicates included. */
function rawMint(test: TestPlatform, headers: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${test.platform.authUrl}/api/auth/token`, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', reject);
    request.end();
  });
}

describe('the token service', () => {
  let test: TestPlatform;
  const lines: string[] = [];
  beforeAll(async () => {
    const logger = createLogger({ level: 'debug', personal: true, stream: { write: (line) => void lines.push(line) } });
    test = await startTestPlatform({
      logger,
      apiKeys: [
        { secret: 'good-key' },
        { secret: 'revoked-key', status: 'revoked' },
        { secret: 'poor-key', status: 'no-balance' },
      ],
    });
  });
  afterAll(() => test[Symbol.asyncDispose]());

  it('mints with exactly three fields [1]', async () => {
    const { status, body, headers } = await mint(test);
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['expires_at', 'expires_in', 'token']);
    expect([typeof body.token, typeof body.expires_in, typeof body.expires_at]).toEqual(['string', 'number', 'string']);
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('defaults to 900 seconds, in the answer and in the token [2]', async () => {
    const { body } = await mint(test);
    const { iat, exp } = decodeJwt(body.token);
    expect([body.expires_in, exp! - iat!]).toEqual([900, 900]);
  });

  it.each([
    ['3600', 3600],
    ['86400', 86_400],
    ['86401', 86_400],
    ['999999999', 86_400],
    [`1${'0'.repeat(300)}`, 86_400],
  ])('gives the life asked for [3], clamped to a day without an error [4]: %s gives %d', async (asked, given) => {
    const { status, body } = await mint(test, `?expires_in=${asked}`);
    const { iat, exp } = decodeJwt(body.token);
    expect([status, body.expires_in, exp! - iat!]).toEqual([200, given, given]);
  });

  it('tells the expiry as ISO 8601 with a zone, within two seconds of the life [5]', async () => {
    const { body } = await mint(test, '?expires_in=120');
    expect(body.expires_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
    expect(Math.abs(Date.parse(body.expires_at) - Date.now() - 120_000)).toBeLessThan(2000);
  });

  it('refuses a missing, empty, blank, duplicated or malformed key with 400 [6]', async () => {
    expect(await rawMint(test, ['host', 'x'])).toBe(400);
    expect(await rawMint(test, ['host', 'x', 'api-key', ''])).toBe(400);
    expect(await rawMint(test, ['host', 'x', 'api-key', '   '])).toBe(400);
    expect(await rawMint(test, ['host', 'x', 'api-key', 'good-key', 'api-key', 'good-key'])).toBe(400);
    expect(await rawMint(test, ['host', 'x', 'api-key', 'good\tkey'])).toBe(400);
    expect(await rawMint(test, ['host', 'x', 'api-key', 'good-ke\u00ff'])).toBe(400);
  });

  it('distinguishes an unknown key [7], a revoked one [8] and one without balance [9] by text only', async () => {
    const answers = await Promise.all(
      ['no-such-key', 'revoked-key', 'poor-key'].map((key) => mint(test, '', { headers: { 'api-key': key } })),
    );
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(3);
  });

  it('takes the key from the api-key header only [12]', async () => {
    const { status } = await mint(test, '', { headers: { authorization: 'Bearer good-key' } });
    expect(status).toBe(400);
    await using compat = await startTestPlatform({ compat: true });
    const headers = { authorization: `Bearer ${compat.platform.apiKey}` };
    expect((await mint(compat, '', { headers })).status).toBe(200);
  });

  it('ignores a body, whatever it says [13]', async () => {
    for (const [type, text] of [
      ['application/json', '{"expires_in":60}'],
      ['application/json', '{broken'],
      ['application/x-www-form-urlencoded', 'expires_in=60'],
    ] as const) {
      const headers = { 'api-key': 'good-key', 'content-type': type };
      const { status, body } = await mint(test, '', { headers, body: text });
      expect([status, body.expires_in]).toEqual([200, 900]);
    }
  });

  it.each(['abc', '1.5', '0', '-5', '', '1e3', 'NaN', '٣'])('refuses expires_in=%j with 400 [14]', async (asked) => {
    const { status, body } = await mint(test, `?expires_in=${encodeURIComponent(asked)}`);
    expect([status, body]).toEqual([400, { detail: expect.any(String) }]);
  });

  it('signs with RS256, verifiable with the published key; none and HS256 are refused [15]', async () => {
    const { body } = await mint(test);
    expect(decodeProtectedHeader(body.token).alg).toBe('RS256');
    const jwksUrl = new URL(`${test.platform.authUrl}/.well-known/jwks.json`);
    const { payload } = await jwtVerify(body.token, createRemoteJWKSet(jwksUrl));
    const jwks = await (await fetch(jwksUrl)).text();
    expect(jwks).not.toMatch(/"d"/);
    const forged = [
      new UnsecuredJWT(payload).encode(),
      await new SignJWT(payload).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(jwks)),
    ];
    for (const token of forged) {
      const answer = await fetch(`${test.platform.ttsUrl}/tts`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
      });
      expect(answer.status).toBe(401);
    }
  });

  it('shows the key in no answer, token or log line [16]', async () => {
    const { body } = await mint(test);
    await fetch(`${test.platform.authUrl}/api/auth/token?expires_in=x&key=good-key`, { headers: { 'api-key': 'good-key' } });
    await fetch(`${test.platform.asrUrl}/v1/audio/transcriptions?token=good-key`, {
      method: 'POST',
      headers: { authorization: 'Bearer good-key' },
    });
    expect(JSON.stringify(decodeJwt(body.token))).not.toContain('good-key');
    expect(lines.length).toBeGreaterThan(5);
    expect(lines.join('')).not.toContain('good-key');
    expect(lines.join('')).not.toContain(body.token);
  });

  it('removes ?token= from the access log [43]', async () => {
    const token = await mint(test).then(({ body }) => body.token);
    await using socket = await TestSocket.open(`${test.platform.ttsUrl}/ws?voice=Rajesh&token=${token}`);
    await fetch(`${test.platform.ttsUrl}/tts?token=${token}`, { method: 'POST' });
    const shown = lines.filter((line) => line.includes('token=[removed]'));
    expect(shown.length).toBeGreaterThanOrEqual(2);
    expect(shown.some((line) => line.includes('voice=Rajesh'))).toBe(true);
    expect(lines.join('')).not.toContain(token);
    expect(socket.closed).toBeUndefined();
  });

  it('stands without /v1 and not under it [17]', async () => {
    const headers = { 'api-key': 'good-key' };
    const elsewhere = await fetch(`${test.platform.authUrl}/v1/api/auth/token`, { method: 'POST', headers });
    expect([elsewhere.status, await elsewhere.json()]).toEqual([404, { detail: expect.any(String) }]);
    const get = await fetch(`${test.platform.authUrl}/api/auth/token`, { headers });
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
  });
});

describe('the mint rate', () => {
  it('allows 60 a minute for each key, then 429 with Retry-After until the window has passed [10] [11]', async () => {
    const clock = new ManualClock(0, Date.now());
    await using test = await startTestPlatform({ clock, apiKeys: [{ secret: 'one' }, { secret: 'two' }] });
    const as = (key: string) => mint(test, '', { headers: { 'api-key': key } });
    for (let index = 0; index < 60; index += 1) expect((await as('one')).status).toBe(200);
    clock.advance(10_000);
    const refused = await as('one');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBe(50);
    expect((await as('two')).status).toBe(200);
    clock.advance(50_000);
    expect((await as('one')).status).toBe(200);
  });

  it('makes a new development key for each platform', async () => {
    await using one = await startTestPlatform();
    await using two = await startTestPlatform();
    expect(one.platform.apiKey).toMatch(/^ofk_[\w-]{43}$/);
    expect(one.platform.apiKey).not.toBe(two.platform.apiKey);
  });
});

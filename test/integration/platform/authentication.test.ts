import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { Tokens } from '../../../src/platform/keys/tokens.ts';
import { startTestPlatform, type TestPlatform, TestSocket } from './setup.ts';

describe('authentication', () => {
  let test: TestPlatform;
  let token: string;
  beforeAll(async () => {
    test = await startTestPlatform();
    token = await test.token();
  });
  afterAll(() => test[Symbol.asyncDispose]());

  const protectedPaths = () => [
    `${test.platform.asrUrl}/v1/audio/transcriptions`,
    `${test.platform.ttsUrl}/v1/audio/speech`,
    `${test.platform.ttsUrl}/tts`,
    `${test.platform.ttsUrl}/`,
  ];
  const post = (url: string, authorization?: string) =>
    fetch(url, { method: 'POST', headers: authorization === undefined ? {} : { authorization } });

  it('refuses no header, another scheme, garbage, an expired token and an API key with 401 [37]', async () => {
    const expired = (await test.platform.tokens.mint('key_x', { lifeSeconds: -1 })).token;
    for (const url of protectedPaths()) {
      for (const header of [
        undefined,
        `Basic ${token}`,
        'Bearer',
        'Bearer a b',
        'Bearer x.y.z',
        `Bearer ${expired}`,
        `Bearer ${test.platform.apiKey}`,
      ]) {
        const answer = await post(url, header);
        expect([answer.status, await answer.json()]).toEqual([401, { detail: expect.any(String) }]);
        expect(answer.headers.get('x-request-id')).not.toBeNull();
      }
      expect((await post(url, `bearer ${token}`)).status).not.toBe(401);
    }
  });

  it('tells a client that sends an API key instead of a token where to get a token', async () => {
    const answer = await post(`${test.platform.ttsUrl}/tts`, `Bearer ${test.platform.apiKey}`);
    expect(await answer.json()).toEqual({ detail: expect.stringContaining('POST /api/auth/token') });
  });

  it('answers health and languages with no header and with garbage [38]', async () => {
    const open = [`${test.platform.asrUrl}/health`, `${test.platform.ttsUrl}/health`, `${test.platform.asrUrl}/languages`];
    for (const url of open) {
      expect((await fetch(url)).status).toBe(200);
      expect((await fetch(url, { headers: { authorization: 'Bearer garbage' } })).status).toBe(200);
    }
  });

  it('refuses another issuer, another audience, a foreign key and a token that is not valid yet [39]', async () => {
    let wallMs = Date.now();
    const clock = { ...systemClock, wallMs: () => wallMs };
    await using bent = await startTestPlatform({ clock });
    const { tokens, ttsUrl } = bent.platform;
    const stranger = await Tokens.create(clock);
    const ask = async (minted: Promise<{ token: string }>) =>
      (await post(`${ttsUrl}/tts`, `Bearer ${(await minted).token}`)).status;
    wallMs += 60_000;
    const early = tokens.mint('key_x', { lifeSeconds: 3600 });
    expect(await ask(early)).toBe(400); // let in: the body is missing
    wallMs -= 60_000;
    expect(await ask(early)).toBe(401);
    expect(await ask(tokens.mint('key_x', { lifeSeconds: 60, issuer: 'elsewhere' }))).toBe(401);
    expect(await ask(tokens.mint('key_x', { lifeSeconds: 60, audience: 'asr' }))).toBe(401);
    expect(await ask(stranger.mint('key_x', { lifeSeconds: 60 }))).toBe(401);
  });

  it('refuses a sound token that lacks the scope with 403 [41]', async () => {
    const asrOnly = (await test.platform.tokens.mint('key_x', { lifeSeconds: 60, scopes: ['asr'] })).token;
    expect((await post(`${test.platform.ttsUrl}/tts`, `Bearer ${asrOnly}`)).status).toBe(403);
    expect((await post(`${test.platform.asrUrl}/v1/audio/transcriptions`, `Bearer ${asrOnly}`)).status).toBe(400);
  });

  it('lets a synthesis socket in by header or by ?token=, and refuses the upgrade with 401 otherwise [42]', async () => {
    const url = `${test.platform.ttsUrl}/v1/realtime`;
    await using byHeader = await TestSocket.open(url, { authorization: `Bearer ${token}` });
    await using byQuery = await TestSocket.open(`${url}?token=${encodeURIComponent(token)}`);
    expect([byHeader.closed, byQuery.closed]).toEqual([undefined, undefined]);
    await expect(TestSocket.open(url)).rejects.toThrow('401');
    await expect(TestSocket.open(`${url}?token=${test.platform.apiKey}`)).rejects.toThrow('401');
    await expect(TestSocket.open(url, { authorization: 'Bearer x' })).rejects.toThrow('401');
  });

  it('lets a request that outlives its token finish [40]', async () => {
    let wallMs = Date.now();
    await using bent = await startTestPlatform({ clock: { ...systemClock, wallMs: () => wallMs } });
    await using socket = await TestSocket.ready(bent);
    wallMs += 86_400_000;
    socket.text('commit');
    await socket.until(() => socket.of('final').length === 1);
    expect(socket.closed).toBeUndefined();
  });

  it('takes API keys at Variant B, on all but health, with its own error body [44]', async () => {
    const { asrAltUrl, apiKey } = test.platform;
    expect((await fetch(`${asrAltUrl}/health`)).status).toBe(200);
    for (const authorization of ['Bearer wrong', `Bearer ${token}`]) {
      const refused = await fetch(`${asrAltUrl}/languages`, { headers: { authorization } });
      expect([refused.status, await refused.json()]).toEqual([
        401,
        { success: false, error: { code: 'authentication_error', message: expect.any(String) } },
      ]);
    }
    const headers = { authorization: `Bearer ${apiKey}` };
    expect((await fetch(`${asrAltUrl}/languages`, { headers })).status).toBe(200);
    const empty = await fetch(`${asrAltUrl}/v1/audio/transcriptions`, { method: 'POST', headers, body: 'x' });
    expect([empty.status, await empty.json()]).toMatchObject([400, { success: false, error: { code: 'invalid_request' } }]);
  });

  it('takes X-API-Key at the medical service and refuses a token there [45]', async () => {
    const url = `${test.platform.medUrl}/transcribe`;
    expect((await post(url, `Bearer ${token}`)).status).toBe(401);
    expect((await post(url, `Bearer ${test.platform.apiKey}`)).status).toBe(401);
    const known = await fetch(url, { method: 'POST', headers: { 'x-api-key': test.platform.apiKey }, body: new FormData() });
    expect([known.status, await known.json()]).toEqual([400, { detail: expect.any(String) }]);
  });

  it('says {ok:true} at the recognition health and lists voices at the synthesis health', async () => {
    expect(await (await fetch(`${test.platform.asrUrl}/health`)).json()).toEqual({ ok: true });
    const health = (await (await fetch(`${test.platform.ttsUrl}/health`)).json()) as { voices: string[]; default_voice: string };
    expect(health).toMatchObject({ status: 'ok' });
    expect(health.voices).toContain(health.default_voice);
  });

  it('lists 145 languages, model aliases and features; Variant B wants a credential for it [149]', async () => {
    const body = (await (await fetch(`${test.platform.asrUrl}/languages`)).json()) as Record<string, unknown[]>;
    expect(body['languages']).toHaveLength(145);
    expect(body['languages']).toContainEqual({ code: 'hi', name: 'Hindi', recognition: 'closed-vocabulary' });
    expect(body['languages']).toContainEqual({ code: 'ta', name: 'Tamil', recognition: 'none' });
    expect(body['recognised']).toBe(2);
    expect(body['models']!.length).toBeGreaterThan(0);
    expect(body['features']!.length).toBeGreaterThan(0);
    expect((await fetch(`${test.platform.asrAltUrl}/languages`)).status).toBe(401);
  });

  it('answers 404 and 405 with a detail [94]', async () => {
    const missing = await fetch(`${test.platform.asrUrl}/v1/nothing`);
    expect([missing.status, await missing.json()]).toEqual([404, { detail: expect.any(String) }]);
    const wrong = await fetch(`${test.platform.asrUrl}/v1/audio/transcriptions`);
    expect([wrong.status, await wrong.json()]).toEqual([405, { detail: expect.any(String) }]);
    const odd = await fetch(`${test.platform.asrUrl}/%zz`);
    expect([odd.status, await odd.json()]).toEqual([400, { detail: expect.any(String) }]);
  });
});

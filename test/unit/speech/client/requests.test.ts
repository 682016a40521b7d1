import { inspect } from 'node:util';
import { describe, expect, it, test } from 'vitest';
import { ManualClock } from '../../../support/manual-clock.ts';
import { SpeechHttp, type SpeechHttpOptions } from '../../../../src/speech/client/requests.ts';
import { CircuitBreaker } from '../../../../src/speech/client/circuit-breaker.ts';
import { apiKeyHeader, FixedToken, ProvidedTokens } from '../../../../src/speech/client/credentials.ts';
import { Slots } from '../../../../src/speech/client/slots.ts';
import { TokenSource } from '../../../../src/speech/client/tokens.ts';
import {
  API_KEY,
  type Answer,
  AUTH_URL,
  type Asked,
  failureOf,
  FakeFetch,
  minting,
  pass,
  refusing,
  settle,
} from '../fake-platform.ts';

const TOKEN = 'token-secret.of/this+account=';
const never = new AbortController().signal;

/** A sender whose service answers from a script, the last answer for ever, beside a token service that always mints. */
function sender(
  script: ((asked: Asked) => Answer)[],
  options: Partial<SpeechHttpOptions> = {},
): { http: SpeechHttp; clock: ManualClock; asked: () => Asked[]; mints: () => number } {
  const clock = options.clock instanceof ManualClock ? options.clock : new ManualClock();
  const answers = [...script];
  const mint = minting();
  const fake = new FakeFetch((asked) => {
    if (asked.url.origin === AUTH_URL) return mint();
    return (answers.length > 1 ? answers.shift() : answers[0])!(asked);
  });
  const base = { clock, fetch: fake.fetch, random: () => 0 };
  const tokens = new TokenSource({ ...base, authUrl: AUTH_URL, apiKey: API_KEY });
  return {
    http: new SpeechHttp({ ...base, tokens, timeoutMs: 120_000, ...options }),
    clock,
    asked: () => fake.asked.filter(({ url }) => url.origin !== AUTH_URL),
    mints: () => fake.asked.filter(({ url }) => url.origin === AUTH_URL).length,
  };
}

const request = { what: 'transcription', url: new URL('https://asr.example/v1/x'), method: 'POST' as const, body: form };

function form(): FormData {
  const fields = new FormData();
  fields.set('file', new Blob(['all of it']), 'a.wav');
  return fields;
}

/** A body as a caller's stream gives it: gone once it was read. */
function oneShot(): ReadableStream<Uint8Array> {
  return new Blob(['once']).stream();
}

const good = (): Response => Response.json({ text: 'hello' }, { headers: { 'x-request-id': 'req-7' } });

describe('requests', () => {
  it('sends a token, never the key, and gives the request id [89]', async () => {
    const { http, asked } = sender([good]);
    expect(await http.send(request, never)).toMatchObject({
      status: 200,
      text: '{"text":"hello"}',
      requestId: 'req-7',
      attempts: 1,
    });
    const headers = [...asked()[0]!.headers];
    expect(headers).toContainEqual(['authorization', expect.stringMatching(/^Bearer token-\d+\.made$/u)]);
    expect(JSON.stringify(headers)).not.toContain(API_KEY);
  });

  it('mints once and repeats once after a 401 [31]', async () => {
    const { http, asked, mints } = sender([refusing(401), good]);
    await http.send(request, never);
    const [first, second] = asked();
    expect(mints()).toBe(2);
    expect(second!.headers.get('authorization')).not.toBe(first!.headers.get('authorization'));
    expect(asked()).toHaveLength(2);
  });

  it('sends a body that can be read once no second time after a 401, and says so [33]', async () => {
    const { http, asked } = sender([refusing(401), good]);
    const error = await failureOf(http.send({ ...request, body: oneShot, isOneShot: true }, never));
    expect(error).toMatchObject({ code: 'OFFHOOK_SPEECH_AUTH', status: 401, attempts: 1 });
    expect(error.message).toContain('its body can be read once only');
    expect(asked()).toHaveLength(1);
  });

  test.each([
    { note: 'a lost connection', answer: (): Answer => new TypeError('fetch failed') },
    { note: 'a 503', answer: refusing(503) },
  ])('sends such a body no second time after $note [101]', async ({ answer }) => {
    const { http, asked } = sender([answer, good]);
    const error = await failureOf(http.send({ ...request, body: oneShot, isOneShot: true }, never));
    expect(error).toMatchObject({ code: 'OFFHOOK_SPEECH_UNAVAILABLE', attempts: 1 });
    expect(error.message).toContain('its body can be read once only');
    expect(asked()).toHaveLength(1);
  });

  it('never replaces a token from the caller by a mint, and lets the 401 surface [34]', async () => {
    const { http, asked, mints } = sender([refusing(401, 'expired'), good], { tokens: new FixedToken('their-own') });
    expect(await failureOf(http.send(request, never))).toMatchObject({ code: 'OFFHOOK_SPEECH_AUTH', attempts: 1 });
    expect(asked().map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer their-own']);
    expect(mints()).toBe(0);
  });

  it('asks a token provider of the caller once more after a 401', async () => {
    let given = 0;
    const tokens = new ProvidedTokens(() => `given-${(given += 1)}`);
    const { http, asked, mints } = sender([refusing(401), good], { tokens });
    await http.send(request, never);
    expect(asked().map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer given-1', 'Bearer given-2']);
    expect(mints()).toBe(0);
  });

  it('carries a key where a service takes the key itself', async () => {
    const { http, asked } = sender([good], { tokens: new FixedToken('the-key'), header: apiKeyHeader });
    await http.send(request, never);
    expect(asked()[0]!.headers.get('x-api-key')).toBe('the-key');
    expect(asked()[0]!.headers.get('authorization')).toBeNull();
  });

  it('gives its slot back while it waits for a repeat, and after the answer', async () => {
    const slots = new Slots(1);
    const { http, clock } = sender([refusing(503), good], { slots });
    const answer = http.send(request, never);
    await settle();
    expect(slots.free).toBe(1);
    clock.advance(1_000);
    await answer;
    expect(slots.free).toBe(1);
  });

  it('gives the head of an answer at once and its body as it is read, holding a slot until the end', async () => {
    const slots = new Slots(1);
    const { http, clock } = sender([() => new Response('one two')], { slots });
    const exchange = await http.open(request, never);
    expect(slots.free).toBe(0);
    const parts: Uint8Array[] = [];
    for await (const part of exchange.body()) parts.push(part);
    expect(Buffer.concat(parts).toString()).toBe('one two');
    expect(slots.free).toBe(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('breaks the transfer off when the loop over a body is left', async () => {
    let isCancelled = false;
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(8)),
      cancel: () => void (isCancelled = true),
    });
    const slots = new Slots(1);
    const { http } = sender([() => new Response(stream)], { slots });
    for await (const part of (await http.open(request, never)).body()) {
      expect(part).toHaveLength(8);
      break;
    }
    expect(isCancelled).toBe(true);
    expect(slots.free).toBe(1);
  });

  it('does not send again, nor blame the platform, when the file cannot be read on', async () => {
    const gone = new DOMException('The blob could not be read', 'NotReadableError');
    const breaker = new CircuitBreaker({ clock: new ManualClock(), service: 'transcription', failures: 1 });
    const { http, asked } = sender([() => new TypeError('fetch failed', { cause: gone })], { breaker });
    const error = await failureOf(http.send(request, never));
    expect(error).toMatchObject({ code: 'OFFHOOK_SPEECH_REQUEST', message: expect.stringContaining('file') });
    expect(asked()).toHaveLength(1);
    expect(breaker.isOpen).toBe(false);
  });

  it('says that it was time that ran out, where it was', async () => {
    const { http, clock } = sender([() => new Promise<Response>(() => undefined)], { maxRetries: 0 });
    const failure = failureOf(http.send({ ...request, timeoutMs: 7_000 }, never));
    await pass(clock, 7_000);
    expect(await failure).toMatchObject({ message: expect.stringContaining('no answer within 7000 ms') });
  });

  it('leaves a token provider that never answers when it is aborted', async () => {
    const tokens = new ProvidedTokens(() => new Promise<string>(() => undefined));
    const { http } = sender([good], { tokens });
    const aborting = new AbortController();
    const failure = failureOf(http.send(request, aborting.signal));
    await settle();
    aborting.abort(new Error('the call is over'));
    expect((await failure).message).toBe('the call is over');
  });

  it('tells how many requests an answer took', async () => {
    const { http, clock } = sender([refusing(503), refusing(503), good]);
    const answer = http.send(request, never);
    for (const waitMs of [1_000, 2_000]) {
      await pass(clock, waitMs);
    }
    expect(await answer).toMatchObject({ status: 200, attempts: 3 });
  });

  it('begins no repeat behind its deadline', async () => {
    const { http, clock, asked } = sender([refusing(503)], { deadlineMs: 2_500 });
    const failure = failureOf(http.send(request, never));
    await pass(clock, 1_000);
    expect(await failure).toMatchObject({ attempts: 2 });
    expect(asked()).toHaveLength(2);
  });

  it('asks a service that keeps failing no more for a while', async () => {
    const clock = new ManualClock();
    const breaker = new CircuitBreaker({ clock, service: 'transcription', failures: 2, pauseMs: 5_000 });
    const { http, asked } = sender([refusing(503), refusing(503), good], { clock, breaker, maxRetries: 0 });
    for (let request_ = 0; request_ < 4; request_ += 1) await failureOf(http.send(request, never));
    expect(asked()).toHaveLength(2);
    clock.advance(5_000);
    await http.send(request, never);
    await http.send(request, never);
    expect(asked()).toHaveLength(4);
  });

  it('takes a second 401 as final [31]', async () => {
    const { http, asked, mints } = sender([refusing(401, 'token not valid')]);
    const error = await failureOf(http.send(request, never));
    expect(error).toMatchObject({ code: 'OFFHOOK_SPEECH_AUTH', status: 401, retryable: false, attempts: 2 });
    expect(asked()).toHaveLength(2);
    expect(mints()).toBe(2);
  });

  it('mints once for twenty requests that are refused together [32]', async () => {
    let stale: string | null = null;
    const { http, mints, asked } = sender([
      ({ headers }) => {
        const token = headers.get('authorization');
        stale ??= token;
        return token === stale ? refusing(401)() : good();
      },
    ]);
    await Promise.all(Array.from({ length: 20 }, () => http.send(request, new AbortController().signal)));
    expect(mints()).toBe(2);
    expect(asked()).toHaveLength(40);
  });

  test.each([429, 500, 502, 503, 504])('repeats a %i after 1, 2 and 4 s, and then gives up [95]', async (status) => {
    const { http, clock, asked } = sender([refusing(status)]);
    const failure = failureOf(http.send(request, never));
    for (const [index, waitMs] of [1_000, 2_000, 4_000].entries()) {
      await pass(clock, waitMs - 1);
      expect(asked()).toHaveLength(index + 1);
      clock.advance(1);
    }
    expect(await failure).toMatchObject({ status, attempts: 4 });
    expect(asked()).toHaveLength(4);
    expect(clock.pendingTimers).toBe(0);
  });

  it('shortens its waits by a random part [95]', async () => {
    const { http, clock, asked } = sender([refusing(503), good], { random: () => 0.999_999 });
    const answer = http.send(request, never);
    await pass(clock, 749);
    expect(asked()).toHaveLength(1);
    clock.advance(2);
    await answer;
    expect(asked()).toHaveLength(2);
  });

  test.each([400, 402, 403, 404, 405, 413, 415, 422, 501])('asks once when the answer is %i [96]', async (status) => {
    const { http, asked } = sender([refusing(status, 'change it')]);
    const error = await failureOf(http.send(request, never));
    expect(error.message).toContain('change it');
    expect(asked()).toHaveLength(1);
  });

  test.each([
    { header: '7', waitMs: 7_000 },
    { header: 'Thu, 01 Jan 2026 00:00:09 GMT', waitMs: 9_000 },
    { header: '899', waitMs: 899_000 },
    { header: '0', waitMs: 1_000 },
    { header: 'Thu, 01 Jan 2025 00:00:00 GMT', waitMs: 1_000 },
  ])('waits $waitMs ms when told Retry-After: $header [97]', async ({ header, waitMs }) => {
    const { http, clock, asked } = sender([refusing(429, 'slow down', { 'retry-after': header }), good]);
    const answer = http.send(request, never);
    await pass(clock, waitMs - 1);
    expect(asked()).toHaveLength(1);
    clock.advance(1);
    await answer;
    expect(asked()).toHaveLength(2);
  });

  it('asks once, and says until when, where a day of waiting is asked for [97]', async () => {
    const { http, clock, asked } = sender([refusing(503, 'closed', { 'retry-after': '86400' })]);
    const { message, stack } = await failureOf(http.send(request, never));
    const until = new Date(clock.wallMs() + 86_400_000).toISOString();
    expect(message).toContain(`closed (HTTP 503); the platform asks to wait 86400 s, until ${until}`);
    expect(stack).toContain(until);
    expect(asked()).toHaveLength(1);
  });

  it.each(['1e13', '1e308'])('says that %s seconds are too long', async (header) => {
    const { http } = sender([refusing(503, 'closed', { 'retry-after': header })]);
    expect((await failureOf(http.send(request, never))).message).toContain('+275760-09-13T00:00:00.000Z');
  });

  it('shows no token that a refusal repeats, in whatever way', async () => {
    const said = `Bearer ${TOKEN} is not ${encodeURIComponent(TOKEN)}`;
    const escaped = Array.from(TOKEN, (character) => `\\u00${character.charCodeAt(0).toString(16)}`).join('');
    const body = `{"detail":${JSON.stringify(said)},"error":{"code":"${escaped}","message":"${escaped}"}}`;
    const refuse = (): Response => new Response(body, { status: 422, headers: { 'x-request-id': TOKEN } });
    const { http } = sender([refuse], { tokens: new FixedToken(TOKEN) });
    const error = await failureOf(http.send(request, never));
    expect(error.message).toContain('Bearer [token] is not [token]');
    const shown = JSON.stringify(error) + inspect(error, { depth: 9 });
    expect(shown).not.toMatch(/token-secret|\\u0074/u);
  });

  it('does not count the repeat after a 401 among the others [98]', async () => {
    const { http, clock, asked } = sender([refusing(401), refusing(503), refusing(503), refusing(503), good]);
    const answer = http.send(request, never);
    for (const waitMs of [1_000, 2_000, 4_000]) {
      await pass(clock, waitMs);
    }
    expect((await answer).status).toBe(200);
    expect(asked()).toHaveLength(5);
  });

  it('sends one request where no repeat is allowed, and tells so [100]', async () => {
    const { http, asked } = sender([refusing(503)], { maxRetries: 0 });
    expect(await failureOf(http.send(request, never))).toMatchObject({ status: 503, attempts: 1 });
    expect(asked()).toHaveLength(1);
  });

  it('repeats a request whose connection was lost, with all of its body [101]', async () => {
    const { http, clock, asked } = sender([() => new TypeError('fetch failed'), good]);
    const answer = http.send(request, never);
    await pass(clock, 1_000);
    await answer;
    const bodies = asked().map(({ body }) => body);
    expect(bodies).toHaveLength(2);
    expect(bodies[1]).not.toBe(bodies[0]);
    for (const body of bodies) {
      const file = (body as FormData).get('file');
      expect(file instanceof Blob ? await file.text() : undefined).toBe('all of it');
    }
  });

  it('gives up an attempt that does not answer in time', async () => {
    const { http, clock } = sender([() => new Promise<Response>(() => undefined), good]);
    const answer = http.send(request, never);
    await pass(clock, 119_999);
    expect(clock.pendingTimers).toBe(1);
    clock.advance(1);
    await pass(clock, 1_000);
    expect((await answer).status).toBe(200);
  });

  test.each([
    { note: 'waiting for the answer', script: [(): Answer => new Promise<Response>(() => undefined)] },
    { note: 'sleeping before a repeat', script: [refusing(503)] },
  ])('stops at once when aborted while $note, and leaves no timer', async ({ script }) => {
    const { http, clock, asked } = sender(script);
    const leaving = new AbortController();
    const failure = failureOf(http.send(request, leaving.signal));
    await settle();
    expect(clock.pendingTimers).toBe(1);
    leaving.abort(new Error('hung up'));
    expect((await failure).message).toBe('hung up');
    expect(clock.pendingTimers).toBe(0);
    expect(asked()).toHaveLength(1);
  });

  it('asks nothing for one who has gone already', async () => {
    const { http, asked, mints } = sender([good]);
    expect((await failureOf(http.send(request, AbortSignal.abort(new Error('gone'))))).message).toBe('gone');
    expect(asked()).toHaveLength(0);
    expect(mints()).toBe(0);
  });
});

import { describe, expect, it, test } from 'vitest';
import { ManualClock } from '../../../src/sim/manual-clock.ts';
import { SpeechHttp, type SpeechHttpOptions } from '../../../src/speech/requests.ts';
import { TokenSource } from '../../../src/speech/tokens.ts';
import { API_KEY, type Answer, AUTH_URL, type Asked, FakeFetch, minting, refusing, settle } from './fake-platform.ts';

const never = new AbortController().signal;

/** A sender whose service answers from a script, the last answer for ever, beside a token service that always mints. */
function sender(
  script: ((asked: Asked) => Answer)[],
  options: Partial<SpeechHttpOptions> = {},
): { http: SpeechHttp; clock: ManualClock; asked: () => Asked[]; mints: () => number } {
  const clock = new ManualClock();
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

async function failureOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('it did not fail');
}

const good = (): Response => Response.json({ text: 'hello' }, { headers: { 'x-request-id': 'req-7' } });

describe('requests', () => {
  it('sends a token, never the key, and gives the request id [89]', async () => {
    const { http, asked } = sender([good]);
    expect(await http.send(request, never)).toEqual({ status: 200, text: '{"text":"hello"}', requestId: 'req-7' });
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
      await settle();
      clock.advance(waitMs - 1);
      await settle();
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
    await settle();
    clock.advance(749);
    await settle();
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
    { header: '3600', waitMs: 60_000 },
    { header: '0', waitMs: 50 },
  ])('waits $waitMs ms when told Retry-After: $header [97]', async ({ header, waitMs }) => {
    const { http, clock, asked } = sender([refusing(429, 'slow down', { 'retry-after': header }), good]);
    const answer = http.send(request, never);
    await settle();
    clock.advance(waitMs - 1);
    await settle();
    expect(asked()).toHaveLength(1);
    clock.advance(1);
    await answer;
    expect(asked()).toHaveLength(2);
  });

  it('does not count the repeat after a 401 among the others [98]', async () => {
    const { http, clock, asked } = sender([refusing(401), refusing(503), refusing(503), refusing(503), good]);
    const answer = http.send(request, never);
    for (const waitMs of [1_000, 2_000, 4_000]) {
      await settle();
      clock.advance(waitMs);
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
    await settle();
    clock.advance(1_000);
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
    await settle();
    clock.advance(119_999);
    await settle();
    expect(clock.pendingTimers).toBe(1);
    clock.advance(1);
    await settle();
    clock.advance(1_000);
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

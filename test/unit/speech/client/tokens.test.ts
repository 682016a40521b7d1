import { inspect } from 'node:util';
import { describe, expect, it, test } from 'vitest';
import { errorFields } from '../../../../src/observability/logger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { MemoryTokenStore, type TokenStore } from '../../../../src/speech/client/token-store.ts';
import { API_KEY, FakeFetch, minting, refusing, settle, tokensOn, failureOf, pass } from '../fake-platform.ts';

/** Moves the clock on until the promise settles. */
async function sharedAfterWaits(promise: Promise<string>, clock: ManualClock): Promise<string> {
  const done = promise.then(
    () => true,
    () => true,
  );
  for (let turn = 0; turn < 50; turn += 1) {
    if (await Promise.race([done, settle().then(() => false)])) break;
    clock.advance(100);
  }
  return promise;
}

describe('token source', () => {
  it('mints once for a hundred concurrent first calls [20]', async () => {
    const fake = new FakeFetch(minting());
    const { tokens } = tokensOn(fake);
    const given = await Promise.all(Array.from({ length: 100 }, () => tokens.get()));
    expect(new Set(given).size).toBe(1);
    expect(fake.asked).toHaveLength(1);
  });

  it('mints no second time inside the lifetime [21]', async () => {
    const fake = new FakeFetch(minting());
    const { tokens, clock } = tokensOn(fake);
    const first = await tokens.get();
    clock.advance(700_000);
    expect(await tokens.get()).toBe(first);
    expect(fake.asked).toHaveLength(1);
  });

  it('renews in the background inside the margin while calls keep the valid token [22]', async () => {
    let answer: (response: Response) => void = () => undefined;
    const fake = new FakeFetch(minting(), () => new Promise<Response>((resolve) => (answer = resolve)));
    const { tokens, clock } = tokensOn(fake);
    const first = await tokens.get();
    clock.advance(800_000);
    expect(await Promise.all([tokens.get(), tokens.get(), tokens.get()])).toEqual([first, first, first]);
    await settle();
    expect(fake.asked).toHaveLength(2);
    answer(Response.json({ token: 'successor', expires_in: 900 }));
    await settle();
    expect(await tokens.get()).toBe('successor');
  });

  it('is not moved by the wall clock [23]', async () => {
    const fake = new FakeFetch(minting({ expires_in: 900, expires_at: '2026-01-01T00:15:00Z' }));
    const { tokens, clock } = tokensOn(fake);
    await tokens.get();
    for (const jumpMs of [3_600_000, -7_200_000]) {
      clock.jumpWall(jumpMs);
      await tokens.get();
    }
    expect(fake.asked).toHaveLength(1);
    clock.advance(901_000);
    await tokens.get();
    expect(fake.asked).toHaveLength(2);
  });

  test.each([
    { note: 'expires_at as text', body: { expires_at: '2026-01-01T00:10:00Z' }, lifeMs: 600_000 },
    { note: 'expires_at as Unix seconds', body: { expires_at: Date.UTC(2026, 0, 1) / 1000 + 600 }, lifeMs: 600_000 },
    { note: 'both missing', body: {}, lifeMs: 900_000 },
    { note: 'both unreadable', body: { expires_in: 'soon', expires_at: 'never' }, lifeMs: 900_000 },
    { note: 'a lifetime other than the one asked for', body: { expires_in: 60 }, lifeMs: 60_000 },
  ])('takes the lifetime from $note [24] [25]', async ({ body, lifeMs }) => {
    const fake = new FakeFetch(minting(body));
    const { tokens, clock } = tokensOn(fake, { lifeSeconds: 86_400 });
    const first = await tokens.get();
    clock.advance(lifeMs - 1);
    expect(await tokens.get()).toBe(first);
    await pass(clock, lifeMs);
    expect(await tokens.get()).not.toBe(first);
    expect(fake.asked[0]!.url.searchParams.get('expires_in')).toBe('86400');
  });

  it('refuses a lifetime that is not a whole number of seconds', () => {
    for (const lifeSeconds of [0, -1, 1.5, Number.NaN])
      expect(() => tokensOn(new FakeFetch(), { lifeSeconds })).toThrow(RangeError);
  });

  it('sends the key in the api-key header of the token endpoint and nowhere else [26]', async () => {
    const fake = new FakeFetch(minting());
    const { tokens } = tokensOn(fake);
    await tokens.get();
    const [asked] = fake.asked;
    expect(asked!.method).toBe('POST');
    expect(asked!.url.pathname).toBe('/api/auth/token');
    expect(asked!.headers.get('api-key')).toBe(API_KEY);
    expect(asked!.body).toBeUndefined();
    const rest = [...asked!.headers].filter(([name]) => name !== 'api-key');
    expect(JSON.stringify([String(asked!.url), rest])).not.toContain(API_KEY);
  });

  test.each([400, 401, 402, 403])('takes %i of the mint as final after one request [27]', async (status) => {
    const fake = new FakeFetch(refusing(status, 'this key is revoked'));
    const { tokens } = tokensOn(fake);
    const error = await failureOf(tokens.get());
    expect(error).toMatchObject({ status, retryable: false });
    expect(error.message).toContain('this key is revoked');
    expect(fake.asked).toHaveLength(1);
  });

  it('cuts a lifetime over a day to a day, on the way out and on the way in', async () => {
    const fake = new FakeFetch(minting({ expires_in: 1e300 }));
    const { tokens } = tokensOn(fake, { lifeSeconds: 1e21 });
    await tokens.get();
    expect(fake.asked[0]?.url.searchParams.get('expires_in')).toBe('86400');
    expect(tokens.lifeLeftMs).toBe(86_400_000);
  });

  it('reports the Retry-After of the token service when it is a day', async () => {
    const fake = new FakeFetch(refusing(429, 'slow down', { 'retry-after': '86400' }));
    const { tokens } = tokensOn(fake);
    expect((await failureOf(tokens.get())).message).toMatch(/asks to wait 86400 s, until \d{4}-/u);
    expect(fake.asked).toHaveLength(1);
  });

  it('backs off where the token service says Retry-After: 0', async () => {
    const fake = new FakeFetch(refusing(429, 'slow down', { 'retry-after': '0' }), minting());
    const { tokens, clock } = tokensOn(fake);
    const token = tokens.get();
    await pass(clock, 999);
    expect(fake.asked).toHaveLength(1);
    clock.advance(1);
    await token;
  });

  it('waits as long as a 429 says, one wait for all callers [28]', async () => {
    const fake = new FakeFetch(refusing(429, 'slow down', { 'retry-after': '17' }), minting());
    const { tokens, clock } = tokensOn(fake);
    const all = Promise.all([tokens.get(), tokens.get(), tokens.get()]);
    await pass(clock, 16_999);
    expect(fake.asked).toHaveLength(1);
    clock.advance(1);
    expect(new Set(await all).size).toBe(1);
    expect(fake.asked).toHaveLength(2);
  });

  test.each([
    { random: 0, waits: [1_000, 2_000, 4_000] },
    { random: 0.999_999, waits: [750, 1_500, 3_000] },
  ])('waits 1, 2 and 4 s, less jitter, when a 429 says nothing (random $random) [28]', async ({ random, waits }) => {
    const fake = new FakeFetch(refusing(429));
    const { tokens, clock } = tokensOn(fake, { random: () => random });
    const failure = failureOf(tokens.get());
    for (const [index, waitMs] of waits.entries()) {
      await pass(clock, waitMs - 1);
      expect(fake.asked).toHaveLength(index + 1);
      clock.advance(2);
    }
    expect(await failure).toMatchObject({ status: 429, retryable: true });
    expect(fake.asked).toHaveLength(4);
  });

  test.each([
    { note: 'a 503', answer: refusing(503) },
    { note: 'a lost connection', answer: () => new TypeError('fetch failed') },
  ])('repeats after $note [29]', async ({ answer }) => {
    const fake = new FakeFetch(answer, minting());
    const { tokens, clock } = tokensOn(fake);
    const token = tokens.get();
    await pass(clock, 1_000);
    expect(await token).toMatch(/^token-/u);
  });

  it('gives up a mint that does not answer, and repeats it [29]', async () => {
    const fake = new FakeFetch(() => new Promise<Response>(() => undefined), minting());
    const { tokens, clock } = tokensOn(fake);
    const token = tokens.get();
    await pass(clock, 10_000);
    clock.advance(1_000);
    expect(await token).toMatch(/^token-/u);
  });

  it('keeps the old token while a background renewal fails, without storming the service [29]', async () => {
    const fake = new FakeFetch(minting(), refusing(403));
    const { tokens, clock } = tokensOn(fake);
    const first = await tokens.get();
    clock.advance(790_000);
    for (let call = 0; call < 50; call += 1) {
      expect(await tokens.get()).toBe(first);
      await pass(clock, 100);
    }
    expect(fake.asked).toHaveLength(2);
    clock.advance(5_000);
    expect(await tokens.get()).toBe(first);
    await settle();
    expect(fake.asked).toHaveLength(3);
  });

  it('does not keep a failure [30]', async () => {
    const fake = new FakeFetch(refusing(403), minting());
    const { tokens } = tokensOn(fake);
    await failureOf(tokens.get());
    expect(await tokens.get()).toMatch(/^token-/u);
  });

  it('mints once when twenty callers bring back the same refused token [32]', async () => {
    const fake = new FakeFetch(minting());
    const { tokens } = tokensOn(fake);
    const stale = await tokens.get();
    const fresh = await Promise.all(
      Array.from({ length: 20 }, async () => {
        tokens.invalidate(stale);
        return tokens.get();
      }),
    );
    tokens.invalidate(stale);
    expect(new Set([...fresh, await tokens.get()]).size).toBe(1);
    expect(fresh[0]).not.toBe(stale);
    expect(fake.asked).toHaveLength(2);
  });

  it('lets one caller abort without stopping the mint of the others', async () => {
    let answer: (response: Response) => void = () => undefined;
    const fake = new FakeFetch(() => new Promise<Response>((resolve) => (answer = resolve)));
    const { tokens } = tokensOn(fake);
    const leaving = new AbortController();
    const gone = failureOf(tokens.get(leaving.signal));
    const staying = tokens.get(new AbortController().signal);
    leaving.abort(new Error('hung up'));
    expect((await gone).message).toBe('hung up');
    await settle();
    answer(Response.json({ token: 'late', expires_in: 900 }));
    expect(await staying).toBe('late');
  });

  it('stops waiting when the client is closed, and leaves no timer', async () => {
    const closing = new AbortController();
    const { tokens, clock } = tokensOn(new FakeFetch(refusing(503)), { closing: closing.signal });
    const failure = failureOf(tokens.get());
    await settle();
    expect(clock.pendingTimers).toBe(1);
    closing.abort(new Error('closed'));
    expect((await failure).message).toBe('closed');
    expect(clock.pendingTimers).toBe(0);
  });

  it('renews up to half of its margin later by chance, so that processes do not renew together', async () => {
    const fake = new FakeFetch(minting());
    const { tokens, clock } = tokensOn(fake, { random: () => 0.999_999 });
    await tokens.get();
    clock.advance(839_000);
    await tokens.get();
    await settle();
    expect(fake.asked).toHaveLength(1);
    clock.advance(1_500);
    await tokens.get();
    await settle();
    expect(fake.asked).toHaveLength(2);
  });

  it('asks nothing with a key that has a line break, and does not repeat it', async () => {
    const fake = new FakeFetch(minting());
    const { tokens } = tokensOn(fake, { apiKey: `${API_KEY}\nx` });
    const error = await failureOf(tokens.get());
    expect(error).toMatchObject({ retryable: false });
    expect(fake.asked).toHaveLength(0);
    expect(inspect(error, { depth: 9 })).not.toContain(API_KEY);
  });

  it('takes the token of another client of the same key and store, and mints none', async () => {
    const clock = new ManualClock();
    const store = new MemoryTokenStore(clock);
    const fake = new FakeFetch(minting());
    const sources = Array.from({ length: 5 }, () => tokensOn(fake, { clock, store }).tokens);
    const given = await Promise.all(sources.map((tokens) => sharedAfterWaits(tokens.get(), clock)));
    expect(new Set(given).size).toBe(1);
    expect(fake.asked).toHaveLength(1);
    const [first] = sources;
    first!.invalidate(given[0]!);
    expect(await first!.get()).not.toBe(given[0]);
    expect(fake.asked).toHaveLength(2);
  });

  it('mints itself when the process with the claim has died', async () => {
    const clock = new ManualClock();
    const store: TokenStore = Object.assign(new MemoryTokenStore(clock), { claim: async () => false });
    const fake = new FakeFetch(minting());
    expect(await sharedAfterWaits(tokensOn(fake, { clock, store }).tokens.get(), clock)).toMatch(/^token-/u);
    expect(fake.asked).toHaveLength(1);
  });

  it('takes the token that another client minted between its look and its claim', async () => {
    const clock = new ManualClock();
    const store = new MemoryTokenStore(clock);
    const fake = new FakeFetch(minting());
    const other = tokensOn(fake, { clock, store }).tokens;
    const slowToTell: TokenStore = {
      async read(keyId) {
        const found = await store.read(keyId);
        await other.get();
        return found;
      },
      takeMint: (keyId) => store.takeMint(keyId),
      write: (keyId, token) => store.write(keyId, token),
      claim: (keyId, owner, holdMs) => store.claim(keyId, owner, holdMs),
      release: (keyId, owner) => store.release(keyId, owner),
      [Symbol.asyncDispose]: async () => undefined,
    };
    expect(await tokensOn(fake, { clock, store: slowToTell }).tokens.get()).toBe(await other.get());
    expect(fake.asked).toHaveLength(1);
  });

  it('shares nothing with a client of another key', async () => {
    const clock = new ManualClock();
    const store = new MemoryTokenStore(clock);
    const fake = new FakeFetch(minting());
    const ours = await tokensOn(fake, { clock, store }).tokens.get();
    expect(await tokensOn(fake, { clock, store, apiKey: 'another-key' }).tokens.get()).not.toBe(ours);
  });

  it('makes no more than sixty mints in a minute for all clients of a key, and waits for the next', async () => {
    const clock = new ManualClock();
    const store = new MemoryTokenStore(clock);
    const fake = new FakeFetch(minting());
    const { tokens } = tokensOn(fake, { clock, store });
    for (let mint = 0; mint < 60; mint += 1) tokens.invalidate(await tokens.get());
    const next = tokens.get();
    await pass(clock, 59_999);
    expect(fake.asked).toHaveLength(60);
    clock.advance(1);
    await next;
    expect(fake.asked).toHaveLength(61);
  });

  test.each([
    { note: 'no token', body: {} },
    { note: 'an empty token', body: { token: '' } },
    { note: 'a token that no header can carry', body: { token: 'a\nb' } },
  ])('takes an answer with $note as a broken protocol', async ({ body }) => {
    const { tokens } = tokensOn(new FakeFetch(() => Response.json(body)));
    expect(await failureOf(tokens.get())).toMatchObject({ code: 'OFFHOOK_SPEECH_PROTOCOL' });
  });

  it('shows neither key nor token when inspected, serialised, logged or failing [35]', async () => {
    const echo = new FakeFetch(({ headers }) => Response.json({ detail: `bad ${headers.get('api-key')}` }, { status: 403 }));
    const { tokens: refused } = tokensOn(echo);
    const { tokens: holding } = tokensOn(new FakeFetch(() => Response.json({ token: 'the-token-itself', expires_in: 900 })));
    await holding.get();
    const error = await failureOf(refused.get());
    for (const thing of [refused, holding, error, errorFields(error)]) {
      const shown = `${inspect(thing, { depth: 9, showHidden: true })}${JSON.stringify(thing)}${String(thing)}`;
      expect(shown).not.toContain(API_KEY);
      expect(shown).not.toContain('the-token-itself');
    }
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sleep } from '../../src/kernel/waiting.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { RedisTokenStore } from '../../src/speech/client/redis-token-store.ts';
import { MemoryTokenStore, type TokenStore } from '../../src/speech/client/token-store.ts';
import { TokenSource } from '../../src/speech/client/tokens.ts';
import { FakeFetch, minting } from '../unit/speech/fake-platform.ts';
import { type TestServer, startRedis } from '../support/redis-server.ts';
import { requireTool } from '../support/requires.ts';

const redisProgram = requireTool('redis-server');
let redis: TestServer | undefined;

beforeAll(async () => {
  if (redisProgram !== undefined) redis = await startRedis(redisProgram);
});
afterAll(async () => {
  await redis?.[Symbol.asyncDispose]();
});

describe.each([
  { place: 'memory', installed: true },
  { place: 'Redis', installed: redisProgram !== undefined },
] as const)('the shared token store in $place', ({ place, installed }) => {
  const memory = new MemoryTokenStore(systemClock);
  const opened: TokenStore[] = [];
  // Each call is another process, as far as Redis can tell.
  const open = (): TokenStore => {
    if (place === 'memory') return memory;
    const store = new RedisTokenStore({ url: redis?.url ?? '', clock: systemClock, logger: silentLogger });
    opened.push(store);
    return store;
  };
  afterAll(async () => {
    for (const store of opened) await store[Symbol.asyncDispose]();
  });

  it.runIf(installed)('gives sixty mints a minute to all who ask, by key', async () => {
    const stores = [open(), open()];
    const waits = await Promise.all(Array.from({ length: 64 }, (_, index) => stores[index % 2]!.takeMint('budget')));
    expect(waits.filter((waitMs) => waitMs === 0)).toHaveLength(60);
    for (const waitMs of waits.filter((wait) => wait > 0)) {
      expect(waitMs).toBeGreaterThan(50_000);
      expect(waitMs).toBeLessThanOrEqual(60_000);
    }
    expect(await stores[0]!.takeMint('another budget')).toBe(0);
  });

  it.runIf(installed)('keeps the newest token until it ends', async () => {
    const [ours, theirs] = [open(), open()];
    expect(await theirs.read('token')).toBeUndefined();
    await ours.write('token', { sealed: 'first', lifeMs: 60_000 });
    await ours.write('token', { sealed: 'second', lifeMs: 60_000 });
    const read = await theirs.read('token');
    expect(read?.sealed).toBe('second');
    expect(read?.lifeMs).toBeGreaterThan(50_000);
    await ours.write('token', { sealed: 'short', lifeMs: 30 });
    await sleep(systemClock, 60);
    expect(await theirs.read('token')).toBeUndefined();
  });

  it.runIf(installed)('lets one client mint at a time, until it releases the lock or takes too long', async () => {
    const [ours, theirs] = [open(), open()];
    expect(await ours.claim('claim', 'us', 60_000)).toBe(true);
    expect(await theirs.claim('claim', 'them', 60_000)).toBe(false);
    expect(await ours.claim('claim', 'us', 60_000)).toBe(true);
    await theirs.release('claim', 'them');
    expect(await theirs.claim('claim', 'them', 60_000)).toBe(false);
    await ours.release('claim', 'us');
    expect(await theirs.claim('claim', 'them', 30)).toBe(true);
    await sleep(systemClock, 60);
    expect(await ours.claim('claim', 'us', 60_000)).toBe(true);
  });

  it.runIf(installed)('lets many clients that start together mint once', async () => {
    const fake = new FakeFetch(minting());
    const sources = Array.from(
      { length: 6 },
      () =>
        new TokenSource({
          authUrl: 'https://auth.example',
          apiKey: `key-of-${place}`,
          clock: systemClock,
          fetch: fake.fetch,
          store: open(),
        }),
    );
    const tokens = await Promise.all(sources.map((source) => source.get()));
    expect(new Set(tokens).size).toBe(1);
    expect(fake.asked).toHaveLength(1);
  });
});

describe('the shared token store without its Redis', () => {
  it('mints from a budget of its own while Redis is away', async () => {
    // Nobody listens on the port of discard.
    await using store = new RedisTokenStore({ url: 'redis://127.0.0.1:9', clock: systemClock, logger: silentLogger });
    const fake = new FakeFetch(minting());
    const source = new TokenSource({
      authUrl: 'https://auth.example',
      apiKey: 'a-key',
      clock: systemClock,
      fetch: fake.fetch,
      store,
    });
    expect(await source.get()).toMatch(/^token-/u);
    expect(await store.takeMint('other')).toBe(0);
  });

  it.runIf(redisProgram !== undefined)('keeps no token in Redis that others could read', async () => {
    await using store = new RedisTokenStore({ url: redis?.url ?? '', clock: systemClock, logger: silentLogger });
    const fake = new FakeFetch(minting());
    const source = new TokenSource({
      authUrl: 'https://a.example',
      apiKey: 'sealed-key',
      clock: systemClock,
      fetch: fake.fetch,
      store,
    });
    const token = await source.get();
    const { Redis } = await import('ioredis');
    const reader = new Redis(redis?.url ?? '');
    const values = await Promise.all((await reader.keys('offhook:speech:token:*')).map((key) => reader.get(key)));
    reader.disconnect();
    expect(values.length).toBeGreaterThan(0);
    expect(values.map((value) => Buffer.from(value ?? '', 'base64').toString('latin1')).join()).not.toContain(token);
    expect(values.join()).not.toContain(token);
  });
});

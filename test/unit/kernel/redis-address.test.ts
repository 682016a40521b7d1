import { describe, expect, it, test } from 'vitest';
import { parseRedisAddress } from '../../../src/kernel/redis-address.ts';

const access = { tls: false };

describe('an address of Redis', () => {
  test.each([
    { url: 'redis://localhost:6379/2', address: { kind: 'single', url: 'redis://localhost:6379/2' } },
    { url: 'rediss://:s%40@cache.test', address: { kind: 'single', url: 'rediss://:s%40@cache.test' } },
    {
      url: 'redis+sentinel://a,b:26380/mymaster',
      address: {
        kind: 'sentinel',
        sentinels: [
          { host: 'a', port: 26_379 },
          { host: 'b', port: 26_380 },
        ],
        name: 'mymaster',
        db: 0,
        access,
      },
    },
    {
      url: 'rediss+sentinel://me:p%3Ass@[::1]:5000/main/3',
      address: {
        kind: 'sentinel',
        sentinels: [{ host: '::1', port: 5000 }],
        name: 'main',
        db: 3,
        access: { tls: true, username: 'me', password: 'p:ss' },
      },
    },
    {
      url: 'redis+cluster://:word@n1:7000,n2',
      address: {
        kind: 'cluster',
        nodes: [
          { host: 'n1', port: 7000 },
          { host: 'n2', port: 6379 },
        ],
        access: { tls: false, password: 'word' },
      },
    },
  ])('$url', ({ url, address }) => expect(parseRedisAddress(url)).toEqual(address));

  it.each([
    '',
    'http://x',
    'redis://',
    'redis://a,b',
    'redis+sentinel://a',
    'redis+sentinel://a/m/x',
    'redis+cluster://a:99999',
    'redis+ring://a',
  ])('is not %j, and the message does not repeat it', (url) => {
    expect(() => parseRedisAddress(url)).toThrow(expect.objectContaining({ code: 'OFFHOOK_REDIS_ADDRESS' }));
    const secret = `${url}:hunter2@`;
    expect(() => parseRedisAddress(secret)).toThrow(expect.not.objectContaining({ message: expect.stringContaining('hunter2') }));
  });
});

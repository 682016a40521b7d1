import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { networksOf } from '../../../src/config/networks.ts';

describe('networksOf', () => {
  it.each([
    ['10.0.0.5', '10.0.0.5', 'ipv4', true],
    ['10.0.0.5', '10.0.0.6', 'ipv4', false],
    ['10.1.0.0/16, fd00::/8', '10.1.200.3', 'ipv4', true],
    ['10.1.0.0/16, fd00::/8', 'fd12::1', 'ipv6', true],
    ['10.1.0.0/16, fd00::/8', 'fe80::1', 'ipv6', false],
    ['127.0.0.1', '::ffff:127.0.0.1', 'ipv6', true],
    ['', '127.0.0.1', 'ipv4', false],
  ] as const)('%s has %s: %s %s', (named, address, family, expected) =>
    expect(networksOf(named).networks.check(address, family)).toBe(expected),
  );

  it.each([
    'proxy.example.com',
    '10.0.0.0/33',
    '10.0.0.0/0',
    '::/0',
    '10.0.0.0/8/8',
    '10.0.0.0/x',
    '10.0.0',
    'fd00::/129',
    '[::1]',
  ])('takes %s for no network', (named) => {
    expect(networksOf(`127.0.0.1, ${named}`).wrong).toEqual([named]);
    const { problems } = loadConfig({ env: { OFFHOOK_HTTP__TRUSTED_PROXIES: named }, files: [] });
    expect(problems).toMatchObject([{ key: 'http.trustedProxies' }]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { basicCredentials, hasBasicCredentials } from '../../../src/carriers/proofs.ts';
import { Secret } from '../../../src/config/secrets.ts';

const passwords = [new Secret('new:one'), new Secret('old')];

describe('hasBasicCredentials', () => {
  it.each(['new:one', 'old'])('accepts the user with the password %s', (password) => {
    expect(hasBasicCredentials(basicCredentials('exotel', password), 'exotel', passwords)).toBe(true);
  });

  it.each([
    ['another user', basicCredentials('other', 'old')],
    ['another password', basicCredentials('exotel', 'older')],
    ['no password', basicCredentials('exotel', '')],
    ['no colon', `Basic ${Buffer.from('exotel').toString('base64')}`],
    ['another scheme', basicCredentials('exotel', 'old').replace('Basic', 'Bearer')],
    ['no header', undefined],
    ['a very long header', basicCredentials('exotel', 'x'.repeat(10_000))],
  ])('refuses %s', (_, header) => {
    expect(hasBasicCredentials(header, 'exotel', passwords)).toBe(false);
  });

  it('never throws, and is refused without a secret', () => {
    fc.assert(fc.property(fc.string(), (header) => !hasBasicCredentials(header, 'exotel', passwords)));
    expect(hasBasicCredentials(basicCredentials('exotel', ''), 'exotel', [])).toBe(false);
  });
});

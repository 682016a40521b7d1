import { describe, expect, it } from 'vitest';
import { isPublicAddress, publicLookup } from '../../../src/kernel/public-address.ts';

describe('public addresses', () => {
  it.each(['8.8.8.8', '93.184.216.34', '172.32.0.1', '2606:4700::1111'])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '10.0.0.1',
    '100.64.0.1',
    '127.1.2.3',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    'fe80::1',
    'fd12::1',
    'ff02::1',
    '2002:a00:1::',
    '2001:0:1::',
    '2001:db8::1',
    'example.com',
  ])('%s is not', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  const look = (addresses: { address: string; family: number }[], all: boolean) =>
    new Promise((resolve) => {
      publicLookup(
        async () => addresses,
        () => new Error('this address is not public'),
      )('name.test', { all }, (error, address) => resolve(error ?? address));
    });
  const open = { address: '93.184.216.34', family: 4 };
  const inner = { address: '127.0.0.1', family: 4 };

  it('a connection gets the address that was checked', async () => {
    expect(await look([open], false)).toBe('93.184.216.34');
    expect(await look([open], true)).toEqual([open]);
  });

  it('a name with one private address is refused, and so is one without addresses', async () => {
    expect(await look([open, inner], true)).toMatchObject({ message: 'this address is not public' });
    expect(await look([inner], false)).toMatchObject({ message: 'this address is not public' });
    expect(await look([], false)).toMatchObject({ message: 'this address is not public' });
  });
});

import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';

// Networks that are not globally reachable by the special-purpose registries (RFC 6890 and its successors).
const hidden = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  hidden.addSubnet(network, prefix, 'ipv4');
}
// Only IPv6 global unicast is public, without tunnels and documentation addresses.
const global = new BlockList();
global.addSubnet('2000::', 3, 'ipv6');
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  hidden.addSubnet(network, prefix, 'ipv6');
}

/** @param address an IP address, without brackets */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !hidden.check(address, 'ipv4');
  return family === 6 && global.check(address, 'ipv6') && !hidden.check(address, 'ipv6');
}

export type ResolveName = (host: string) => Promise<readonly LookupAddress[]>;

export const resolveName: ResolveName = (host) => lookup(host, { all: true });

/**
 * A DNS look-up for one connection, which connects to the address that was checked: DNS rebinding gains nothing. A name with any
 * address that is not public is refused.
 * @param refused makes the error of a refused look-up
 */
export function publicLookup(resolve: ResolveName, refused: () => Error): LookupFunction {
  const addressesOf = async (host: string): Promise<readonly [LookupAddress, ...LookupAddress[]]> => {
    const [first, ...rest] = await resolve(host);
    if (first === undefined || ![first, ...rest].every(({ address }) => isPublicAddress(address))) throw refused();
    return [first, ...rest];
  };
  return (host, options, answer) => {
    void addressesOf(host).then(
      ([first, ...rest]) => (options.all === true ? answer(null, [first, ...rest]) : answer(null, first.address, first.family)),
      (error: NodeJS.ErrnoException) => answer(error, '', 0),
    );
  };
}

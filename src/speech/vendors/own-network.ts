import { isIP } from 'node:net';
import { isPublicAddress } from '../../kernel/public-address.ts';

/** Names that public name servers do not give out (RFC 6761, RFC 6762, RFC 8375, and ICANN's `internal`). */
const OWN_NAMES = /(?:^|\.)(?:localhost|local|internal|home\.arpa|lan|test)$/u;

/** Whether a host, as a URL names it, is on this machine or network by its name alone: no look-up is made. */
export function isOwnNetwork(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/gu, '');
  if (isIP(host) !== 0) return !isPublicAddress(host);
  // One label is the name of a machine, or of a container beside this one.
  return OWN_NAMES.test(host) || !host.includes('.');
}

/** What is wrong with an address at which a key is used: without TLS it may be used on this machine and network alone. */
export function keyAddressProblems(url: string, setting = 'baseUrl'): { readonly setting: string; readonly message: string }[] {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || protocol === 'wss:' || isOwnNetwork(hostname)) return [];
  return [{ setting, message: `would send the key unencrypted: give ${protocol === 'ws:' ? 'a wss' : 'an https'} address` }];
}

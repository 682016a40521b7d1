import { type BlockList, isIP } from 'node:net';
import { networksOf } from '../config/networks.ts';
import { optionalText } from '../config/setting.ts';

/** The setting of the addresses that a carrier's media sockets may come from, for carriers that name theirs. */
export const allowedAddresses = (carrier: string) =>
  optionalText(
    `Addresses and networks that media sockets may come from, separated by commas (203.0.113.7, 198.51.100.0/24), as ${carrier}'s support names them; any when absent. Behind a proxy every socket has the proxy's address`,
  );

/** Addresses and networks, separated by commas. An empty list contains every address. */
export class AddressList {
  /** Entries that could not be parsed. */
  readonly problems: readonly string[];
  readonly #list: BlockList;
  readonly #isEmpty: boolean;

  constructor(text = '') {
    const { networks, wrong } = networksOf(text, 0);
    this.#isEmpty = text.split(',').every((entry) => entry.trim() === '');
    this.#list = networks;
    this.problems = wrong.map(problemOf);
  }

  has(address: string): boolean {
    if (this.#isEmpty) return true;
    // A dual-stack socket writes an IPv4 address with this prefix.
    const plain = address.replace(/^::ffff:(?=\d+\.)/iu, '');
    const version = isIP(plain);
    return version !== 0 && this.#list.check(plain, version === 6 ? 'ipv6' : 'ipv4');
  }
}

function problemOf(entry: string): string {
  return `${JSON.stringify(entry)} is no address and no network: accepted are 203.0.113.7, 198.51.100.0/24, 2001:db8::/32 and the like`;
}

import { BlockList, isIP } from 'node:net';

/**
 * Reads addresses and networks separated by commas: `10.0.0.5, 10.1.0.0/16, fd00::/8`.
 * @param leastBits of a network's prefix: with 0, `0.0.0.0/0` is one
 * @returns all that can be read as such, and the others
 */
export function networksOf(text: string, leastBits = 1): { readonly networks: BlockList; readonly wrong: readonly string[] } {
  const networks = new BlockList();
  const wrong: string[] = [];
  for (const entry of text.split(',').map((each) => each.trim())) {
    if (entry === '') continue;
    const [address = '', prefix, ...rest] = entry.split('/');
    const family = isIP(address);
    const most = family === 6 ? 128 : 32;
    const bits = prefix === undefined ? most : /^\d{1,3}$/u.test(prefix) ? Number(prefix) : Number.NaN;
    if (family === 0 || rest.length > 0 || !(bits >= leastBits && bits <= most)) wrong.push(entry);
    else networks.addSubnet(address, bits, family === 6 ? 'ipv6' : 'ipv4');
  }
  return { networks, wrong };
}

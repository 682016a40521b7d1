import type { IncomingMessage } from 'node:http';
import { type BlockList, isIP } from 'node:net';
import { networksOf } from '../config/networks.ts';
import { isPublicAddress } from '../kernel/public-address.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { wasPassedOn } from './public-addresses.ts';

/** Most untrusted proxies remembered. */
const MOST_UNTRUSTED = 5;
const FORWARDED_FOR = 'x-forwarded-for';

/** Proxies whose `X-Forwarded-For` is trusted (`http.trustedProxies`), and others that sent one. */
export class TrustedProxies {
  readonly #trusted: BlockList;
  readonly #untrusted = new Set<string>();
  readonly #parts: { readonly metrics: Pick<Metrics, 'untrustedProxy'>; readonly logger: Logger };

  /** @param named addresses and networks, separated by commas, already validated */
  constructor(named: string | undefined, parts: { readonly metrics: Pick<Metrics, 'untrustedProxy'>; readonly logger: Logger }) {
    this.#trusted = networksOf(named ?? '').networks;
    this.#parts = parts;
  }

  trusts(address: string): boolean {
    const family = isIP(address);
    return family !== 0 && this.#trusted.check(address, family === 6 ? 'ipv6' : 'ipv4');
  }

  /** Reports an unlisted proxy once, and cleans a trusted proxy's header: entries up to the last invalid one are dropped. */
  note({ socket: { remoteAddress = '' }, headers }: IncomingMessage): void {
    if (!wasPassedOn(headers)) return;
    if (this.trusts(remoteAddress)) {
      const entries = [headers[FORWARDED_FOR] ?? []].flat().join(',').split(',').map(withoutPort);
      headers[FORWARDED_FOR] = entries.slice(entries.findLastIndex((entry) => isIP(entry) === 0) + 1).join(', ');
      return;
    }
    // From the internet, the header is the client's own.
    if (isPublicAddress(remoteAddress) || this.#untrusted.has(remoteAddress) || this.#untrusted.size >= MOST_UNTRUSTED) return;
    this.#untrusted.add(remoteAddress);
    this.#parts.metrics.untrustedProxy(remoteAddress);
    this.#parts.logger.warn(
      { proxy: remoteAddress, setting: 'http.trustedProxies' },
      'requests come through a proxy that is not trusted: all its visitors count as one address',
    );
  }
}

/** Some proxies write `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const text = entry.trim();
  return /^\[([^\]]*)\](?::\d+)?$/u.exec(text)?.[1] ?? /^([\d.]+):\d+$/u.exec(text)?.[1] ?? text;
}

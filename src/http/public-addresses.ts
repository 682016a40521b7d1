import { type AddressInfo, isIP, type BlockList } from 'node:net';
import type { IncomingMessage } from 'node:http';
import { networksOf } from '../config/networks.ts';
import { isPublicAddress } from '../kernel/public-address.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';

/**
 * Base addresses under which carriers may know this gateway, without a trailing slash; the first is used in answers. Never taken from a request,
 * whose headers can be forged.
 * @param publicUrl as configured; unset: the loopback forms of the listening port
 */
export function publicAddresses(publicUrl: string | undefined, listening: AddressInfo | string | null): readonly string[] {
  const configured = configuredAddress(publicUrl);
  if (configured !== undefined) return [configured];
  if (listening === null || typeof listening === 'string') return ['http://127.0.0.1'];
  return ['127.0.0.1', 'localhost', '[::1]'].map((host) => `http://${host}:${listening.port}`);
}

/** The configured address without a trailing slash, if any. */
export function configuredAddress(publicUrl: string | undefined): string | undefined {
  return publicUrl?.replace(/\/+$/, '');
}

/** The WebSocket form of an http or https address. */
export function socketAddress(address: string): string {
  return address.replace(/^http/i, 'ws');
}

/** Whether a request came from this machine itself, not through a proxy on it. */
export function isLocal(remoteAddress: string | undefined, headers: Readonly<Record<string, unknown>>): boolean {
  const loopback = remoteAddress !== undefined && /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/.test(remoteAddress);
  return loopback && !wasPassedOn(headers);
}

/** Whether headers claim that a proxy passed the request on; a client can forge them. */
export function wasPassedOn(headers: Readonly<Record<string, unknown>>): boolean {
  return ['forwarded', 'x-forwarded-for', 'x-real-ip'].some((name) => headers[name] !== undefined);
}

/** The unit for paces and limits: an IPv4 address, or the /64 network of an IPv6 address, which one visitor has. */
export function visitorOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/iu.exec(address)?.[1];
  if (mapped !== undefined || isIP(address) !== 6) return mapped ?? address;
  const [head = '', tail] = address.toLowerCase().split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? 0 : tail.split(':').length;
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - after);
  const all = [...groups, ...Array.from({ length: zeros }, () => '0'), ...(tail ?? '').split(':')];
  return `${all
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/u, ''))
    .join(':')}::/64`;
}

const OWN_ADDRESS = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u;

/**
 * Whether passwords and sessions travel safely: to the https address of `publicUrl`, or on this machine.
 * @param host the address the browser opened; a client that forges it endangers only itself
 */
export function isSafeHost(host: string | undefined, publicUrl: string | undefined): boolean {
  if (host === undefined || !URL.canParse(`https://${host}`)) return false;
  const asked = new URL(`https://${host}`);
  if (OWN_ADDRESS.test(asked.hostname)) return true;
  if (publicUrl === undefined) return false;
  const { protocol, host: known } = new URL(publicUrl);
  return protocol === 'https:' && asked.host === known;
}

/**
 * Whether the request came from the gateway's own page.
 * @param origin header set by browsers, not by pages
 * @param host as `isSafeHost` accepts it
 */
export function isOwnOrigin(origin: string, host: string, publicUrl: string | undefined): boolean {
  if (publicUrl !== undefined && origin === new URL(publicUrl).origin) return true;
  if (!isSafeHost(host, undefined)) return false;
  return ['http', 'https'].some((scheme) => origin === new URL(`${scheme}://${host}`).origin);
}

/** A request's path for logs: without query, stream token and callee. */
export function redactUrl(url: string): string {
  const path = url.split(/[?#]/, 1)[0] ?? '';
  return path.replace(/(\/carriers\/[^/]*\/(?:stream|document\/[^/]*)\/).+/i, '$1[token]').slice(0, 300);
}

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

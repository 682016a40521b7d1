import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { OffhookError } from './errors.ts';

/** `REDIS_URL` is not an address of one of the forms that are known. */
export class RedisAddressError extends OffhookError {
  readonly code = 'OFFHOOK_REDIS_ADDRESS';
  readonly retryable = false;
}

interface Place {
  readonly host: string;
  readonly port: number;
}

interface Access {
  readonly username?: string;
  readonly password?: string;
  readonly tls: boolean;
}

/** Where Redis is. */
export type RedisAddress =
  | { readonly kind: 'single'; readonly url: string }
  | {
      readonly kind: 'sentinel';
      readonly sentinels: readonly Place[];
      readonly name: string;
      readonly db: number;
      readonly access: Access;
    }
  | { readonly kind: 'cluster'; readonly nodes: readonly Place[]; readonly access: Access };

/**
 * Reads an address of Redis:
 * - `redis://[user:password@]host[:port][/db]`, `rediss://…` over TLS;
 * - `redis+sentinel://[user:password@]host[:26379],host…/master-name[/db]`: the credentials are the server's;
 * - `redis+cluster://[user:password@]host[:6379],host…`;
 * - both also as `rediss+…`, over TLS.
 * @throws RedisAddressError for anything else; its message never holds the address, which may hold a password
 */
export function parseRedisAddress(url: string): RedisAddress {
  const form = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^@/]+)((?:\/[^/]*)*)$/u.exec(url.trim());
  if (form === null)
    throw new RedisAddressError('REDIS_URL is no redis://, rediss://, redis+sentinel:// or redis+cluster:// address');
  const [, scheme, kind, credentials = '', hosts = '', path = ''] = form;
  if (kind === undefined) {
    if (hosts.includes(','))
      throw new RedisAddressError('REDIS_URL names several hosts: say redis+sentinel:// or redis+cluster://');
    return { kind: 'single', url: url.trim() };
  }
  const at = credentials.indexOf(':');
  const username = decodeURIComponent(at < 0 ? '' : credentials.slice(0, at));
  const password = decodeURIComponent(credentials.slice(at + 1));
  const access = {
    tls: scheme === 'rediss',
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
  };
  const places = hosts.split(',').map((text) => placeOf(text, kind === 'sentinel' ? 26_379 : 6379));
  if (kind === 'cluster') return { kind, nodes: places, access };
  const [, name = '', db = '0'] = path.split('/');
  if (name === '' || !/^\d{0,4}$/.test(db))
    throw new RedisAddressError('REDIS_URL of a sentinel ends in /master-name or /master-name/db');
  return { kind: 'sentinel', sentinels: places, name: decodeURIComponent(name), db: Number(db), access };
}

/** How a connection waits and reconnects. */
export type RedisPatience = Pick<
  RedisOptions,
  'enableOfflineQueue' | 'maxRetriesPerRequest' | 'autoResendUnfulfilledCommands' | 'connectTimeout' | 'socketTimeout'
> & { readonly retryStrategy?: (times: number) => number };

/** A connection that reconnects by itself. The caller disconnects it. */
export function connectRedis(address: RedisAddress, patience: RedisPatience): Redis | Cluster {
  if (address.kind === 'single') return new Redis(address.url, patience);
  const { tls, ...credentials } = address.access;
  const encrypted = tls ? { tls: {} } : {};
  if (address.kind === 'cluster') {
    // A TLS certificate names hosts, not what they resolve to.
    const dnsLookup = (name: string, found: (error: null, name: string) => void): void => found(null, name);
    const { enableOfflineQueue = true, retryStrategy, ...ofNode } = patience;
    const redisOptions = { ...ofNode, ...credentials, ...encrypted };
    const reconnecting = retryStrategy === undefined ? {} : { clusterRetryStrategy: retryStrategy };
    return new Cluster([...address.nodes], {
      enableOfflineQueue,
      redisOptions,
      ...reconnecting,
      ...(tls ? { dnsLookup } : {}),
    });
  }
  const { name, db } = address;
  const overTls = tls ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {};
  return new Redis({ ...patience, ...credentials, ...overTls, name, db, sentinels: [...address.sentinels] });
}

function placeOf(text: string, usualPort: number): Place {
  const form = /^(\[[0-9a-f:]+\]|[\w.-]+)(?::(\d{1,5}))?$/iu.exec(text.trim());
  const port = Number(form?.[2] ?? usualPort);
  if (form === null || port < 1 || port > 65_535) throw new RedisAddressError('REDIS_URL has a host that is none');
  return { host: (form[1] ?? '').replaceAll(/[[\]]/gu, ''), port };
}

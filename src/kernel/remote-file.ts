import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { atMost } from './bounded-reading.ts';
import type { Clock } from './clock.ts';
import { pourIntoFile } from './file-streams.ts';
import { isPublicAddress, publicLookup, resolveName, type ResolveName } from './public-address.ts';

const MOST_REDIRECTS = 5;
const MOST_URL_CHARACTERS = 4096;
const FETCH_MS = 60_000;

export interface RemoteFileOptions {
  readonly clock: Clock;
  readonly maxBytes: number;
  /** `host` or `host:port` entries that may be on any network, this machine included, and may use plain HTTP. */
  readonly allowedHosts: readonly string[];
  readonly resolve?: ResolveName;
}

/** A file could not be fetched; the caller reports it in its own words. */
export class RemoteFileError extends Error {
  /** `refused`: the address is not allowed; `unreachable`: a retry may succeed. */
  readonly kind: 'refused' | 'unreachable' | 'too-large';

  constructor(kind: RemoteFileError['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'RemoteFileError';
    this.kind = kind;
  }
}

/**
 * Downloads an address into a new file; addresses inside our own network are refused.
 * @param path of a new file in an existing folder; removed on failure
 * @throws RemoteFileError for an address that is not public https, directly or by a redirect, that gives no file within a minute, or whose file is
 * too large; or the signal's reason
 */
export async function fetchFile(address: string, path: string, options: RemoteFileOptions, signal: AbortSignal): Promise<void> {
  const { clock, maxBytes } = options;
  const tooLarge = (): RemoteFileError => new RemoteFileError('too-large', `The audio is larger than ${maxBytes} bytes`);
  const late = new AbortController();
  const timer = clock.after(FETCH_MS, () => late.abort());
  try {
    const response = await follow(address, options, AbortSignal.any([signal, late.signal]));
    if (Number(response.headers['content-length'] ?? 0) > maxBytes) {
      response.destroy();
      throw tooLarge();
    }
    await pourIntoFile(response as AsyncIterable<Uint8Array>, path, {
      flags: 'wx',
      through: (parts) => atMost(parts, maxBytes, tooLarge),
    });
  } catch (error) {
    await rm(path, { force: true });
    signal.throwIfAborted();
    if (late.signal.aborted) throw new RemoteFileError('unreachable', `no audio arrived within ${FETCH_MS / 1000} s`, error);
    if (error instanceof RemoteFileError) throw error;
    throw new RemoteFileError('unreachable', 'the audio could not be fetched', error);
  } finally {
    timer.cancel();
  }
}

async function follow(address: string, options: RemoteFileOptions, signal: AbortSignal): Promise<IncomingMessage> {
  let url = parse(address);
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects += 1) {
    const response = await get(url, options, signal);
    const { statusCode = 0, headers } = response;
    if (statusCode === 200) return response;
    response.destroy();
    if (statusCode < 300 || statusCode >= 400 || headers.location === undefined)
      throw new RemoteFileError('refused', `the server answered with status ${statusCode}`);
    url = parse(headers.location, url);
  }
  throw new RemoteFileError('refused', `more than ${MOST_REDIRECTS} redirects`);
}

async function get(url: URL, { allowedHosts, resolve }: RemoteFileOptions, signal: AbortSignal): Promise<IncomingMessage> {
  const allowed = allowedHosts.some((host) => host === url.host || host === url.hostname);
  if (url.protocol !== 'https:' && !(allowed && url.protocol === 'http:'))
    throw new RemoteFileError('refused', 'only https addresses are fetched');
  if (url.username !== '' || url.password !== '')
    throw new RemoteFileError('refused', 'an address with credentials is not fetched');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // A numeric address is never looked up.
  if (!allowed && isIP(host) !== 0 && !isPublicAddress(host)) throw notPublic();
  const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
    signal,
    agent: false,
    headers: { accept: 'audio/*, video/*, application/octet-stream', 'accept-encoding': 'identity', 'user-agent': 'offhook' },
    ...(allowed ? {} : { lookup: publicLookup(resolve ?? resolveName, notPublic) }),
  });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  // Later connection errors reach the reader; without a listener they would end the process.
  request.on('error', () => undefined);
  return response;
}

function parse(address: string, base?: URL): URL {
  if (address.length <= MOST_URL_CHARACTERS && URL.canParse(address, base?.href)) return new URL(address, base);
  throw new RemoteFileError('refused', 'not an address');
}

function notPublic(): RemoteFileError {
  return new RemoteFileError('refused', 'this address is not public');
}

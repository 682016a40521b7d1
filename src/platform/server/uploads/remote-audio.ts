import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Clock } from '../../../kernel/clock.ts';
import { OffhookError } from '../../../kernel/errors.ts';
import { isPublicAddress, publicLookup, resolveName, type ResolveName } from '../../../kernel/public-address.ts';
import { Refusal } from '../listener/refusal.ts';
import { type AudioBytes, spoolToDisk, tooLarge } from './audio-bytes.ts';

const maxRedirects = 5;
const maxUrlCharacters = 4096;
const fetchMs = 60_000;

export interface RemoteAudioOptions {
  readonly clock: Clock;
  readonly maxBytes: number;
  readonly uploadFolder: string;
  /** `host` or `host:port` that may be anywhere, this machine included, and may speak plain HTTP. */
  readonly allowedHosts: readonly string[];
  readonly resolve?: ResolveName;
}

/** Fetches the audio that a client names by its address, and nothing from inside our own network. */
export class RemoteAudio {
  readonly #options: RemoteAudioOptions;

  constructor(options: RemoteAudioOptions) {
    this.#options = options;
  }

  /**
   * @returns what was fetched, on disk; the caller's to dispose of
   * @throws Refusal 400 for an address that is no public https one, itself or by way of a redirect, and for one that gives no
   * file within a minute; 413 when the file is larger than allowed; or the signal's reason
   */
  async fetch(address: string, signal: AbortSignal): Promise<AudioBytes> {
    const { clock, maxBytes, uploadFolder } = this.#options;
    const late = new AbortController();
    const timer = clock.after(fetchMs, () => late.abort());
    const either = AbortSignal.any([signal, late.signal]);
    try {
      const response = await this.#follow(address, either);
      if (Number(response.headers['content-length'] ?? 0) > maxBytes) {
        response.destroy();
        throw tooLarge(maxBytes);
      }
      return await spoolToDisk(response, uploadFolder, maxBytes);
    } catch (error) {
      signal.throwIfAborted();
      if (late.signal.aborted) throw new Refusal(400, `url: no audio arrived within ${fetchMs / 1000} s`, { cause: error });
      if (error instanceof OffhookError) throw error;
      throw new Refusal(400, 'url: the audio could not be fetched', { cause: error });
    } finally {
      timer.cancel();
    }
  }

  async #follow(address: string, signal: AbortSignal): Promise<IncomingMessage> {
    let url = parse(address);
    for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
      const response = await this.#get(url, signal);
      const { statusCode = 0, headers } = response;
      if (statusCode === 200) return response;
      response.destroy();
      if (statusCode < 300 || statusCode >= 400 || headers.location === undefined) {
        throw new Refusal(400, `url: the server answered with status ${statusCode}`);
      }
      url = parse(headers.location, url);
    }
    throw new Refusal(400, `url: more than ${maxRedirects} redirects`);
  }

  async #get(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
    const allowed = this.#options.allowedHosts.some((host) => host === url.host || host === url.hostname);
    if (url.protocol !== 'https:' && !(allowed && url.protocol === 'http:')) {
      throw new Refusal(400, 'url: only https addresses are fetched');
    }
    if (url.username !== '' || url.password !== '') throw new Refusal(400, 'url: an address with credentials is not fetched');
    const host = url.hostname.replace(/^\[|\]$/g, '');
    // An address in numbers is never looked up.
    if (!allowed && isIP(host) !== 0 && !isPublicAddress(host)) throw addressRefused();
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      signal,
      agent: false,
      headers: { accept: 'audio/*, video/*, application/octet-stream', 'accept-encoding': 'identity', 'user-agent': 'offhook' },
      ...(allowed ? {} : { lookup: publicLookup(this.#options.resolve ?? resolveName, addressRefused) }),
    });
    request.end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    // A connection that breaks later is the reader's to see; without a listener it would end the process.
    request.on('error', () => undefined);
    return response;
  }
}

function parse(address: string, base?: URL): URL {
  if (address.length <= maxUrlCharacters && URL.canParse(address, base?.href)) return new URL(address, base);
  throw new Refusal(400, 'url: not an address');
}

function addressRefused(): Refusal {
  return new Refusal(400, 'url: this address is not public');
}

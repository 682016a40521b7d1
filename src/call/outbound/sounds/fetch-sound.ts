import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { atMost } from '../../../kernel/bounded-reading.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { isPublicAddress, publicLookup, type ResolveName, resolveName } from '../../../kernel/public-address.ts';
import { SoundError } from './port.ts';
import { MOST_FILE_BYTES } from './sound-place.ts';

/** The caller waits in silence, and after 5 s hears an apology. */
const MOST_MS = 4_000;

export interface SoundFetching {
  readonly clock: Clock;
  readonly resolve?: ResolveName;
  /** `host:port` entries that may be on any network, this machine included, and may use plain HTTP. */
  readonly allowedHosts?: readonly string[];
}

/**
 * Fetches a sound from a public https address, without following redirects.
 * @throws SoundError when it is not allowed, not available within 4 s, or too large
 */
export async function fetchSound(address: string, options: SoundFetching): Promise<Uint8Array> {
  const late = new AbortController();
  const timer = options.clock.after(MOST_MS, () => late.abort());
  try {
    const response = await get(new URL(address), options, late.signal);
    if (response.statusCode !== 200) {
      response.destroy();
      throw new SoundError(`the server of the sound answered with HTTP ${response.statusCode}`);
    }
    return await bodyOf(response);
  } catch (error) {
    if (error instanceof SoundError) throw error;
    const why = late.signal.aborted ? `did not come within ${MOST_MS} ms` : 'could not be fetched';
    throw new SoundError(`the sound ${why}`, { cause: error });
  } finally {
    timer.cancel();
  }
}

async function get(url: URL, { resolve, allowedHosts = [] }: SoundFetching, signal: AbortSignal): Promise<IncomingMessage> {
  const allowed = allowedHosts.includes(url.host);
  if (url.protocol !== 'https:' && !allowed) throw new SoundError('sounds are fetched from https addresses only');
  if (url.username !== '' || url.password !== '') throw new SoundError('an address with credentials is not fetched');
  const host = url.hostname.replaceAll(/^\[|\]$/gu, '');
  const refused = (): SoundError => new SoundError('the address of the sound is not public');
  // A numeric address is never looked up.
  if (!allowed && isIP(host) !== 0 && !isPublicAddress(host)) throw refused();
  const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
    signal,
    agent: false,
    headers: {
      accept: 'audio/*, application/ogg, application/octet-stream',
      'accept-encoding': 'identity',
      'user-agent': 'offhook',
    },
    ...(allowed ? {} : { lookup: publicLookup(resolve ?? resolveName, refused) }),
  });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  // Later connection errors reach the reader; without a listener they would end the process.
  request.on('error', () => undefined);
  return response;
}

async function bodyOf(response: IncomingMessage): Promise<Uint8Array> {
  const tooLarge = (): Error => new SoundError(`the sound is larger than ${MOST_FILE_BYTES} bytes`);
  const parts: Uint8Array[] = [];
  // Leaving the loop closes the connection.
  for await (const part of atMost(response, MOST_FILE_BYTES, tooLarge)) parts.push(part);
  return Buffer.concat(parts);
}

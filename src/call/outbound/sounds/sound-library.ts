import { encodeAudio } from '../../../audio/codec.ts';
import { BEEP } from '../../../dialog/port.ts';
import type { AudioFormat } from '../../../audio/format.ts';
import { beep } from '../../../audio/tone.ts';
import { MediaDecoder } from '../../../audio/media/media-decoder.ts';
import { abortable } from '../../../kernel/waiting.ts';
import { SoundError, type Sounds } from './port.ts';
import { soundAudio } from './sound-audio.ts';
import { findSound, MOST_FILE_BYTES, readSound } from './sound-place.ts';
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { atMost } from '../../../kernel/bounded-reading.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { isPublicAddress, publicLookup, type ResolveName, resolveName } from '../../../kernel/public-address.ts';

/** The caller waits in silence, and after 5 s hears an apology. */
const MOST_MS = 4_000;

interface SoundFetching {
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

/** More than an hour of sound; beyond it the least recently played is dropped. */
const MOST_KEPT_BYTES = 64 * 1024 * 1024;
/** Each may take up to 20 MB while loading. */
const MOST_LOADING = 8;
/** Age after which a sound from an address is fetched again. */
const FRESH_MS = 600_000;
/** The caller waits in silence, and after 5 s hears an apology; the sound may be loaded the next time. */
const MOST_WAITING_MS = 4_500;

interface Kept {
  readonly audio: Int16Array;
  readonly sinceMs: number;
}

/** A sound at one call rate. */
interface Wanted {
  /** Path and version of a file, or an address. */
  readonly name: string;
  readonly isFile: boolean;
  readonly rateHz: number;
}

export interface SoundLibraryOptions {
  readonly decoder: Pick<MediaDecoder, 'decode'>;
  readonly mostKeptBytes: number;
}

/** The sounds bots play, each converted once per call rate and cached in memory for all calls of the process. */
export class SoundLibrary implements Sounds {
  readonly #fetching: SoundFetching;
  readonly #decoder: Pick<MediaDecoder, 'decode'>;
  readonly #mostKeptBytes: number;
  /** Least recently played first. */
  readonly #kept = new Map<string, Kept>();
  readonly #loading = new Map<string, Promise<Int16Array>>();
  #keptBytes = 0;

  constructor(
    fetching: SoundFetching,
    { decoder = new MediaDecoder(), mostKeptBytes = MOST_KEPT_BYTES }: Partial<SoundLibraryOptions> = {},
  ) {
    this.#fetching = fetching;
    this.#decoder = decoder;
    this.#mostKeptBytes = mostKeptBytes;
  }

  async *play(folder: string, source: string, { encoding, rateHz }: AudioFormat, signal: AbortSignal): AsyncIterable<Uint8Array> {
    signal.throwIfAborted();
    // Other calls may want the sound being loaded: only this wait ends.
    const audio = await this.#inTime(this.#audioOf(folder, source, rateHz), signal);
    for (let at = 0; at < audio.length; at += rateHz) yield encodeAudio(encoding, audio.subarray(at, at + rateHz));
  }

  async #inTime(loading: Promise<Int16Array>, signal: AbortSignal): Promise<Int16Array> {
    const late = new AbortController();
    const why = new SoundError(`the sound was not ready within ${MOST_WAITING_MS} ms`);
    const timer = this.#fetching.clock.after(MOST_WAITING_MS, () => late.abort(why));
    try {
      return await abortable(loading, AbortSignal.any([signal, late.signal]));
    } finally {
      timer.cancel();
    }
  }

  async #audioOf(folder: string, source: string, rateHz: number): Promise<Int16Array> {
    if (source === BEEP) return beep(rateHz);
    if (/^[a-z][a-z\d+.-]*:\/\//iu.test(source)) {
      if (!URL.canParse(source)) throw new SoundError('the address of the sound cannot be read');
      return this.#load({ name: source, isFile: false, rateHz }, () => fetchSound(source, this.#fetching));
    }
    const place = await findSound(folder, source);
    return this.#load({ name: `${place.path}\n${place.version}`, isFile: true, rateHz }, () => readSound(place));
  }

  #load({ name, isFile, rateHz }: Wanted, read: () => Promise<Uint8Array>): Promise<Int16Array> {
    const key = `${rateHz} ${name}`;
    const kept = this.#take(key, isFile);
    if (kept !== undefined) return Promise.resolve(kept);
    const running = this.#loading.get(key);
    if (running !== undefined) return running;
    if (this.#loading.size >= MOST_LOADING) throw new SoundError('too many sounds are being loaded');
    const loading = read()
      .then((file) => soundAudio(file, rateHz, { clock: this.#fetching.clock, decoder: this.#decoder }))
      .then((audio) => {
        this.#keep(key, audio);
        return audio;
      })
      .finally(() => this.#loading.delete(key));
    this.#loading.set(key, loading);
    return loading;
  }

  #take(key: string, isFile: boolean): Int16Array | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    this.#kept.delete(key);
    if (!isFile && this.#fetching.clock.nowMs() - kept.sinceMs > FRESH_MS) {
      this.#keptBytes -= kept.audio.byteLength;
      return undefined;
    }
    this.#kept.set(key, kept);
    return kept.audio;
  }

  #keep(key: string, audio: Int16Array): void {
    this.#kept.set(key, { audio, sinceMs: this.#fetching.clock.nowMs() });
    this.#keptBytes += audio.byteLength;
    for (const [oldest, { audio: old }] of this.#kept) {
      if (this.#keptBytes <= this.#mostKeptBytes) return;
      this.#kept.delete(oldest);
      this.#keptBytes -= old.byteLength;
    }
  }
}

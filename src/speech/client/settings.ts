import type { TokenProvider } from './credentials.ts';
import { SpeechRequestError } from './errors.ts';
import type { TokenStore } from './token-store.ts';

/**
 * The platform's addresses and credentials. Only the addresses of used services are needed: a client with `asrUrl` alone contacts
 * only that and the token service.
 */
export interface SpeechPlatformSettings {
  /** Token service; needed with `apiKey`. */
  readonly authUrl?: string;
  /** Recognition. */
  readonly asrUrl?: string;
  /** Recognition, Variant B, which takes the API key itself. */
  readonly asrAltUrl?: string;
  /** Medical transcription, which takes the API key itself. */
  readonly medUrl?: string;
  /** Synthesis. */
  readonly ttsUrl?: string;
  /** One key, or several that share the load. */
  readonly apiKey?: string | readonly string[];
  /** Instead of a key: one fixed token, or a function that returns a token for each request. */
  readonly token?: string | TokenProvider;
  /** Concurrent requests for each service and key; 16 when absent, as in the default tier (ASR and TTS docs, limits). */
  readonly slotsPerKey?: number;
  /** The same for synthesis only, when several processes share the platform's limit. */
  readonly synthesisSlotsPerKey?: number;
  /** Time limit for opening a socket, up to its ready message; 5,000 when absent. */
  readonly connectTimeoutMs?: number;
  /**
   * Time limit of one attempt with its answer's body; 120,000 when absent. Transcription, and synthesis of more than 500
   * characters, have longer limits of their own.
   */
  readonly requestTimeoutMs?: number;
  /** Requested lifetime of tokens; 900 when absent, at most 86,400 (document 1, limits). */
  readonly tokenLifeSeconds?: number;
  /** Folder that keeps prepared sentences over restarts; memory only when absent. */
  readonly phraseFolder?: string;
  /** Shares the mint budget and tokens with other processes of the same key; its creator closes it. */
  readonly tokenStore?: TokenStore;
}

/** The keys as a list, without duplicates; empty when the caller brings tokens. */
export function keysOf({ apiKey }: Pick<SpeechPlatformSettings, 'apiKey'>): readonly string[] {
  return typeof apiKey === 'string' ? [apiKey] : [...new Set(apiKey)];
}

/** @throws SpeechRequestError for an address that was not given to the client */
export function needed(settings: SpeechPlatformSettings, name: 'authUrl' | 'asrUrl' | 'asrAltUrl' | 'medUrl' | 'ttsUrl'): string {
  const url = settings[name];
  if (url === undefined) throw new SpeechRequestError(`the speech client was made without ${name}`);
  return url;
}

/**
 * The URL of an endpoint, as the documents write it: `{asr_url}/v1/…`. Path and query of the service's address stay.
 * @param path of the endpoint, with its slash
 */
export function serviceUrl(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/\/+$/, '') + path;
  // Never sent over HTTP, and refused by sockets.
  url.hash = '';
  return url;
}

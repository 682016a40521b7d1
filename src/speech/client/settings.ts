import type { TokenProvider } from './credentials.ts';
import { SpeechRequestError } from './errors.ts';
import type { TokenStore } from './token-store.ts';

/**
 * Where the platform is and who asks. Only what is used has to be given: a client with `asrUrl` alone contacts nothing else
 * but the token service.
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
  /** In place of a key: one token, which is never replaced, or a function that gives one when asked. */
  readonly token?: string | TokenProvider;
  /** Concurrent requests for each service and key; 16 when absent, as in the default tier (ASR and TTS docs, limits). */
  readonly slotsPerKey?: number;
  /** The same of synthesis alone, where several processes share what the platform allows. */
  readonly synthesisSlotsPerKey?: number;
  /** To open a socket, up to its ready message; 5,000 when absent. */
  readonly connectTimeoutMs?: number;
  /**
   * Of one attempt, its answer's body included; 120,000 when absent. Transcription, and synthesis of more than 500 characters,
   * have limits of their own, which are longer.
   */
  readonly requestTimeoutMs?: number;
  /** Lifetime asked of tokens; 900 when absent; more than 86,400 is cut to that (document 1, limits). */
  readonly tokenLifeSeconds?: number;
  /** Where prepared sentences are kept over restarts; in memory alone when absent. */
  readonly phraseFolder?: string;
  /** Mint budget and tokens shared with other processes of the same key; who made it closes it. */
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
 * Where an endpoint of a service is, as the documents write it: `{asr_url}/v1/…`. A path in the service's address stays in
 * front, and a query behind.
 * @param path of the endpoint, from its slash on
 */
export function serviceUrl(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/\/+$/, '') + path;
  // Never sent over HTTP, and refused by sockets.
  url.hash = '';
  return url;
}

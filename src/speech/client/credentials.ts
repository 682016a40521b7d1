import { inspect } from 'node:util';
import { abortable } from '../../kernel/waiting.ts';
import { SpeechRequestError } from './errors.ts';

/** A source of the secret in a request's header. Implementations never print a key or token. */
export interface Tokens {
  /** @throws SpeechError where there is no token; the signal's reason when it aborts first */
  get(signal?: AbortSignal): Promise<string>;
  /** Reports that the platform refused this secret. @returns whether a retry with a new one may help */
  invalidate(token: string): boolean;
}

/** Characters that a header can carry; with any other, the runtime's error would contain the whole secret. */
export const headerSafe = /^[\x21-\x7e]+$/u;

/**
 * One fixed secret: a token that the application gave, which is never replaced (document 1, rule 4 needs a key), or the API key
 * of a service that takes the key itself (document 1, rule 9).
 */
export class FixedToken implements Tokens {
  readonly #secret: string;

  /** @throws SpeechRequestError for a text that no header can carry */
  constructor(secret: string) {
    if (!headerSafe.test(secret))
      throw new SpeechRequestError('the token or key is empty or has a space, a line break or another odd character');
    this.#secret = secret;
  }

  get(signal?: AbortSignal): Promise<string> {
    return signal?.aborted === true ? Promise.reject(signal.reason as Error) : Promise.resolve(this.#secret);
  }

  invalidate(): boolean {
    return false;
  }

  toJSON(): string {
    return '[token]';
  }

  [inspect.custom](): string {
    return '[token]';
  }
}

/** For a service that takes no credential; to be used with `noHeader`. */
export const noCredential: Tokens = { get: async () => '', invalidate: () => false };

/** Returns an access token for each request; it may have a cache of its own. */
export type TokenProvider = (signal?: AbortSignal) => Promise<string> | string;

/** Tokens from the application's function, which is called for each request, and once more after a 401. */
export class ProvidedTokens implements Tokens {
  readonly #provider: TokenProvider;

  constructor(provider: TokenProvider) {
    this.#provider = provider;
  }

  /** @throws SpeechRequestError when the function gives no token; whatever the function throws */
  async get(signal?: AbortSignal): Promise<string> {
    signal?.throwIfAborted();
    const token = await abortable(Promise.resolve(this.#provider(signal)), signal);
    if (typeof token !== 'string' || !headerSafe.test(token))
      throw new SpeechRequestError('the token provider gave no token that a header can carry');
    return token;
  }

  invalidate(): boolean {
    return true;
  }

  toJSON(): string {
    return '[token provider]';
  }
}

/** The headers that carry a secret to a service (document 1, authentication rules 2 and 9). */
export type CredentialHeader = (secret: string) => Readonly<Record<string, string>>;

/** For access tokens, and for the key at Variant B. */
export const bearerHeader: CredentialHeader = (secret) => ({ authorization: `Bearer ${secret}` });

/** For a service that takes no credential. */
export const noHeader: CredentialHeader = () => ({});

/** For the key at the medical service. */
export const apiKeyHeader: CredentialHeader = (secret) => ({ 'x-api-key': secret });

import { inspect } from 'node:util';
import { abortable } from '../../kernel/waiting.ts';
import { SpeechRequestError } from './errors.ts';

/** Where the secret of a request's header comes from. Implementations print neither key nor token, whatever is done to them. */
export interface Tokens {
  /** @throws SpeechError when there is none to be had; the signal's reason when it aborts first */
  get(signal?: AbortSignal): Promise<string>;
  /** Tells that the platform refused this one. @returns whether a repeat with another one is worth it */
  invalidate(token: string): boolean;
}

/** What can go into a header: an odd character would make the runtime's own error repeat the whole secret. */
export const headerSafe = /^[\x21-\x7e]+$/u;

/**
 * One secret that never changes: a token that the caller brought, which is never replaced by a mint (document 1, rule 4 is
 * for those who can mint), or an API key where a service takes the key itself (document 1, rule 9).
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

/** Gives an access token each time it is asked; its own cache is its own business. */
export type TokenProvider = (signal?: AbortSignal) => Promise<string> | string;

/** Tokens from a function of the caller, which is asked for each request, and once more after a 401. */
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

/** For the key at the medical service. */
export const apiKeyHeader: CredentialHeader = (secret) => ({ 'x-api-key': secret });

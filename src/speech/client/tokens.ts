import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { readText } from '../../kernel/bounded-reading.ts';
import { type Clock, stayAwake } from '../../kernel/clock.ts';
import { parseJson } from '../../kernel/json.ts';
import { maskSecret } from '../../kernel/mask-secret.ts';
import { abortable, SingleFlight, sleep } from '../../kernel/waiting.ts';
import { headerSafe, type Tokens } from './credentials.ts';
import { withDeadline } from './deadline.ts';
import {
  errorMessage,
  errorOfAnswer,
  SpeechAuthError,
  SpeechBusyError,
  type SpeechError,
  SpeechProtocolError,
  SpeechRequestError,
  SpeechUnavailableError,
} from './errors.ts';
import { type Refusal, repeatDelayMs, retryAfterMs } from './retry-after.ts';
import { fingerprint, seal, sealingKey, unseal } from './sealed.ts';
import { serviceUrl } from './settings.ts';
import { MemoryTokenStore, type TokenStore } from './token-store.ts';

export interface TokenSourceOptions {
  readonly authUrl: string;
  readonly apiKey: string;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  /** Lifetime to request, in whole seconds; 900 when absent, at most the platform's 86,400. */
  readonly lifeSeconds?: number;
  readonly random?: () => number;
  /** Aborts a mint that is still under way when the client is closed. */
  readonly closing?: AbortSignal;
  /** Shares budget and token with other processes of the key; in memory when absent. Its creator closes it. */
  readonly store?: TokenStore;
}

interface Held {
  readonly token: string;
  readonly refreshAtMs: number;
  readonly expiresAtMs: number;
}

const DEFAULT_LIFE_SECONDS = 900;
/** Document 1, limits. */
const MOST_LIFE_SECONDS = 86_400;
/** The waits of the documents' example. */
const BACKOFF = { firstMs: 1_000, factor: 2, maxMs: 4_000, jitter: 0.25 } as const;
const MOST_REPEATS = 3;
/** No further try begins later than this after the first. */
const DEADLINE_MS = 150_000;
/** A token is renewed when this share of its lifetime is left, or this long before its end, whichever is later. */
const REFRESH_SHARE = 0.2;
const MOST_MARGIN_MS = 120_000;
/** The renewal is delayed by a random part of this share, so that processes do not all renew at once. */
const REFRESH_JITTER = 0.5;
/** After a failed renewal the old token is used this long before the next try. */
const RENEWAL_PAUSE_MS = 5_000;
/** Poll interval for another process's token, and number of polls. */
const LOOK_EVERY_MS = 100;
const MOST_LOOKS = 20;
const CLAIM_MS = 15_000;

/**
 * Mints access tokens and keeps one until shortly before it expires (document 1). Concurrent callers share one mint; the current
 * token is used while the next one is fetched; processes that share a store share tokens. The API key is sent only in the `api-key`
 * header of the token endpoint. Times are monotonic, so a wrong wall clock changes nothing.
 */
export class TokenSource implements Tokens {
  readonly #options: TokenSourceOptions;
  readonly #store: TokenStore;
  readonly #keyId: string;
  readonly #owner = randomUUID();
  readonly #minting = new SingleFlight<Held>();
  #held: Held | undefined;
  #refused: string | undefined;
  #noRenewalBeforeMs = Number.NEGATIVE_INFINITY;

  /** @throws RangeError for a lifetime that is not a whole number of seconds, 1 or more */
  constructor(options: TokenSourceOptions) {
    const { lifeSeconds = DEFAULT_LIFE_SECONDS, authUrl, apiKey } = options;
    if (!Number.isInteger(lifeSeconds) || lifeSeconds < 1)
      throw new RangeError(`a token's lifetime is a whole number of seconds, 1 or more, not ${lifeSeconds}`);
    this.#options = options;
    this.#store = options.store ?? new MemoryTokenStore(options.clock);
    this.#keyId = fingerprint(`${authUrl}\0${apiKey}`, 'token store');
  }

  /**
   * @throws SpeechAuthError or SpeechRequestError when the key is refused, SpeechBusyError, SpeechUnavailableError when the
   * service cannot be reached, SpeechProtocolError; the signal's reason when it aborts first
   */
  async get(signal?: AbortSignal): Promise<string> {
    signal?.throwIfAborted();
    const nowMs = this.#options.clock.nowMs();
    const held = this.#held;
    if (held !== undefined && nowMs < held.expiresAtMs) {
      if (nowMs >= held.refreshAtMs && nowMs >= this.#noRenewalBeforeMs) this.#renew();
      return held.token;
    }
    const minted = await stayAwake(abortable(this.#mint(), signal));
    return minted.token;
  }

  /** Time in ms until the current token expires; undefined without one. */
  get lifeLeftMs(): number | undefined {
    return this.#held === undefined ? undefined : Math.max(0, this.#held.expiresAtMs - this.#options.clock.nowMs());
  }

  /** Drops a token that the platform refused, unless it was replaced already. */
  invalidate(token: string): boolean {
    if (this.#held?.token === token) {
      this.#held = undefined;
      this.#refused = token;
    }
    return true;
  }

  toJSON(): string {
    return '[token source]';
  }

  /** Renews in the background; a failure is ignored. */
  #renew(): void {
    this.#mint().catch(() => {
      this.#noRenewalBeforeMs = this.#options.clock.nowMs() + RENEWAL_PAUSE_MS;
    });
  }

  #mint(): Promise<Held> {
    return this.#minting.run(async () => {
      const held = await this.#obtain();
      this.#held = held;
      return held;
    });
  }

  /** Another process's token if it is better than the current one, else a new one. */
  async #obtain(): Promise<Held> {
    const { clock, closing } = this.#options;
    try {
      for (let looks = 0; ; looks += 1) {
        const shared = await this.#shared();
        if (shared !== undefined) return shared;
        // The process with the claim may have died: after a while this one mints too.
        if (looks >= MOST_LOOKS) break;
        if (await this.#store.claim(this.#keyId, this.#owner, CLAIM_MS)) {
          // The previous owner may have minted since the last look.
          const justMinted = await this.#shared();
          if (justMinted !== undefined) return justMinted;
          break;
        }
        await sleep(clock, LOOK_EVERY_MS, closing);
      }
      const { token, askedAtMs, lifeMs } = await this.#mintWithRepeats();
      const sealed = Buffer.from(seal(this.#sealingKey(), Buffer.from(token))).toString('base64');
      await this.#store.write(this.#keyId, { sealed, lifeMs: askedAtMs + lifeMs - clock.nowMs() });
      return this.#schedule(token, askedAtMs, lifeMs);
    } finally {
      await this.#store.release(this.#keyId, this.#owner);
    }
  }

  async #mintWithRepeats(): Promise<Minted> {
    const { clock, closing, lifeSeconds = DEFAULT_LIFE_SECONDS, random = Math.random, ...rest } = this.#options;
    const untilMs = clock.nowMs() + DEADLINE_MS;
    for (let attempt = 0; ; attempt += 1) {
      await this.#budget(untilMs);
      const outcome = await mintToken({ ...rest, clock, closing, lifeSeconds: Math.min(lifeSeconds, MOST_LIFE_SECONDS) });
      if ('token' in outcome) return outcome;
      if (!outcome.error.retryable || attempt >= MOST_REPEATS) throw outcome.error;
      const delay = { clock, policy: BACKOFF, attempt, random: random(), untilMs };
      await sleep(clock, repeatDelayMs(outcome, delay), closing);
    }
  }

  /** Waits for one of the minute's mints. */
  async #budget(untilMs: number): Promise<void> {
    const { clock, closing } = this.#options;
    for (;;) {
      const waitMs = await this.#store.takeMint(this.#keyId);
      if (waitMs === 0) return;
      if (clock.nowMs() + waitMs > untilMs)
        throw new SpeechBusyError('the 60 token requests of a minute that a key may make are used up');
      await sleep(clock, waitMs, closing);
    }
  }

  async #shared(): Promise<Held | undefined> {
    const { clock } = this.#options;
    const shared = await this.#store.read(this.#keyId);
    const plain = shared === undefined ? undefined : unseal(this.#sealingKey(), Buffer.from(shared.sealed, 'base64'));
    if (shared === undefined || plain === undefined) return undefined;
    const token = Buffer.from(plain).toString();
    if (token === this.#refused || token === this.#held?.token) return undefined;
    return this.#schedule(token, clock.nowMs(), shared.lifeMs);
  }

  #schedule(token: string, fromMs: number, lifeMs: number): Held {
    const { random = Math.random } = this.#options;
    const marginMs = Math.min(MOST_MARGIN_MS, lifeMs * REFRESH_SHARE) * (1 - REFRESH_JITTER * random());
    return { token, expiresAtMs: fromMs + lifeMs, refreshAtMs: fromMs + lifeMs - marginMs };
  }

  #sealingKey(): Uint8Array {
    return sealingKey(this.#options.apiKey, 'shared token');
  }
}

export interface MintOptions {
  readonly authUrl: string;
  readonly apiKey: string;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  /** Lifetime to ask for, in whole seconds. */
  readonly lifeSeconds: number;
  readonly closing: AbortSignal | undefined;
}

/** A new token, and its lifetime from the moment of the request. */
export interface Minted {
  readonly token: string;
  readonly askedAtMs: number;
  readonly lifeMs: number;
}

const answer = z.looseObject({
  token: z.string().regex(headerSafe),
  expires_in: z.number().positive().optional().catch(undefined),
  expires_at: z.union([z.string(), z.number()]).optional().catch(undefined),
});

/** Lifetime when the answer states none (document 1, limits). */
const DEFAULT_LIFE_MS = 900_000;
/** No token lives longer (document 1, limits). */
const MOST_LIFE_MS = 86_400_000;
const TIMEOUT_MS = 10_000;
const MOST_ANSWER_BYTES = 64 * 1024;

/**
 * One request for a token: `POST {auth_url}/api/auth/token`, the key in the `api-key` header and nowhere else (document 1).
 * @throws SpeechProtocolError for an answer without a token; the reason of `closing` when it aborts
 */
export async function mintToken(options: MintOptions): Promise<Minted | Refusal> {
  const { authUrl, apiKey, clock, closing, lifeSeconds } = options;
  if (!headerSafe.test(apiKey)) {
    const message = 'the API key is empty or has a space, a line break or another odd character; check that it is whole';
    return { error: new SpeechRequestError(message), waitMs: undefined };
  }
  const url = serviceUrl(authUrl, '/api/auth/token');
  url.searchParams.set('expires_in', String(lifeSeconds));
  const askedAtMs = clock.nowMs();
  let response: Response;
  let text: string;
  try {
    [response, text] = await withDeadline(clock, TIMEOUT_MS, [closing], async (signal) => {
      const headers = { 'api-key': apiKey, accept: 'application/json' };
      const given = await options.fetch(url, { method: 'POST', headers, redirect: 'manual', signal });
      return [given, await readText(given, MOST_ANSWER_BYTES)];
    });
  } catch (cause) {
    closing?.throwIfAborted();
    return {
      error: new SpeechUnavailableError(`${url.origin} gives no token: ${reasonOf(cause)}`, { cause }),
      waitMs: undefined,
    };
  }
  if (!response.ok) {
    const waitMs = retryAfterMs(response.headers.get('retry-after'), clock.wallMs());
    return { error: refusal(response.status, maskSecret(apiKey, '[key]')(text)), waitMs };
  }
  const parsed = answer.safeParse(parseJson(text));
  if (!parsed.success) throw new SpeechProtocolError('the token service answered without a token', { status: response.status });
  return { token: parsed.data.token, askedAtMs, lifeMs: lifeMs(parsed.data, clock.wallMs()) };
}

/** From `expires_in`, or else `expires_at` (ISO 8601; Unix seconds from older services). */
function lifeMs({ expires_in: seconds, expires_at: at }: z.output<typeof answer>, wallMs: number): number {
  if (seconds !== undefined) return Math.min(MOST_LIFE_MS, seconds * 1000);
  const epochMs = typeof at === 'number' ? at * 1000 : Date.parse(at ?? '');
  return Number.isNaN(epochMs) ? DEFAULT_LIFE_MS : Math.min(MOST_LIFE_MS, Math.max(1_000, epochMs - wallMs));
}

function refusal(status: number, text: string): SpeechError {
  const facts = { status, body: text };
  const said = `token request: ${errorMessage(text) ?? 'no reason given'} (HTTP ${status})`;
  if (status === 400) return new SpeechRequestError(`${said}; check that the API key is whole`, facts);
  if (status === 401 || status === 402 || status === 403)
    return new SpeechAuthError(`${said}; the API key is wrong, revoked, or its account has no balance`, facts);
  return errorOfAnswer('token request', status, text, undefined);
}

/** Why there is no answer, and what to do. */
function reasonOf(cause: unknown): string {
  return cause instanceof SpeechUnavailableError ? cause.message : 'it cannot be reached; check the address and the network';
}

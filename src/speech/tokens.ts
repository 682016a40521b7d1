import { z } from 'zod';
import { sleep } from '../kernel/abort.ts';
import { backoffDelayMs } from '../kernel/backoff.ts';
import type { Clock } from '../kernel/clock.ts';
import { SingleFlight } from '../kernel/single-flight.ts';
import { withDeadline } from './deadline.ts';
import {
  errorMessage,
  errorOfAnswer,
  SpeechAuthError,
  type SpeechError,
  SpeechProtocolError,
  SpeechRequestError,
  SpeechUnavailableError,
} from './errors.ts';
import { readText } from './read-text.ts';
import { retryAfterMs } from './retry-after.ts';

export interface TokenSourceOptions {
  readonly authUrl: string;
  readonly apiKey: string;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  /** Lifetime to ask for, in whole seconds; 900 when absent. */
  readonly lifeSeconds?: number;
  readonly random?: () => number;
  /** Aborts a mint that is still under way when the client is closed. */
  readonly closing?: AbortSignal;
}

interface Held {
  readonly token: string;
  readonly refreshAtMs: number;
  readonly expiresAtMs: number;
}

interface Refused {
  readonly error: SpeechError;
  readonly waitMs: number | undefined;
}

// What goes into a header: an odd character would make the runtime's own error repeat the whole secret.
const headerSafe = /^[\x21-\x7e]+$/u;
const answer = z.looseObject({
  token: z.string().regex(headerSafe),
  expires_in: z.number().positive().optional().catch(undefined),
  expires_at: z.union([z.string(), z.number()]).optional().catch(undefined),
});

const DEFAULT_LIFE_SECONDS = 900;
const MINT_TIMEOUT_MS = 10_000;
const MOST_ANSWER_BYTES = 64 * 1024;
/** Waits of the documents' example; at most this many repeats. */
const BACKOFF = { firstMs: 1_000, factor: 2, maxMs: 4_000, jitter: 0.25 } as const;
const MOST_REPEATS = 3;
/** A token is renewed when this share of its life is left, or this long before its end, whichever is shorter. */
const REFRESH_SHARE = 0.2;
const MOST_MARGIN_MS = 120_000;
/** After a failed renewal the old token is used this long before the next try. */
const RENEWAL_PAUSE_MS = 5_000;

/**
 * Mints access tokens and keeps one until it is close to its end (document 1). Concurrent callers share one mint; a token
 * that still lives is used while its successor is fetched. The API key goes nowhere but into the `api-key` header of the
 * token endpoint. Schedules by the monotonic clock, so a wrong wall clock changes nothing.
 */
export class TokenSource {
  readonly #options: TokenSourceOptions;
  readonly #minting = new SingleFlight<Held>();
  #held: Held | undefined;
  #noRenewalBeforeMs = Number.NEGATIVE_INFINITY;

  /** @throws RangeError for a lifetime that is not a whole number of seconds, 1 or more */
  constructor(options: TokenSourceOptions) {
    const { lifeSeconds = DEFAULT_LIFE_SECONDS } = options;
    if (!Number.isInteger(lifeSeconds) || lifeSeconds < 1)
      throw new RangeError(`a token's lifetime is a whole number of seconds, 1 or more, not ${lifeSeconds}`);
    this.#options = options;
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
    const minted = await abortable(this.#mint(), signal);
    return minted.token;
  }

  /** Forgets a token that the platform refused; one that was replaced already changes nothing. */
  invalidate(token: string): void {
    if (this.#held?.token === token) this.#held = undefined;
  }

  toJSON(): string {
    return '[token source]';
  }

  /** In the background: nobody waits for it, and nobody fails with it. */
  #renew(): void {
    this.#mint().catch(() => {
      this.#noRenewalBeforeMs = this.#options.clock.nowMs() + RENEWAL_PAUSE_MS;
    });
  }

  #mint(): Promise<Held> {
    return this.#minting.run(async () => {
      const held = await this.#mintWithRepeats();
      this.#held = held;
      return held;
    });
  }

  async #mintWithRepeats(): Promise<Held> {
    const { clock, closing, random = Math.random } = this.#options;
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await this.#mintOnce();
      if ('token' in outcome) return outcome;
      if (!outcome.error.retryable || attempt >= MOST_REPEATS) throw outcome.error;
      await sleep(clock, outcome.waitMs ?? backoffDelayMs(BACKOFF, attempt, random()), closing);
    }
  }

  async #mintOnce(): Promise<Held | Refused> {
    const { authUrl, apiKey, clock, closing, lifeSeconds = DEFAULT_LIFE_SECONDS } = this.#options;
    if (!headerSafe.test(apiKey)) {
      const message = 'the API key is empty or has a space, a line break or another odd character; check that it is whole';
      return { error: new SpeechRequestError(message), waitMs: undefined };
    }
    const url = new URL('/api/auth/token', authUrl);
    url.searchParams.set('expires_in', String(lifeSeconds));
    const askedAtMs = clock.nowMs();
    let response: Response;
    let text: string;
    try {
      [response, text] = await withDeadline(clock, MINT_TIMEOUT_MS, [closing], async (signal) => {
        const headers = { 'api-key': apiKey, accept: 'application/json' };
        const given = await this.#options.fetch(url, { method: 'POST', headers, redirect: 'manual', signal });
        return [given, await readText(given, MOST_ANSWER_BYTES)];
      });
    } catch (cause) {
      closing?.throwIfAborted();
      return { error: new SpeechUnavailableError('the token service cannot be reached', { cause }), waitMs: undefined };
    }
    if (!response.ok) {
      const waitMs = retryAfterMs(response.headers.get('retry-after'), clock.wallMs());
      return { error: refusal(response.status, text.replaceAll(apiKey, '[key]')), waitMs };
    }
    const parsed = answer.safeParse(parseJson(text));
    if (!parsed.success) throw new SpeechProtocolError('the token service answered without a token', { status: response.status });
    const lifeMs = this.#lifeMs(parsed.data);
    const marginMs = Math.min(MOST_MARGIN_MS, lifeMs * REFRESH_SHARE);
    return { token: parsed.data.token, expiresAtMs: askedAtMs + lifeMs, refreshAtMs: askedAtMs + lifeMs - marginMs };
  }

  /** From `expires_in`; `expires_at` (ISO 8601, or Unix seconds as older services send) only where that is missing. */
  #lifeMs({ expires_in: seconds, expires_at: at }: z.output<typeof answer>): number {
    if (seconds !== undefined) return seconds * 1000;
    const epochMs = typeof at === 'number' ? at * 1000 : Date.parse(at ?? '');
    return Number.isNaN(epochMs) ? DEFAULT_LIFE_SECONDS * 1000 : Math.max(1_000, epochMs - this.#options.clock.wallMs());
  }
}

function refusal(status: number, text: string): SpeechError {
  const facts = { status, body: text };
  const said = `token request: ${errorMessage(text) ?? 'no reason given'} (HTTP ${status})`;
  if (status === 400) return new SpeechRequestError(`${said}; check that the API key is whole`, facts);
  if (status === 401 || status === 402 || status === 403)
    return new SpeechAuthError(`${said}; the API key is wrong, revoked, or its account has no balance`, facts);
  return errorOfAnswer('token request', status, text, undefined);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Leaves a shared run alone when one of those who wait for it goes away. */
function abortable<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

import { z } from 'zod';
import { sleep } from '../kernel/abort.ts';
import { backoffDelayMs } from '../kernel/backoff.ts';
import type { Clock } from '../kernel/clock.ts';
import { SingleFlight } from '../kernel/single-flight.ts';
import {
  errorOfAnswer,
  SpeechProtocolError,
  SpeechRequestError,
  SpeechUnavailableError,
  type SpeechError,
  SpeechAuthError,
} from './errors.ts';
import { retryAfterMs } from './retry-after.ts';

export interface TokenSourceOptions {
  readonly authUrl: string;
  readonly apiKey: string;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  /** Lifetime to ask for, in seconds. */
  readonly lifeSeconds?: number;
  readonly random?: () => number;
}

interface Held {
  readonly token: string;
  readonly refreshAtMs: number;
  readonly expiresAtMs: number;
}

const answer = z.looseObject({
  token: z.string().min(1),
  expires_in: z.number().positive().optional(),
  expires_at: z.union([z.string(), z.number()]).optional(),
});

const DEFAULT_LIFE_SECONDS = 900;
const MINT_TIMEOUT_MS = 10_000;
/** Waits of the documents' example; at most this many repeats. */
const BACKOFF = { firstMs: 1_000, factor: 2, maxMs: 4_000, jitter: 0.25 } as const;
const MOST_REPEATS = 3;
/** A token is renewed when this share of its life is left, or this long before its end, whichever is shorter. */
const REFRESH_SHARE = 0.2;
const MOST_MARGIN_MS = 120_000;

/**
 * Mints access tokens and keeps one until it is close to its end (document 1). Concurrent callers share one mint; a token
 * that still lives is used while its successor is fetched. The API key goes nowhere but into the `api-key` header of the
 * token endpoint. Schedules by the monotonic clock, so a wrong wall clock changes nothing.
 */
export class TokenSource {
  readonly #options: TokenSourceOptions;
  readonly #minting = new SingleFlight<Held>();
  #held: Held | undefined;

  constructor(options: TokenSourceOptions) {
    this.#options = options;
  }

  /** @throws SpeechAuthError when the key is refused, SpeechUnavailableError when the service cannot be reached */
  async get(signal?: AbortSignal): Promise<string> {
    const nowMs = this.#options.clock.nowMs();
    const held = this.#held;
    if (held !== undefined && nowMs < held.expiresAtMs) {
      if (nowMs >= held.refreshAtMs) void this.#mint().catch(() => undefined);
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

  #mint(): Promise<Held> {
    return this.#minting.run(async () => {
      const held = await this.#mintWithRepeats();
      this.#held = held;
      return held;
    });
  }

  async #mintWithRepeats(): Promise<Held> {
    const { clock, random = Math.random } = this.#options;
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await this.#mintOnce();
      if ('token' in outcome) return outcome;
      if (!outcome.error.retryable || attempt >= MOST_REPEATS) throw outcome.error;
      await sleep(clock, outcome.waitMs ?? backoffDelayMs(BACKOFF, attempt, random()));
    }
  }

  async #mintOnce(): Promise<Held | { readonly error: SpeechError; readonly waitMs: number | undefined }> {
    const { authUrl, apiKey, clock, lifeSeconds = DEFAULT_LIFE_SECONDS } = this.#options;
    const url = new URL('/api/auth/token', authUrl);
    url.searchParams.set('expires_in', String(lifeSeconds));
    const askedAtMs = clock.nowMs();
    let response: Response;
    let text: string;
    try {
      response = await this.#options.fetch(url, {
        method: 'POST',
        headers: { 'api-key': apiKey, accept: 'application/json' },
        redirect: 'error',
        signal: AbortSignal.timeout(MINT_TIMEOUT_MS),
      });
      text = await response.text();
    } catch (cause) {
      return { error: new SpeechUnavailableError('the token service cannot be reached', { cause }), waitMs: undefined };
    }
    if (!response.ok)
      return { error: refusal(response.status, text), waitMs: retryAfterMs(response.headers.get('retry-after'), clock.wallMs()) };
    const parsed = answer.safeParse(parseJson(text));
    if (!parsed.success) throw new SpeechProtocolError('the token service answered without a token', { status: response.status });
    const lifeMs = this.#lifeMs(parsed.data);
    const marginMs = Math.min(MOST_MARGIN_MS, lifeMs * REFRESH_SHARE);
    return { token: parsed.data.token, expiresAtMs: askedAtMs + lifeMs, refreshAtMs: askedAtMs + lifeMs - marginMs };
  }

  #lifeMs({ expires_in: seconds, expires_at: at }: z.output<typeof answer>): number {
    if (seconds !== undefined) return seconds * 1000;
    const epochMs = typeof at === 'number' ? at * 1000 : Date.parse(at ?? '');
    return Number.isNaN(epochMs) ? DEFAULT_LIFE_SECONDS * 1000 : Math.max(1_000, epochMs - this.#options.clock.wallMs());
  }
}

function refusal(status: number, text: string): SpeechError {
  const error = errorOfAnswer('token request', status, text, undefined);
  if (status === 400) return new SpeechRequestError(`${error.message}; check that the API key is whole`, { status, body: text });
  if (error instanceof SpeechAuthError) {
    return new SpeechAuthError(`${error.message}; the API key is wrong, revoked, or its account has no balance`, {
      status,
      body: text,
    });
  }
  return error;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function abortable<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

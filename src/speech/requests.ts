import { sleep } from '../kernel/abort.ts';
import { backoffDelayMs } from '../kernel/backoff.ts';
import type { Clock } from '../kernel/clock.ts';
import { withDeadline } from './deadline.ts';
import { errorOfAnswer, type SpeechError, SpeechUnavailableError } from './errors.ts';
import { readText } from './read-text.ts';
import { retryAfterMs } from './retry-after.ts';
import type { TokenSource } from './tokens.ts';

export interface SpeechHttpOptions {
  readonly tokens: TokenSource;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  /** Longest time of one attempt. */
  readonly timeoutMs: number;
  /** How often a failed request is sent again; 3 when absent. */
  readonly maxRetries?: number;
  readonly random?: () => number;
}

export interface SpeechRequest {
  /** Names the request in errors, for example `transcription`. */
  readonly what: string;
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  /** Made anew for each attempt, so that a repeat sends all of it again. */
  readonly body?: () => FormData;
}

export interface SpeechAnswer {
  readonly status: number;
  readonly text: string;
  readonly requestId: string | undefined;
}

/** Waits of 1, 2 and 4 s (ASR doc, "Retry rules"). */
const BACKOFF = { firstMs: 1_000, factor: 2, maxMs: 4_000, jitter: 0.25 } as const;
const DEFAULT_MAX_RETRIES = 3;
/** A four-hour call with all its words is a tenth of this. */
const MOST_ANSWER_BYTES = 64 * 1024 * 1024;
const RETRYABLE: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/**
 * Sends requests with an access token. A 401 mints once and repeats once, apart from the other repeats; 429, 500, 502, 503,
 * 504 and a lost connection are repeated after growing waits, a server's Retry-After being honoured.
 */
export class SpeechHttp {
  readonly #options: SpeechHttpOptions;

  constructor(options: SpeechHttpOptions) {
    this.#options = options;
  }

  /**
   * @throws SpeechError by status, its `attempts` being the requests that were sent; the signal's reason when aborted, at
   * once and wherever it waits
   */
  async send(request: SpeechRequest, signal: AbortSignal): Promise<SpeechAnswer> {
    const { clock, maxRetries = DEFAULT_MAX_RETRIES, random = Math.random } = this.#options;
    let retries = 0;
    let freshTokenTried = false;
    for (let attempts = 1; ; attempts += 1) {
      const outcome = await this.#attempt(request, signal);
      if (!('error' in outcome)) return outcome;
      const { error } = outcome;
      if (error.status === 401 && !freshTokenTried) {
        freshTokenTried = true;
        this.#options.tokens.invalidate(outcome.token);
        continue;
      }
      const again = error.status === undefined ? error.retryable : RETRYABLE.has(error.status);
      if (!again || retries >= maxRetries) {
        error.attempts = attempts;
        throw error;
      }
      await sleep(clock, outcome.waitMs ?? backoffDelayMs(BACKOFF, retries, random()), signal);
      retries += 1;
    }
  }

  async #attempt(
    request: SpeechRequest,
    signal: AbortSignal,
  ): Promise<SpeechAnswer | { readonly error: SpeechError; readonly token: string; readonly waitMs: number | undefined }> {
    const { tokens, clock, timeoutMs } = this.#options;
    const token = await tokens.get(signal);
    const body = request.body?.();
    try {
      const [response, text] = await withDeadline(clock, timeoutMs, [signal], async (limited) => {
        const given = await this.#options.fetch(request.url, {
          method: request.method,
          headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
          // Followed, a redirect to another origin could carry the token along: it is an answer like any refusal.
          redirect: 'manual',
          signal: limited,
          ...(body === undefined ? {} : { body }),
        });
        return [given, await readText(given, MOST_ANSWER_BYTES)] as const;
      });
      const requestId = response.headers.get('x-request-id') ?? undefined;
      if (response.ok) return { status: response.status, text, requestId };
      const waitMs = retryAfterMs(response.headers.get('retry-after'), clock.wallMs());
      return { error: errorOfAnswer(request.what, response.status, text, requestId), token, waitMs };
    } catch (cause) {
      if (signal.aborted) throw signal.reason as Error;
      return {
        error: new SpeechUnavailableError(`${request.what}: the platform cannot be reached`, { cause }),
        token,
        waitMs: undefined,
      };
    }
  }
}

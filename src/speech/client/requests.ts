import { z } from 'zod';
import { SpeechProtocolError, errorOfAnswer, SpeechError, SpeechRequestError, SpeechUnavailableError } from './errors.ts';
import { sleep } from '../../kernel/waiting.ts';
import { type Clock, stayAwake } from '../../kernel/clock.ts';
import type { BackoffPolicy } from '../../kernel/backoff.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { bearerHeader, type CredentialHeader, type Tokens } from './credentials.ts';
import { openDeadline } from './deadline.ts';
import { Exchange } from './exchange.ts';
import { parseJson } from '../../kernel/json.ts';
import { type MaskSecret, maskSecret } from '../../kernel/mask-secret.ts';
import { readText } from '../../kernel/bounded-reading.ts';
import { type Refusal, repeatDelayMs, retryAfterMs } from './retry-after.ts';
import type { SlotPriority, Slots } from './slots.ts';

export interface SpeechHttpOptions {
  /** Where the credential comes from; one for each lane of the slots. */
  readonly tokens: Tokens | readonly Tokens[];
  /** The header for the credential; `Authorization: Bearer` when absent. */
  readonly header?: CredentialHeader;
  /** What to do about a refused credential; the platform's advice when absent. */
  readonly keyAdvice?: string;
  /** Each attempt takes a slot, and releases it while it waits for the next one; none is taken when absent. */
  readonly slots?: Slots;
  readonly breaker?: CircuitBreaker;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  /** Longest time of one attempt. */
  readonly timeoutMs: number;
  /** How often a failed request is sent again; 3 when absent. */
  readonly maxRetries?: number;
  /** No retry begins later than this after the first attempt; 15 minutes when absent. */
  readonly deadlineMs?: number;
  /** Waits between retries; 1, 2 and 4 s when absent (ASR doc, "Retry rules"). */
  readonly backoff?: BackoffPolicy;
  readonly random?: () => number;
}

export interface SpeechRequest {
  /** Names the request in errors, for example `transcription`. */
  readonly what: string;
  readonly url: URL;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Makes the body of each attempt. */
  readonly body?: () => FormData | string | ReadableStream<Uint8Array>;
  /** The body can be read only once: no retry after a part of it may have been sent, and the error says so. */
  readonly isOneShot?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body is a file that must not be held in memory; the error of a redirect then lacks its target. */
  readonly isLarge?: boolean;
  /** Replaces the sender's time limit. */
  readonly timeoutMs?: number;
  /** `batch` when absent. */
  readonly priority?: SlotPriority;
  /** Called before each retry with its reason. */
  readonly onRepeat?: (error: SpeechError) => void;
}

export interface SpeechAnswer {
  readonly status: number;
  readonly text: string;
  readonly requestId: string | undefined;
  /** Content of the header `X-Warnings`, which the embedded platform also puts on answers whose body has no place for them. */
  readonly warnings?: readonly string[];
  /** Requests that were sent, whether or not they arrived. */
  readonly attempts: number;
  /** Masks the request's credential in texts of the answer that go into an error. */
  readonly mask: MaskSecret;
}

interface Refused extends Refusal {
  readonly mayMint: boolean;
}

const warningList = z.array(z.string());

/** The warnings in an answer's header; none where it is absent or unreadable. */
export function warningsOf(headers: Headers): readonly string[] {
  return warningList.safeParse(parseJson(headers.get('x-warnings') ?? '')).data ?? [];
}

const BACKOFF = { firstMs: 1_000, factor: 2, maxMs: 4_000, jitter: 0.25 } as const;
const DEFAULT_MAX_RETRIES = 3;
const DEFAULT_DEADLINE_MS = 15 * 60_000;
/** Ten times the answer for a four-hour call with all its words. */
const MOST_ANSWER_BYTES = 64 * 1024 * 1024;
const MOST_REFUSAL_BYTES = 64 * 1024;
const RETRYABLE: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/**
 * Sends requests with a credential. After a 401 it mints one new token and retries once; after 429, 500, 502, 503, 504 and a lost
 * connection it retries with growing waits, and obeys Retry-After.
 */
export class SpeechHttp {
  readonly #options: SpeechHttpOptions;
  readonly #tokens: readonly Tokens[];

  constructor(options: SpeechHttpOptions) {
    this.#options = options;
    this.#tokens = 'get' in options.tokens ? [options.tokens] : options.tokens;
  }

  /**
   * The answer, read to its end.
   * @throws SpeechError by status, with the number of requests in `attempts`; the signal's reason as soon as it aborts
   */
  send(request: SpeechRequest, signal: AbortSignal): Promise<SpeechAnswer> {
    const answer = this.#repeat(request, signal, async (exchange, attempts) => {
      const { response, requestId, mask } = exchange;
      const text = await readText(response, MOST_ANSWER_BYTES);
      const warnings = warningsOf(response.headers);
      return { status: response.status, text, requestId, warnings, attempts, mask };
    });
    return stayAwake(answer);
  }

  /**
   * The answer once its head has arrived; its body is read as it arrives. Close it: until then it holds its slot, and the time
   * limit of the attempt runs. A connection that breaks after the head is not retried.
   * @throws as `send`
   */
  open(request: SpeechRequest, signal: AbortSignal): Promise<Exchange> {
    return stayAwake(this.#repeat(request, signal, async (exchange) => exchange.keep()));
  }

  async #repeat<Value>(
    request: SpeechRequest,
    signal: AbortSignal,
    take: (exchange: Exchange, attempts: number) => Promise<Value>,
  ): Promise<Value> {
    const { clock, maxRetries = DEFAULT_MAX_RETRIES, deadlineMs = DEFAULT_DEADLINE_MS } = this.#options;
    const { backoff = BACKOFF, random = Math.random } = this.#options;
    const untilMs = clock.nowMs() + deadlineMs;
    let retries = 0;
    let freshTokenTried = false;
    for (let attempts = 1; ; attempts += 1) {
      const outcome = await this.#attempt(request, signal, (exchange) => take(exchange, attempts));
      if ('value' in outcome) return outcome.value;
      const { error, mayMint } = outcome;
      error.attempts = attempts;
      const again = error.status === undefined ? error.retryable : RETRYABLE.has(error.status);
      const isStale = error.status === 401 && mayMint && !freshTokenTried;
      if (request.isOneShot === true) {
        if (again || isStale) error.addNote('it was not sent again, since its body can be read once only');
        throw error;
      }
      if (isStale) {
        freshTokenTried = true;
        continue;
      }
      if (!again || retries >= maxRetries) throw error;
      const delayMs = repeatDelayMs(outcome, { clock, policy: backoff, attempt: retries, random: random(), untilMs });
      request.onRepeat?.(error);
      await sleep(clock, delayMs, signal);
      retries += 1;
    }
  }

  async #attempt<Value>(
    request: SpeechRequest,
    signal: AbortSignal,
    take: (exchange: Exchange) => Promise<Value>,
  ): Promise<{ readonly value: Value } | Refused> {
    const { slots, breaker, clock, timeoutMs } = this.#options;
    using slot = slotScope(await slots?.acquire(request.priority ?? 'batch', signal));
    // An open breaker is not a failure of this request: it is not retried.
    breaker?.check();
    const tokens = this.#tokens[slot.lane] ?? this.#tokens[0];
    if (tokens === undefined) throw new TypeError('a sender of requests needs a source of tokens');
    const token = await tokens.get(signal);
    const deadline = openDeadline(clock, request.timeoutMs ?? timeoutMs, [signal]);
    const exchange = new Exchange(() => {
      deadline[Symbol.dispose]();
      slot.release();
    }, maskSecret(token));
    slot.handOver();
    // An unread answer releases its slot at the time limit.
    deadline.signal.addEventListener('abort', () => exchange.close(), { once: true });
    try {
      const response = await this.#fetch(request, token, deadline.signal);
      exchange.begin(response);
      if (response.ok) {
        breaker?.succeeded();
        return { value: await take(exchange) };
      }
      const text = exchange.mask(await readText(response, MOST_REFUSAL_BYTES));
      const waitMs = retryAfterMs(response.headers.get('retry-after'), clock.wallMs());
      const { keyAdvice } = this.#options;
      const error = errorOfAnswer(request.what, response.status, text, exchange.requestId, { waitMs, keyAdvice });
      if (response.status >= 500) breaker?.failed();
      else breaker?.succeeded();
      return { error, waitMs, mayMint: response.status === 401 && tokens.invalidate(token) };
    } catch (cause) {
      if (signal.aborted) throw signal.reason as Error;
      if (cause instanceof SpeechError && !(cause instanceof SpeechUnavailableError)) throw cause;
      if (isRedirect(cause)) throw new SpeechRequestError(`${request.what}: redirects are not followed`, { cause });
      if (isUnreadableFile(cause))
        throw new SpeechRequestError(`${request.what}: the file changed or went away while it was sent; send it again`, {
          cause,
        });
      breaker?.failed();
      const why = cause instanceof SpeechUnavailableError ? cause.message : unreachable(request.url, cause);
      const said = `${request.what}: ${why}`;
      return { error: new SpeechUnavailableError(said, { cause }), mayMint: false, waitMs: undefined };
    } finally {
      if (!exchange.isKept) exchange.close();
    }
  }

  #fetch(request: SpeechRequest, token: string, signal: AbortSignal): Promise<Response> {
    const { header = bearerHeader } = this.#options;
    const body = request.body?.();
    return this.#options.fetch(request.url, {
      method: request.method,
      headers: { accept: 'application/json', ...request.headers, ...header(token) },
      // A followed redirect could carry the credential to another origin: it counts as a refusal.
      redirect: 'manual',
      signal,
      // In any other mode the runtime keeps a copy of the whole body for a redirect.
      ...(request.isLarge === true ? { redirect: 'error', window: null } : {}),
      ...(body === undefined ? {} : { body }),
      ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
    });
  }
}

/** The runtime's error for a redirect in the mode `error`. */
function isRedirect(cause: unknown): boolean {
  return cause instanceof TypeError && cause.cause instanceof Error && cause.cause.message === 'unexpected redirect';
}

/** The reason of a failed fetch, which is in the causes of the runtime's error. */
function unreachable({ origin }: URL, cause: unknown): string {
  let code: unknown;
  for (let error = cause; error instanceof Error && code === undefined; error = error.cause) code = Reflect.get(error, 'code');
  const why = typeof code === 'string' ? ` (${code})` : '';
  return `${origin} cannot be reached, or hung up${why}; check the address and the network`;
}

/** Whether this is the runtime's error for a file that changed after it was opened. */
function isUnreadableFile(cause: unknown): boolean {
  for (let error = cause; error instanceof Error; error = error.cause) if (error.name === 'NotReadableError') return true;
  return false;
}

/** Releases a slot at the end of the block, unless an exchange has taken it over. */
function slotScope(slot: { readonly lane: number; release(): void } | undefined) {
  let isOurs = true;
  return {
    lane: slot?.lane ?? 0,
    release: () => slot?.release(),
    handOver: () => (isOurs = false),
    [Symbol.dispose]() {
      if (isOurs) slot?.release();
    },
  };
}

/** Longest body that is passed to an error, which cuts it further. */
const MOST_TOLD = 8_000;

/**
 * Parses a JSON answer with a schema.
 * @param what names the answer in the error, for example `the speaker list`
 * @returns the schema's output, and the answer's own JSON
 * @throws SpeechProtocolError with the request id and the raw body
 */
export function readAnswer<Output>(
  shape: z.ZodType<Output>,
  { text, requestId, status, attempts, mask }: SpeechAnswer,
  what: string,
): { readonly data: Output; readonly value: unknown } {
  const wrong = (message: string): SpeechProtocolError => {
    const body = mask(text.slice(0, MOST_TOLD));
    return new SpeechProtocolError(mask(message), { status, requestId, body, attempts });
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // No cause: JSON.parse's error contains the text.
    throw wrong(`${what} is not JSON`);
  }
  const parsed = shape.safeParse(value);
  if (!parsed.success) throw wrong(`${what} cannot be read: ${z.prettifyError(parsed.error)}`);
  return { data: parsed.data, value };
}

/** The schema's output of a JSON answer. @throws as `readAnswer` */
export function parseAnswer<Output>(shape: z.ZodType<Output>, answer: SpeechAnswer, what: string): Output {
  return readAnswer(shape, answer, what).data;
}

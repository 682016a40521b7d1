import type { z } from 'zod';
import { sleep } from '../kernel/waiting.ts';
import type { Clock } from '../kernel/clock.ts';
import { readText } from '../kernel/bounded-reading.ts';
import { rootCause } from '../kernel/errors.ts';
import { parseJson } from '../kernel/json.ts';
import { CarrierControlError, DialUnknownError } from './errors.ts';

const ATTEMPTS = 2;
const RETRY_AFTER_MS = 300;
const TIMEOUT_MS = 5_000;
/** A dial without an answer has to be looked up, so its answer is waited for longer. */
const DIAL_TIMEOUT_MS = 15_000;
/** Of lists too, which have about 1.5 KB for each call. */
const MOST_ANSWER_BYTES = 256 * 1024;

export interface RestRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams;
}

/** An answer to a request that the carrier carried out. */
export interface RestAnswer {
  /** Parsed JSON, which may be anything; undefined for a body that is none. */
  readonly body: unknown;
  /** The carrier's wall clock, in whole seconds; ours where it does not say. */
  readonly atWallMs: number;
}

/** What a carrier says of a request that it refused. */
export interface RestProblem {
  readonly code?: string | number | undefined;
  readonly message?: string | undefined;
}

/** Requests to a carrier's REST interface. @param problemOf reads the body of a refusal, which may be anything */
export class CarrierRest {
  readonly #clock: Clock;
  readonly #problemOf: (body: string) => RestProblem;

  constructor(clock: Clock, problemOf: (body: string) => RestProblem) {
    this.#clock = clock;
    this.#problemOf = problemOf;
  }

  /** Asks again once where that may help: only for what says how the call shall be, and for questions. @throws CarrierControlError */
  async repeat(request: RestRequest, signal: AbortSignal): Promise<RestAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.once(request, signal);
      } catch (error) {
        const again = error instanceof CarrierControlError && error.retryable && attempt < ATTEMPTS;
        if (!again || signal.aborted) throw error;
        await sleep(this.#clock, RETRY_AFTER_MS, signal);
      }
    }
  }

  /**
   * Asks a question, again once where that may help.
   * @returns undefined where the carrier has no such thing (404)
   * @throws CarrierControlError, also for an answer of another form
   */
  async read<Form extends z.ZodType>(
    request: RestRequest,
    form: Form,
    signal: AbortSignal,
  ): Promise<{ readonly value: z.output<Form>; readonly atWallMs: number } | undefined> {
    const answer = await this.repeat(request, signal).catch(noneAt404);
    if (answer === undefined) return undefined;
    const parsed = form.safeParse(answer.body);
    if (!parsed.success) throw new CarrierControlError("the carrier's answer cannot be read", { retryable: true });
    return { value: parsed.data, atWallMs: answer.atWallMs };
  }

  /**
   * Ends a call, once more where that may help.
   * @returns undefined for a call that the carrier does not know any more: it is over
   * @throws CarrierControlError
   */
  async end(request: RestRequest, signal: AbortSignal): Promise<RestAnswer | undefined> {
    return await this.repeat(request, signal).catch(noneAt404);
  }

  /**
   * Has the carrier place a call: asks once, whatever comes of it.
   * @throws CarrierControlError when it surely placed none; DialUnknownError when nobody knows
   */
  async dial<Form extends z.ZodType>(request: RestRequest, form: Form, signal: AbortSignal): Promise<z.output<Form>> {
    if (signal.aborted) {
      const details = { retryable: true, surelyNotDone: true, cause: signal.reason };
      throw new CarrierControlError('the carrier was not asked for the call', details);
    }
    let answer: RestAnswer;
    try {
      answer = await this.once(request, signal, DIAL_TIMEOUT_MS);
    } catch (cause) {
      if (cause instanceof CarrierControlError && cause.surelyNotDone) throw cause;
      const facts = cause instanceof CarrierControlError ? cause.facts : {};
      throw new DialUnknownError('the carrier was asked for a call, and did not say whether it took the order', { cause, facts });
    }
    const parsed = form.safeParse(answer.body);
    if (!parsed.success) throw new DialUnknownError('the carrier took an order for a call, and its answer cannot be read');
    return parsed.data;
  }

  /** Asks once: an update without an answer may have been carried out. @throws CarrierControlError */
  async once({ url, ...request }: RestRequest, signal: AbortSignal, withinMs = TIMEOUT_MS): Promise<RestAnswer> {
    const late = new AbortController();
    const timer = this.#clock.after(withinMs, () => late.abort(new Error(`no answer within ${withinMs} ms`)));
    let response: Response;
    let body: string;
    try {
      response = await fetch(url, { ...request, signal: AbortSignal.any([signal, late.signal]), redirect: 'manual' });
      body = await readText(response, MOST_ANSWER_BYTES);
    } catch (cause) {
      if (signal.aborted) throw cause;
      const surelyNotDone = wasNeverSent(cause);
      throw new CarrierControlError('the carrier cannot be reached', { retryable: true, surelyNotDone, cause });
    } finally {
      timer.cancel();
    }
    if (response.ok) return { body: parseJson(body), atWallMs: this.#wallMsOf(response) };
    const { status } = response;
    const { code, message } = this.#problemOf(body);
    const retryable = status === 429 || status >= 500;
    const told = message === undefined ? '' : `: ${withoutAddresses(message).slice(0, 200)}`;
    throw new CarrierControlError(`the carrier answered with HTTP ${status}${told}`, {
      retryable,
      surelyNotDone: status < 500 && status !== REQUEST_TIMEOUT,
      facts: { status, carrierCode: typeof code === 'string' ? withoutAddresses(code).slice(0, 100) : code },
    });
  }

  #wallMsOf(response: Response): number {
    const dateMs = Date.parse(response.headers.get('date') ?? '');
    return Number.isNaN(dateMs) ? this.#clock.wallMs() : dateMs;
  }
}

function noneAt404(error: unknown): undefined {
  if (!(error instanceof CarrierControlError && error.facts['status'] === 404)) throw error;
}

/** By which a proxy says that it did not get the whole request, or that nobody behind it answered. */
const REQUEST_TIMEOUT = 408;

/** Errors of name resolution, of connecting, and of the carrier's certificate: all come before a request is written. */
const BEFORE_SENDING =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_.*|ERR_TLS_CERT_.*|UNABLE_TO_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*)$/u;

function wasNeverSent(error: unknown): boolean {
  const cause = rootCause(error);
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' && BEFORE_SENDING.test(cause.code);
}

/** The carrier may repeat the numbers, keys and addresses that it was given, and its text goes into logs and records. */
function withoutAddresses(message: string): string {
  return message.replaceAll(/\b(?:https?|wss?):\/\/\S+/giu, '…').replaceAll(/\+?\d{3,}/gu, '…');
}

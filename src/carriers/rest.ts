import type { z } from 'zod';
import { sleep } from '../kernel/waiting.ts';
import type { Clock } from '../kernel/clock.ts';
import { readText } from '../kernel/bounded-reading.ts';
import { rootCause } from '../kernel/errors.ts';
import { parseJson } from '../kernel/json.ts';
import { CarrierControlError, DialUnknownError } from './errors.ts';
import type { CallControl } from './port.ts';

const ATTEMPTS = 2;
const RETRY_AFTER_MS = 300;
const TIMEOUT_MS = 5_000;
/** A dial without an answer must be looked up, so its answer is waited for longer. */
const DIAL_TIMEOUT_MS = 15_000;
/** Largest answer; a list has about 1.5 KB for each call. */
const MOST_ANSWER_BYTES = 256 * 1024;

export interface RestRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the account's base address, with its query. */
  readonly path: string;
  /** Form fields are sent as a form, a text as an XML document, any other object as JSON. */
  readonly body?: object | string;
}

/** The answer to a successful request. */
export interface RestAnswer {
  /** Parsed JSON of any shape; undefined for a body that is not JSON. */
  readonly body: unknown;
  /** The carrier's wall clock, in whole seconds; ours where it gives none. */
  readonly atWallMs: number;
}

/** A carrier's reason for refusing a request. */
export interface RestProblem {
  readonly code?: string | number | undefined;
  readonly message?: string | undefined;
}

/** One account of a carrier's REST interface. */
export interface RestAccount {
  /** Base address; the paths of requests are appended to it. */
  readonly base: string;
  /** Headers that prove the account; made once for a request and its repetition. @throws CarrierControlError where there is no proof to be had */
  headers(signal: AbortSignal): RestHeaders | Promise<RestHeaders>;
  /** What a refusal's body says: JSON of any shape, undefined for anything else. */
  problem(body: unknown): RestProblem;
  /** Hears of headers that the carrier refused (401). */
  refused?(headers: RestHeaders): void;
}

export type RestHeaders = Readonly<Record<string, string>>;

/** A request with what proves it. */
interface ProvenRequest {
  readonly url: URL;
  readonly init: { readonly method: string; readonly headers: RestHeaders; readonly body?: string | URLSearchParams };
}

/** Requests to a carrier's REST interface in the name of one account. */
export class CarrierRest {
  readonly clock: Clock;
  readonly #account: RestAccount;

  constructor(account: RestAccount, clock: Clock) {
    this.clock = clock;
    this.#account = account;
  }

  /** Retries once where that may help: only for questions and for orders that set a state. @throws CarrierControlError */
  async repeat(request: RestRequest, signal: AbortSignal): Promise<RestAnswer> {
    const proven = await this.#proven(request, signal);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#send(proven, signal, TIMEOUT_MS);
      } catch (error) {
        const again = error instanceof CarrierControlError && error.retryable && attempt < ATTEMPTS;
        if (!again || signal.aborted) throw error;
        await sleep(this.clock, RETRY_AFTER_MS, signal);
      }
    }
  }

  /**
   * Asks a question by GET; retries once where that may help.
   * @param path below the account's base address, with its query
   * @returns undefined where the carrier has no such thing (404)
   * @throws CarrierControlError, also for an answer of another form
   */
  async read<Form extends z.ZodType>(
    path: string,
    form: Form,
    signal: AbortSignal,
  ): Promise<{ readonly value: z.output<Form>; readonly atWallMs: number } | undefined> {
    const answer = await this.repeat({ method: 'GET', path }, signal).catch(noneAt404);
    if (answer === undefined) return undefined;
    const parsed = form.safeParse(answer.body);
    if (!parsed.success) throw new CarrierControlError("the carrier's answer cannot be read", { retryable: true });
    return { value: parsed.data, atWallMs: answer.atWallMs };
  }

  /**
   * Ends a call; retries once where that may help.
   * @returns undefined for a call unknown to the carrier, which is over
   * @throws CarrierControlError
   */
  async end(request: RestRequest, signal: AbortSignal): Promise<RestAnswer | undefined> {
    return await this.repeat(request, signal).catch(noneAt404);
  }

  /**
   * Places a call, with a single request.
   * @throws CarrierControlError when it certainly placed none; DialUnknownError when that is not known
   */
  async dial<Form extends z.ZodType>(request: RestRequest, form: Form, signal: AbortSignal): Promise<z.output<Form>> {
    if (signal.aborted) {
      const details = { retryable: true, surelyNotDone: true, cause: signal.reason };
      throw new CarrierControlError('the carrier was not asked for the call', details);
    }
    const proven = await this.#proven(request, signal);
    let answer: RestAnswer;
    try {
      answer = await this.#send(proven, signal, DIAL_TIMEOUT_MS);
    } catch (cause) {
      if (cause instanceof CarrierControlError && cause.surelyNotDone) throw cause;
      const facts = cause instanceof CarrierControlError ? cause.facts : {};
      throw new DialUnknownError('the carrier was asked for a call, and did not say whether it took the order', { cause, facts });
    }
    const parsed = form.safeParse(answer.body);
    if (!parsed.success) throw new DialUnknownError('the carrier took an order for a call, and its answer cannot be read');
    return parsed.data;
  }

  /** Sends once: an update without an answer may have been carried out. @throws CarrierControlError */
  async once(request: RestRequest, signal: AbortSignal): Promise<RestAnswer> {
    return this.#send(await this.#proven(request, signal), signal, TIMEOUT_MS);
  }

  async #proven({ method, path, body }: RestRequest, signal: AbortSignal): Promise<ProvenRequest> {
    const { base } = this.#account;
    const headers = await this.#account.headers(signal);
    const url = new URL(base + path);
    if (body === undefined) return { url, init: { method, headers } };
    if (body instanceof URLSearchParams) return { url, init: { method, headers, body } };
    const isText = typeof body === 'string';
    const type = { 'content-type': isText ? 'application/xml; charset=utf-8' : 'application/json' };
    return { url, init: { method, headers: { ...headers, ...type }, body: isText ? body : JSON.stringify(body) } };
  }

  async #send({ url, init }: ProvenRequest, signal: AbortSignal, withinMs: number): Promise<RestAnswer> {
    const late = new AbortController();
    const timer = this.clock.after(withinMs, () => late.abort(new Error(`no answer within ${withinMs} ms`)));
    let response: Response;
    let body: string;
    try {
      response = await fetch(url, { ...init, signal: AbortSignal.any([signal, late.signal]), redirect: 'manual' });
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
    if (status === 401) this.#account.refused?.(init.headers);
    const { code, message } = this.#account.problem(parseJson(body));
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
    return Number.isNaN(dateMs) ? this.clock.wallMs() : dateMs;
  }
}

function noneAt404(error: unknown): undefined {
  if (!(error instanceof CarrierControlError && error.facts['status'] === 404)) throw error;
}

/** Statuses by which a proxy says that the request was incomplete, or that no server answered behind it. */
const REQUEST_TIMEOUT = 408;

/** Errors of name resolution, connecting, and the carrier's certificate: all before a request is written. */
const BEFORE_SENDING =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_.*|ERR_TLS_CERT_.*|UNABLE_TO_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*)$/u;

function wasNeverSent(error: unknown): boolean {
  const cause = rootCause(error);
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' && BEFORE_SENDING.test(cause.code);
}

/** Removes numbers, keys and addresses that the carrier may repeat: its text goes into logs and records. */
function withoutAddresses(message: string): string {
  return message.replaceAll(/\b(?:https?|wss?):\/\/\S+/giu, '…').replaceAll(/\+?\d{3,}/gu, '…');
}

/**
 * Joins two calls that are moved by separate requests: the other one first, since the caller's stream continues until its own move and can report a
 * failure. If the caller's call is not moved, the other one is hung up: it has lost its stream and would wait alone.
 * @param move moves one call to where the two meet
 * @throws what `move` throws
 */
export async function joinOneByOne(
  control: Pick<CallControl, 'hangUp'>,
  [carrierCallId, otherCarrierCallId]: readonly [string, string],
  move: (carrierCallId: string) => Promise<unknown>,
  signal: AbortSignal,
): Promise<void> {
  await move(otherCarrierCallId);
  try {
    await move(carrierCallId);
  } catch (error) {
    await control.hangUp(otherCarrierCallId, signal).catch(() => undefined);
    throw error;
  }
}

import { sleep } from '../kernel/waiting.ts';
import type { Clock } from '../kernel/clock.ts';
import { readText } from '../kernel/bounded-reading.ts';
import { CarrierControlError } from './errors.ts';

const ATTEMPTS = 2;
const RETRY_AFTER_MS = 300;
const TIMEOUT_MS = 5_000;
const MOST_ANSWER_BYTES = 64 * 1024;

export interface RestRequest {
  readonly method: 'POST' | 'PUT';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | URLSearchParams;
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

  /** Asks again once where that may help: only for what says how the call shall be. @throws CarrierControlError */
  async repeat(request: RestRequest, signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.once(request, signal);
        return;
      } catch (error) {
        const again = error instanceof CarrierControlError && error.retryable && attempt < ATTEMPTS;
        if (!again || signal.aborted) throw error;
        await sleep(this.#clock, RETRY_AFTER_MS, signal);
      }
    }
  }

  /** Asks once: an update without an answer may have been carried out. @throws CarrierControlError */
  async once({ url, ...request }: RestRequest, signal: AbortSignal): Promise<void> {
    const late = new AbortController();
    const timer = this.#clock.after(TIMEOUT_MS, () => late.abort(new Error(`no answer within ${TIMEOUT_MS} ms`)));
    let response: Response;
    let body: string;
    try {
      response = await fetch(url, { ...request, signal: AbortSignal.any([signal, late.signal]), redirect: 'error' });
      body = await readText(response, MOST_ANSWER_BYTES);
    } catch (cause) {
      if (signal.aborted) throw cause;
      throw new CarrierControlError('the carrier cannot be reached', { retryable: true, cause });
    } finally {
      timer.cancel();
    }
    if (response.ok) return;
    const { code, message } = this.#problemOf(body);
    const retryable = response.status === 429 || response.status >= 500;
    // The carrier may repeat the number or the keys that it was given, and this text goes into the log.
    const told = message === undefined ? '' : `: ${message.replaceAll(/\+?\d{3,}/gu, '…').slice(0, 200)}`;
    throw new CarrierControlError(`the carrier answered with HTTP ${response.status}${told}`, {
      retryable,
      facts: { status: response.status, carrierCode: code },
    });
  }
}

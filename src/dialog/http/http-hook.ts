import { sleep } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Secret } from '../../config/secrets.ts';
import type { DialogAction, DialogHook, DialogHookFactory, DialogTurn } from '../port.ts';
import { DialogServerError } from '../wire/errors.ts';
import { readText } from '../../kernel/read-text.ts';
import { Patience } from '../wire/patience.ts';
import { serverWords } from '../wire/server-words.ts';
import { signedHeaders } from '../wire/signature.ts';
import { readAnswer } from './answer.ts';

export interface HttpHookSettings {
  readonly url: string;
  /** Signs the requests; unsigned without it. */
  readonly secret: Secret | undefined;
  /** Longest silence of the server, before its answer and in it. */
  readonly timeoutMs: number;
}

const RETRY_AFTER_MS = 150;
const MOST_REFUSAL_BYTES = 4_096;
const ACCEPTED = 'application/json, application/x-ndjson, text/event-stream, text/plain';

/** Bots that live behind one HTTP address: a POST for each turn. */
export function httpHooks(settings: HttpHookSettings, clock: Clock): DialogHookFactory {
  return { create: () => new HttpHook(settings, clock) };
}

/**
 * One conversation with a bot's server. The request is `{version, call, index, input, history, variables}`; every attempt at
 * a turn carries the same `idempotency-key`. What is said of `DialogHook` holds for the answer; see `readAnswer`.
 */
export class HttpHook implements DialogHook {
  readonly #settings: HttpHookSettings;
  readonly #clock: Clock;

  constructor(settings: HttpHookSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  /**
   * Asks once, and once more when the server could not be reached or was down before it answered anything.
   * @throws DialogServerError, DialogTimeoutError, DialogAnswerError
   */
  async *respond(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    using patience = new Patience(this.#clock, this.#settings.timeoutMs, "the bot's server");
    const either = AbortSignal.any([signal, patience.signal]);
    try {
      const response = await this.#ask(turn, either);
      patience.renew();
      if (response.body === null) return;
      yield* patience.deliver(readAnswer(response.headers.get('content-type'), response.body));
    } catch (error) {
      if (patience.signal.aborted) throw patience.signal.reason;
      throw error;
    }
  }

  async #ask(turn: DialogTurn, signal: AbortSignal): Promise<Response> {
    try {
      return await this.#attempt(turn, signal);
    } catch (error) {
      if (signal.aborted || !(error instanceof DialogServerError) || !error.retryable) throw error;
      await sleep(this.#clock, RETRY_AFTER_MS, signal);
      return this.#attempt(turn, signal);
    }
  }

  /** @returns an answer with a status of 2xx */
  async #attempt(asked: DialogTurn, signal: AbortSignal): Promise<Response> {
    const { url, secret } = this.#settings;
    const { idempotencyKey, ...turn } = asked;
    const body = JSON.stringify({ version: 1, ...turn });
    const headers = {
      'content-type': 'application/json',
      accept: ACCEPTED,
      'idempotency-key': idempotencyKey,
      ...(secret === undefined ? {} : signedHeaders(secret.reveal(), idempotencyKey, this.#clock.wallMs(), body)),
    };
    let response: Response;
    try {
      response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' });
    } catch (error) {
      if (signal.aborted) throw error;
      throw new DialogServerError("the bot's server cannot be reached", { retryable: true, cause: error });
    }
    if (response.ok) return response;
    const said = serverWords(await readText(response, MOST_REFUSAL_BYTES), asked, secret);
    const retryable = response.status === 502 || response.status === 503 || response.status === 504;
    throw new DialogServerError(`the bot's server answered with HTTP ${response.status}${said === '' ? '' : `: ${said}`}`, {
      retryable,
    });
  }
}

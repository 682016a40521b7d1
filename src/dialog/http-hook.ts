import { createParser } from 'eventsource-parser';
import { parseAction } from './action-schema.ts';
import type { DialogAction, DialogHook, DialogHookFactory, DialogTurn } from './port.ts';
import { DialogServerError, serverWords, AnswerDeadline, signedHeaders } from './wire.ts';
import { sleep } from '../kernel/waiting.ts';
import { traceHeaders } from '../observability/trace-context.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Secret } from '../config/secrets.ts';
import { readText } from '../kernel/bounded-reading.ts';

export interface HttpHookSettings {
  readonly url: string;
  /** Signs the requests; unsigned without it. */
  readonly secret: Secret | undefined;
  /** How long the server may be silent, before and during its answer. */
  readonly timeoutMs: number;
}

const RETRY_AFTER_MS = 150;
const MOST_REFUSAL_BYTES = 4_096;
const ACCEPTED = 'application/json, application/x-ndjson, text/event-stream, text/plain';

/** Bots behind an HTTP address: a POST for each turn. */
export function httpHooks(settings: HttpHookSettings, clock: Clock): DialogHookFactory {
  return { create: () => new HttpHook(settings, clock) };
}

/**
 * One conversation with a bot's server. The request is `{version, call, index, input, history, variables}`; every attempt at
 * a turn has the same `idempotency-key`. `readAnswer` has the forms of an answer.
 */
export class HttpHook implements DialogHook {
  readonly takesAdvice = true;
  readonly #settings: HttpHookSettings;
  readonly #clock: Clock;

  constructor(settings: HttpHookSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  /**
   * Asks once, and once more when the server could not be reached or was unavailable.
   * @throws DialogServerError, DialogTimeoutError, DialogAnswerError
   */
  async *respond(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    using deadline = new AnswerDeadline(this.#clock, this.#settings.timeoutMs, "the bot's server");
    const either = AbortSignal.any([signal, deadline.signal]);
    try {
      const response = await this.#ask(turn, either);
      deadline.renew();
      if (response.body === null) return;
      yield* deadline.deliver(readAnswer(response.headers.get('content-type'), response.body));
    } catch (error) {
      if (deadline.signal.aborted) throw deadline.signal.reason;
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
      ...traceHeaders(asked.call.callId, asked.index),
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

/** The longest answer: about an hour and a half of speech. */
const MOST_CHARACTERS = 100_000;

/**
 * Reads the body of an answer as actions, as they arrive.
 *
 * - `application/json`: one action, a text, a list of them, or an object with `actions`;
 * - `application/x-ndjson`, `application/jsonl`: one action or text for each line;
 * - `text/event-stream`: one action, or a part of a text, for each `data:`; `[DONE]` ends it;
 * - `text/plain`: text, spoken as it arrives.
 *
 * @throws DialogAnswerError for an invalid action; DialogServerError for another content type or a body that is too long
 */
export async function* readAnswer(contentType: string | null, body: AsyncIterable<Uint8Array>): AsyncGenerator<DialogAction> {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  const text = limited(body);
  switch (type) {
    case 'application/json':
      yield* readJson(await joined(text));
      return;
    case 'application/x-ndjson':
    case 'application/jsonl':
      yield* readLines(text);
      return;
    case 'text/event-stream':
      yield* readEvents(text);
      return;
    case 'text/plain':
      for await (const part of text) if (part !== '') yield { type: 'say', text: part, more: true };
      return;
    default:
      throw new DialogServerError(
        `the bot's server answered with ${type === '' ? 'no content type' : type}; accepted are application/json, application/x-ndjson, text/event-stream and text/plain`,
        { retryable: false },
      );
  }
}

async function* limited(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let characters = 0;
  for await (const bytes of body) {
    const text = decoder.decode(bytes, { stream: true });
    characters += text.length;
    if (characters > MOST_CHARACTERS) {
      throw new DialogServerError(`the bot's answer is longer than ${MOST_CHARACTERS} characters`, { retryable: false });
    }
    yield text;
  }
  yield decoder.decode();
}

async function joined(parts: AsyncIterable<string>): Promise<string> {
  let all = '';
  for await (const part of parts) all += part;
  return all;
}

function* readJson(text: string): Generator<DialogAction> {
  const answer = parsed(text);
  const list = isRecord(answer) && Array.isArray(answer['actions']) ? answer['actions'] : answer;
  for (const action of Array.isArray(list) ? list : [list]) yield parseAction(action);
}

async function* readLines(parts: AsyncIterable<string>): AsyncGenerator<DialogAction> {
  let rest = '';
  for await (const part of parts) {
    const lines = (rest + part).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield parseAction(parsed(line));
  }
  if (rest.trim() !== '') yield parseAction(parsed(rest));
}

async function* readEvents(parts: AsyncIterable<string>): AsyncGenerator<DialogAction> {
  let events: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => events.push(data) });
  for await (const part of parts) {
    parser.feed(part);
    const ready = events;
    events = [];
    for (const data of ready) {
      if (data === '[DONE]') return;
      if (data !== '') yield actionOfEvent(data);
    }
  }
}

/** An event is an action as a JSON object; anything else is text to speak. */
function actionOfEvent(data: string): DialogAction {
  return data.trimStart().startsWith('{') ? parseAction(parsed(data)) : { type: 'say', text: data, more: true };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DialogServerError("the bot's answer is not readable as JSON", { retryable: false, cause: error });
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

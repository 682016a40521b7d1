import { createParser } from 'eventsource-parser';
import { parseAction } from '../action-schema.ts';
import type { DialogAction } from '../port.ts';
import { DialogServerError } from '../wire/errors.ts';

/** More than this is no answer on the phone: about an hour and a half of speech. */
const MOST_CHARACTERS = 100_000;

/**
 * Reads the body of an answer as actions, as they arrive.
 *
 * - `application/json`: one action, a text, a list of them, or an object with `actions`;
 * - `application/x-ndjson`, `application/jsonl`: an action or a text a line;
 * - `text/event-stream`: an action a `data:`, or a piece of text to be spoken; `[DONE]` ends it;
 * - `text/plain`: text to be spoken as it comes.
 *
 * @throws DialogAnswerError for an action that cannot be used; DialogServerError for another type or a body too long
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

/** An event holds an action as a JSON object; anything else is text to be spoken. */
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

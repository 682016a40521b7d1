import { APIConnectionError, APIError, OpenAI } from 'openai';
import { ZodError } from 'zod';
import { sleep } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Secret } from '../../config/secrets.ts';
import type { DialogAction, DialogHook, DialogHookFactory, DialogTurn } from '../port.ts';
import { DialogServerError } from '../wire/errors.ts';
import { Patience } from '../wire/patience.ts';
import { serverWords } from '../wire/server-words.ts';
import { CALL_TOOLS, callAction, isCallTool, type Tool, transferTools } from './call-tools.ts';
import { messagesFor, type Message } from './messages.ts';
import { type ModelLimits, ModelRequest } from './model-request.ts';
import { ModelStream, type ToolCall } from './model-stream.ts';
import { callCodeTool, type CodeTool, parametersOf } from './code-tools.ts';
import { callWebTool, type WebTool } from './web-tool.ts';

export interface LlmHookSettings {
  readonly baseUrl: string;
  readonly model: string;
  /** The key of the address; also signs the requests to tools. */
  readonly secret: Secret | undefined;
  readonly instructions: string;
  readonly greeting?: string | undefined;
  readonly temperature?: number | undefined;
  readonly reasoningEffort?: ModelLimits['reasoningEffort'];
  readonly maxTokens: number;
  /** Longest silence of the model, before its answer and in it, and longest time of a tool. */
  readonly timeoutMs: number;
  /** All waits of a turn together, for the model and its tools. */
  readonly turnTimeoutMs: number;
  readonly tools: readonly WebTool[];
  /** Tools in the gateway's process. */
  readonly codeTools?: readonly CodeTool[];
  readonly transfers: Readonly<Record<string, string>>;
}

/** A turn that calls tools more often than this is cut off: the caller waits. */
const MOST_ROUNDS = 5;
/** Fields that are told otherwise, each of them once. */
const MOST_CHANGES = 3;
const MOST_NOTES = 10;
const MOST_NOTE_CHARACTERS = 500;
/** Before the one repeat after a lost connection or a 5xx. */
const RETRY_AFTER_MS = 150;
/** Of one answer as it is sent, about 250 bytes a token, and of one of its events. */
const MOST_ANSWER_BYTES = 16 * 1024 * 1024;
const MOST_EVENT_BYTES = 512 * 1024;
const EVENT_ENDS = ['\n\n', '\r\n\r\n', '\r\r'] as const;

/** Bots whose dialog is a language model behind an OpenAI-compatible address. */
export function llmHooks(settings: LlmHookSettings, clock: Clock): DialogHookFactory {
  const { baseUrl: baseURL, secret } = settings;
  // It would wait as long as a server asks, and forget why: a caller is waiting.
  const client = new OpenAI({ baseURL, apiKey: secret?.reveal() ?? 'none', maxRetries: 0, fetch: boundedFetch });
  const model = { client, request: new ModelRequest(settings), tools: toolsOf(settings) };
  return { create: () => new LlmHook(model, settings, clock) };
}

/** What all calls of a bot share. */
interface Model {
  readonly client: OpenAI;
  readonly request: ModelRequest;
  readonly tools: Tool[];
}

/** One conversation with a model. What tools answered is kept as notes for the turns that follow. */
export class LlmHook implements DialogHook {
  readonly #model: Model;
  readonly #settings: LlmHookSettings;
  readonly #clock: Clock;
  readonly #notes: string[] = [];

  constructor(model: Model, settings: LlmHookSettings, clock: Clock) {
    this.#model = model;
    this.#settings = settings;
    this.#clock = clock;
  }

  /** @throws DialogServerError, DialogTimeoutError */
  async *respond(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    const { greeting, timeoutMs, turnTimeoutMs, secret } = this.#settings;
    if (turn.input.kind === 'start' && greeting !== undefined) {
      yield { type: 'say', text: greeting };
      return;
    }
    using patience = new Patience(this.#clock, timeoutMs, 'the model', turnTimeoutMs);
    try {
      yield* patience.deliver(this.#rounds(turn, AbortSignal.any([signal, patience.signal]), patience));
    } catch (error) {
      if (patience.signal.aborted) throw patience.signal.reason;
      throw error instanceof APIError ? serverError(error, (text) => serverWords(text, turn, secret)) : error;
    }
  }

  async *#rounds(turn: DialogTurn, signal: AbortSignal, patience: Patience): AsyncIterable<DialogAction> {
    const { instructions, timeoutMs } = this.#settings;
    const messages = messagesFor(instructions, turn, this.#notes);
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const stream = new ModelStream();
      yield* this.#speak(messages, stream, signal, patience);
      const { toolCalls } = stream;
      if (toolCalls.length === 0) return;
      // What was said so far does not go on after the tools, and is not to wait for them.
      if (stream.text.trim() !== '') yield { type: 'say', text: '' };
      messages.push(assistantMessage(stream));
      for (const call of toolCalls) {
        // The tool has a limit of its own, and tells the model of it.
        patience.renew(2 * timeoutMs);
        const done = await this.#use(call, turn, signal);
        patience.renew();
        if (done.action !== undefined) yield done.action;
        messages.push({ role: 'tool', tool_call_id: call.id, content: done.answer });
      }
      // Nothing is left to be said after these: the model need not be asked again.
      if (toolCalls.every(({ name }) => isCallTool(name)) && stream.text.trim() !== '') return;
    }
  }

  async *#speak(
    messages: readonly Message[],
    stream: ModelStream,
    signal: AbortSignal,
    patience: Patience,
  ): AsyncIterable<DialogAction> {
    const chunks = await this.#ask(messages, signal);
    for await (const chunk of chunks) {
      const { text, isNews } = stream.take(chunk);
      if (text !== '') yield { type: 'say', text, more: true };
      // A caller hears nothing of a server that only shows that it lives.
      else if (isNews) patience.renew();
    }
    signal.throwIfAborted();
    const { maxTokens } = this.#settings;
    if (stream.isUsedUp)
      throw new DialogServerError(
        `the model used up its ${maxTokens} tokens before it said anything: raise maxTokens, or set reasoningEffort lower`,
        { retryable: false },
      );
  }

  /** Asks again what was refused for a field it need not hold, and once where nobody answered. */
  async #ask(messages: readonly Message[], signal: AbortSignal): Promise<AsyncIterable<OpenAI.Chat.ChatCompletionChunk>> {
    const { model } = this.#settings;
    for (let changes = 0, retried = false; ;) {
      const { fields } = this.#model.request;
      try {
        return await this.#model.client.chat.completions.create(
          { model, messages: [...messages], tools: this.#model.tools, stream: true, ...fields },
          { signal },
        );
      } catch (error) {
        if (signal.aborted) throw error;
        if (changes < MOST_CHANGES && this.#model.request.heed(fields, error)) changes += 1;
        else if (!retried && isAway(error)) {
          retried = true;
          await sleep(this.#clock, RETRY_AFTER_MS, signal);
        } else throw error;
      }
    }
  }

  async #use(call: ToolCall, turn: DialogTurn, signal: AbortSignal): Promise<{ action?: DialogAction; answer: string }> {
    let args: unknown;
    try {
      args = call.args.trim() === '' ? {} : JSON.parse(call.args);
      const action = callAction(call.name, args, this.#settings.transfers);
      if (action !== undefined) return { action, answer: 'done' };
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof ZodError) return { answer: 'error: the arguments cannot be used' };
      throw error;
    }
    const answer = await this.#useOwn(call.name, args, turn, signal);
    if (answer === undefined) return { answer: `error: there is no tool named ${call.name}` };
    this.#notes.push(`${call.name}(${call.args}): ${answer.slice(0, MOST_NOTE_CHARACTERS)}`);
    if (this.#notes.length > MOST_NOTES) this.#notes.shift();
    return { answer };
  }

  /** @returns undefined when the bot has no such tool */
  async #useOwn(name: string, args: unknown, turn: DialogTurn, signal: AbortSignal): Promise<string | undefined> {
    const { secret, timeoutMs, tools, codeTools = [] } = this.#settings;
    const deps = { clock: this.#clock, timeoutMs, signal };
    const webTool = tools.find((tool) => tool.name === name);
    if (webTool !== undefined) return callWebTool(webTool, args, turn, { ...deps, secret });
    const codeTool = codeTools.find((tool) => tool.name === name);
    return codeTool === undefined ? undefined : callCodeTool(codeTool, args, turn, deps);
  }
}

/** Everything a model may use, the same in all calls of a bot. */
function toolsOf({ tools, codeTools = [], transfers }: LlmHookSettings): Tool[] {
  const own = [
    ...tools.map(({ name, description, parameters }) => ({ name, description, parameters: { ...parameters } })),
    ...codeTools.map((tool) => ({ name: tool.name, description: tool.description, parameters: parametersOf(tool) })),
  ];
  return [
    ...CALL_TOOLS,
    ...transferTools(Object.keys(transfers)),
    ...own.map((each): Tool => ({ type: 'function', function: each })),
  ];
}

function assistantMessage(stream: ModelStream): Message {
  const calls = stream.toolCalls.map(({ id, name, args }) => {
    return { id, type: 'function' as const, function: { name, arguments: args } };
  });
  return { role: 'assistant', content: stream.text === '' ? null : stream.text, tool_calls: calls };
}

/** @param words makes fit to be told what the server said */
function serverError(error: InstanceType<typeof APIError>, words: (text: string) => string): DialogServerError {
  if (error instanceof APIConnectionError)
    return new DialogServerError('the model cannot be reached', { retryable: true, cause: error });
  const status: unknown = error.status;
  const told = typeof status === 'number' ? `answered with HTTP ${status}` : 'broke off its answer';
  // The client puts the status ahead of the sentence.
  const said = words(error.message.replace(/^\d{3} /u, ''));
  return new DialogServerError(`the model ${told}${said === '' ? '' : `: ${said}`}`, {
    retryable: typeof status !== 'number' || status >= 500 || status === 429,
  });
}

/** Nobody answered, or only to say that it is away. */
function isAway(error: unknown): boolean {
  if (error instanceof APIConnectionError) return true;
  return error instanceof APIError && Number(error.status) >= 500;
}

/** Reads no more of an answer than it may have. The client itself keeps what it reads until an event ends, and searches all of it anew. */
const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  return new Response(ReadableStream.from(bounded(response.body)), { status, statusText, headers });
};

async function* bounded(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  let eventBytes = 0;
  for await (const part of parts) {
    bytes += part.length;
    const end = Math.max(...EVENT_ENDS.map((mark) => Buffer.from(part.buffer, part.byteOffset, part.length).lastIndexOf(mark)));
    eventBytes = end === -1 ? eventBytes + part.length : part.length - end;
    if (bytes > MOST_ANSWER_BYTES) throw tooLong(`${MOST_ANSWER_BYTES} bytes`);
    if (eventBytes > MOST_EVENT_BYTES) throw tooLong(`${MOST_EVENT_BYTES} bytes in one event`);
    yield part;
  }
}

function tooLong(most: string): DialogServerError {
  return new DialogServerError(`the model's answer is longer than ${most}`, { retryable: false });
}

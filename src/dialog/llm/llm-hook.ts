import { APIConnectionError, APIError, OpenAI } from 'openai';
import { z, ZodError } from 'zod';
import { sleep } from '../../kernel/waiting.ts';
import { beginModelCall, spanOfTool } from '../../observability/model-spans.ts';
import { traceHeaders } from '../../observability/trace-context.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Secret } from '../../config/secrets.ts';
import type { DialogAction, DialogHook, DialogHookFactory, DialogTurn } from '../port.ts';
import { DialogServerError, serverWords, AnswerDeadline } from '../wire.ts';
import {
  CALL_TOOLS,
  callAction,
  isCallTool,
  type ModelTransfers,
  type Tool,
  transferTools,
  callCodeTool,
  type CodeTool,
  parametersOf,
  callWebTool,
  type WebTool,
} from './tools.ts';
import { modelVendor, tokenUnits } from '../../costs/usage.ts';
import { messagesFor, type Message, type ModelLimits, ModelRequest, ModelStream, type ToolCall } from './model-request.ts';

export interface LlmHookSettings {
  readonly baseUrl: string;
  readonly model: string;
  /** The API key; also signs the requests to tools. */
  readonly secret: Secret | undefined;
  readonly instructions: string;
  readonly greeting?: string | undefined;
  readonly temperature?: number | undefined;
  readonly reasoningEffort?: ModelLimits['reasoningEffort'];
  readonly maxTokens: number;
  /** How long the model may be silent, before and during its answer, and how long a tool may take. */
  readonly timeoutMs: number;
  /** Limit of all waits of a turn together, for the model and its tools. */
  readonly turnTimeoutMs: number;
  readonly tools: readonly WebTool[];
  /** Tools that run in the gateway's process. */
  readonly codeTools?: readonly CodeTool[];
  readonly transfers: ModelTransfers;
}

/** Requests to the model in one turn; a turn with more tool calls ends there, since the caller waits. */
const MOST_ROUNDS = 5;
/** Most refused fields that are changed, each once. */
const MOST_CHANGES = 3;
const MOST_NOTES = 10;
const MOST_NOTE_CHARACTERS = 500;
/** Most characters of a tool's answer saved for a resumed call. */
const MOST_SAVED_CHARACTERS = 4_000;
/** Delay before the one retry after a lost connection or a 5xx. */
const RETRY_AFTER_MS = 150;
/** Limits of one answer in bytes, about 250 a token, and of one of its events. */
const MOST_ANSWER_BYTES = 16 * 1024 * 1024;
const MOST_EVENT_BYTES = 512 * 1024;
const EVENT_ENDS = ['\n\n', '\r\n\r\n', '\r\r'] as const;

/** Bots whose dialog is a language model behind an OpenAI-compatible address. */
export function llmHooks(settings: LlmHookSettings, clock: Clock): DialogHookFactory {
  const { baseUrl: baseURL, secret } = settings;
  // The client must not retry: it would wait as long as the server asks, while the caller waits.
  const client = new OpenAI({ baseURL, apiKey: secret?.reveal() ?? 'none', maxRetries: 0, fetch: boundedFetch });
  const model = { client, vendor: modelVendor(baseURL), request: new ModelRequest(settings), tools: toolsOf(settings) };
  return { create: (_call, saved) => new LlmHook(model, settings, clock, savedTools.safeParse(saved).data) };
}

/** Shared by all calls of a bot. */
interface Model {
  readonly client: OpenAI;
  /** The name under which its usage has a price. */
  readonly vendor: string;
  readonly request: ModelRequest;
  readonly tools: Tool[];
}

/** Input of a model request. */
interface AskedModel {
  readonly turn: DialogTurn;
  readonly messages: readonly Message[];
  readonly headers: Readonly<Record<string, string>>;
}

/** Saved state: answers of the bot's own tools, and those called for the running turn, without `answer` if still missing. */
const savedTools = z.object({
  notes: z.array(z.string()),
  turn: z.int(),
  calls: z.array(z.object({ name: z.string(), args: z.string(), answer: z.string().optional() })),
});

type SavedTools = z.output<typeof savedTools>;

const UNKNOWN =
  'unknown: this was called with the same arguments before, and its answer was lost. It may have been carried out, and is not called again in this answer.';

/**
 * A conversation with a model. Answers of tools are kept as notes for later turns. When a turn is repeated after a crash or a failed answer, no tool
 * is called again with the same arguments: the model gets the earlier answer, or is told that it is unknown.
 */
export class LlmHook implements DialogHook {
  readonly takesAdvice = true;
  readonly #model: Model;
  readonly #settings: LlmHookSettings;
  readonly #clock: Clock;
  readonly #notes: string[];
  #turn: number;
  /** The bot's own tools that were called for this turn. */
  #calls: SavedTools['calls'];

  constructor(model: Model, settings: LlmHookSettings, clock: Clock, saved?: SavedTools) {
    this.#model = model;
    this.#settings = settings;
    this.#clock = clock;
    this.#notes = saved?.notes ?? [];
    this.#turn = saved?.turn ?? -1;
    this.#calls = saved?.calls ?? [];
  }

  saved(): SavedTools {
    return { notes: this.#notes, turn: this.#turn, calls: this.#calls };
  }

  /** @throws DialogServerError, DialogTimeoutError */
  async *respond(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    const { greeting, timeoutMs, turnTimeoutMs, secret } = this.#settings;
    if (turn.input.kind === 'start' && greeting !== undefined) {
      yield { type: 'say', text: greeting };
      return;
    }
    // Its words would not be heard.
    if (turn.input.kind === 'transfer' && turn.input.outcome === 'answered') return;
    const isRepeat = turn.resumed !== undefined || turn.again === true;
    if (!isRepeat || turn.index !== this.#turn) this.#calls = [];
    this.#turn = turn.index;
    using deadline = new AnswerDeadline(this.#clock, timeoutMs, 'the model', turnTimeoutMs);
    try {
      yield* deadline.deliver(this.#rounds(turn, AbortSignal.any([signal, deadline.signal]), deadline));
    } catch (error) {
      if (deadline.signal.aborted) throw deadline.signal.reason;
      throw error instanceof APIError ? serverError(error, (text) => serverWords(text, turn, secret)) : error;
    }
  }

  async *#rounds(turn: DialogTurn, signal: AbortSignal, deadline: AnswerDeadline): AsyncIterable<DialogAction> {
    const { instructions, timeoutMs } = this.#settings;
    const messages = messagesFor(instructions, turn, this.#notes);
    const earlier = this.#calls.slice();
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const stream = new ModelStream();
      yield* this.#speak({ turn, messages, headers: traceHeaders(turn.call.callId, turn.index) }, stream, signal, deadline);
      const { toolCalls } = stream;
      if (toolCalls.length === 0) return;
      // Ends the sentence, so that it is spoken before the tools run.
      if (stream.text.trim() !== '') yield { type: 'say', text: '' };
      messages.push(assistantMessage(stream));
      for (const call of toolCalls) {
        const lost = earlier.find(({ name, args }) => name === call.name && args === call.args);
        if (lost !== undefined) {
          messages.push({ role: 'tool', tool_call_id: call.id, content: lost.answer ?? UNKNOWN });
          continue;
        }
        if (this.#isOwn(call.name)) {
          this.#calls.push({ name: call.name, args: call.args });
          // Noted before it is called: after a crash, the journal names the tool that may have been carried out.
          yield { type: 'note', text: `tool ${call.name}` };
        }
        // The tool has its own timeout, and tells the model when it is reached.
        deadline.renew(2 * timeoutMs);
        const { callId } = turn.call;
        const about = { callId, turn: turn.index, name: call.name, id: call.id };
        const done = await spanOfTool(about, this.#clock, () => this.#use(call, turn, signal));
        deadline.renew();
        if (done.action !== undefined) yield done.action;
        messages.push({ role: 'tool', tool_call_id: call.id, content: done.answer });
      }
      // After built-in tools and spoken text the answer is complete: the model is not asked again.
      if (toolCalls.every(({ name }) => isCallTool(name)) && stream.text.trim() !== '') return;
    }
  }

  async *#speak(
    asked: AskedModel,
    stream: ModelStream,
    signal: AbortSignal,
    deadline: AnswerDeadline,
  ): AsyncIterable<DialogAction> {
    const { callId } = asked.turn.call;
    const used = { vendor: this.#model.vendor, model: this.#settings.model };
    const span = beginModelCall({ callId, turn: asked.turn.index, ...used }, this.#clock, () => textsOf(asked.messages));
    let isFirst = true;
    try {
      for await (const chunk of await this.#ask(asked, signal)) {
        if (isFirst) yield { type: 'usage', ...used, units: { requests: 1 } };
        isFirst = false;
        const { text, isNews } = stream.take(chunk);
        if (text !== '') yield { type: 'say', text, more: true };
        // Only new content counts: a server's keep-alives do not restart the wait.
        else if (isNews) deadline.renew();
        if (chunk.usage) span.units = tokenUnits(chunk.usage);
      }
      signal.throwIfAborted();
      // The last report counts: some servers send one with each chunk.
      if (span.units !== undefined) yield { type: 'usage', ...used, units: span.units };
    } catch (error) {
      span.failed(error);
      throw error;
    } finally {
      const tools = stream.toolCalls.map(({ name }) => name);
      span.end(stream.text, tools);
    }
    const { maxTokens } = this.#settings;
    if (stream.isUsedUp)
      throw new DialogServerError(
        `the model used up its ${maxTokens} tokens before it said anything: raise maxTokens, or set reasoningEffort lower`,
        { retryable: false },
      );
  }

  /** Asks again without a refused field, and once after a lost connection or a 5xx. */
  async #ask({ messages, headers }: AskedModel, signal: AbortSignal): Promise<AsyncIterable<OpenAI.Chat.ChatCompletionChunk>> {
    const { model } = this.#settings;
    for (let changes = 0, retried = false; ;) {
      const { fields } = this.#model.request;
      try {
        return await this.#model.client.chat.completions.create(
          { model, messages: [...messages], tools: this.#model.tools, stream: true, ...fields },
          { signal, headers },
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
    const begun = this.#calls.findLast(({ name, args: given }) => name === call.name && given === call.args);
    if (begun !== undefined) begun.answer = answer.slice(0, MOST_SAVED_CHARACTERS);
    this.#notes.push(`${call.name}(${call.args}): ${answer.slice(0, MOST_NOTE_CHARACTERS)}`);
    if (this.#notes.length > MOST_NOTES) this.#notes.shift();
    return { answer };
  }

  #isOwn(name: string): boolean {
    const { tools, codeTools = [] } = this.#settings;
    return [...tools, ...codeTools].some((tool) => tool.name === name);
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

/** All tools of a bot's model, the same in every call. */
function toolsOf({ tools, codeTools = [], transfers }: LlmHookSettings): Tool[] {
  const own = [
    ...tools.map(({ name, description, parameters }) => ({ name, description, parameters: { ...parameters } })),
    ...codeTools.map((tool) => ({ name: tool.name, description: tool.description, parameters: parametersOf(tool) })),
  ];
  return [...CALL_TOOLS, ...transferTools(transfers), ...own.map((each): Tool => ({ type: 'function', function: each }))];
}

/** Messages as traces show them, where they may have words. */
function textsOf(messages: readonly Message[]): { role: string; text: string }[] {
  return messages.map(({ role, content }) => ({ role, text: typeof content === 'string' ? content : '' }));
}

function assistantMessage(stream: ModelStream): Message {
  const calls = stream.toolCalls.map(({ id, name, args }) => {
    return { id, type: 'function' as const, function: { name, arguments: args } };
  });
  return { role: 'assistant', content: stream.text === '' ? null : stream.text, tool_calls: calls };
}

/** @param words shortens and masks the server's text */
function serverError(error: InstanceType<typeof APIError>, words: (text: string) => string): DialogServerError {
  if (error instanceof APIConnectionError)
    return new DialogServerError('the model cannot be reached', { retryable: true, cause: error });
  const status: unknown = error.status;
  const told = typeof status === 'number' ? `answered with HTTP ${status}` : 'broke off its answer';
  // The client puts the status before the server's text.
  const said = words(error.message.replace(/^\d{3} /u, ''));
  return new DialogServerError(`the model ${told}${said === '' ? '' : `: ${said}`}`, {
    retryable: typeof status !== 'number' || status >= 500 || status === 429,
  });
}

/** No connection, or a 5xx. */
function isAway(error: unknown): boolean {
  if (error instanceof APIConnectionError) return true;
  return error instanceof APIError && Number(error.status) >= 500;
}

/** Limits an answer's size: the client buffers an event until it ends, and searches all of it at each read. */
const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(bounded()), { status, statusText, headers });
};

function bounded(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  let eventBytes = 0;
  return new TransformStream({
    transform(part, controller) {
      bytes += part.length;
      const end = Math.max(...EVENT_ENDS.map((mark) => Buffer.from(part.buffer, part.byteOffset, part.length).lastIndexOf(mark)));
      eventBytes = end === -1 ? eventBytes + part.length : part.length - end;
      if (bytes > MOST_ANSWER_BYTES) throw tooLong(`${MOST_ANSWER_BYTES} bytes`);
      if (eventBytes > MOST_EVENT_BYTES) throw tooLong(`${MOST_EVENT_BYTES} bytes in one event`);
      controller.enqueue(part);
    },
  });
}

function tooLong(most: string): DialogServerError {
  return new DialogServerError(`the model's answer is longer than ${most}`, { retryable: false });
}

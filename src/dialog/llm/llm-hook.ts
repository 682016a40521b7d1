import { APIConnectionError, APIError, OpenAI } from 'openai';
import { ZodError } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import type { Secret } from '../../config/secrets.ts';
import type { DialogAction, DialogHook, DialogHookFactory, DialogTurn } from '../port.ts';
import { DialogServerError } from '../wire/errors.ts';
import { Patience } from '../wire/patience.ts';
import { CALL_TOOLS, callAction, isCallTool, type Tool, transferTools } from './call-tools.ts';
import { messagesFor, type Message } from './messages.ts';
import { ModelStream, type ToolCall } from './model-stream.ts';
import { callWebTool, type WebTool } from './web-tool.ts';

export interface LlmHookSettings {
  readonly baseUrl: string;
  readonly model: string;
  /** The key of the address; also signs the requests to tools. */
  readonly secret: Secret | undefined;
  readonly instructions: string;
  readonly greeting?: string | undefined;
  readonly temperature?: number | undefined;
  readonly maxTokens: number;
  /** Longest silence of the model, before its answer and in it. */
  readonly timeoutMs: number;
  readonly tools: readonly WebTool[];
  readonly transfers: Readonly<Record<string, string>>;
}

/** A turn that calls tools more often than this is cut off: the caller waits. */
const MOST_ROUNDS = 5;
const MOST_NOTES = 10;
const MOST_NOTE_CHARACTERS = 500;

/** Bots whose dialog is a language model behind an OpenAI-compatible address. */
export function llmHooks(settings: LlmHookSettings, clock: Clock): DialogHookFactory {
  const { baseUrl: baseURL, secret } = settings;
  // Retried by nobody but the first connection: a caller is waiting.
  const client = new OpenAI({ baseURL, apiKey: secret?.reveal() ?? 'none', maxRetries: 1, timeout: settings.timeoutMs });
  return { create: () => new LlmHook(client, settings, clock) };
}

/** One conversation with a model. What tools answered is kept as notes for the turns that follow. */
export class LlmHook implements DialogHook {
  readonly #client: OpenAI;
  readonly #settings: LlmHookSettings;
  readonly #clock: Clock;
  readonly #notes: string[] = [];

  constructor(client: OpenAI, settings: LlmHookSettings, clock: Clock) {
    this.#client = client;
    this.#settings = settings;
    this.#clock = clock;
  }

  /** @throws DialogServerError, DialogTimeoutError */
  async *respond(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    const { greeting, instructions, timeoutMs } = this.#settings;
    if (turn.input.kind === 'start' && greeting !== undefined) {
      yield { type: 'say', text: greeting };
      return;
    }
    using patience = new Patience(this.#clock, timeoutMs, 'the model');
    const either = AbortSignal.any([signal, patience.signal]);
    const messages = messagesFor(instructions, turn, this.#notes);
    try {
      for (let round = 0; round < MOST_ROUNDS; round += 1) {
        const stream = new ModelStream();
        yield* this.#speak(messages, stream, either, patience);
        const { toolCalls } = stream;
        if (toolCalls.length === 0) return;
        // What was said so far does not go on after the tools, and is not to wait for them.
        if (stream.text.trim() !== '') yield { type: 'say', text: '' };
        messages.push(assistantMessage(stream));
        for (const call of toolCalls) {
          const done = await this.#use(call, turn, either);
          patience.renew();
          if (done.action !== undefined) yield done.action;
          messages.push({ role: 'tool', tool_call_id: call.id, content: done.answer });
        }
        // Nothing is left to be said after these: the model need not be asked again.
        if (toolCalls.every(({ name }) => isCallTool(name)) && stream.text.trim() !== '') return;
      }
    } catch (error) {
      if (patience.signal.aborted) throw patience.signal.reason;
      throw error instanceof APIError ? serverError(error) : error;
    }
  }

  async *#speak(
    messages: readonly Message[],
    stream: ModelStream,
    signal: AbortSignal,
    patience: Patience,
  ): AsyncIterable<DialogAction> {
    const { model, temperature, maxTokens } = this.#settings;
    const chunks = await this.#client.chat.completions.create(
      {
        model,
        messages: [...messages],
        tools: this.#tools(),
        max_tokens: maxTokens,
        stream: true,
        ...(temperature === undefined ? {} : { temperature }),
      },
      { signal },
    );
    for await (const chunk of chunks) {
      patience.renew();
      const text = stream.take(chunk);
      if (text !== '') yield { type: 'say', text, more: true };
    }
    signal.throwIfAborted();
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
    const tool = this.#settings.tools.find(({ name }) => name === call.name);
    if (tool === undefined) return { answer: `error: there is no tool named ${call.name}` };
    const { secret } = this.#settings;
    const answer = await callWebTool(tool, args, turn, { clock: this.#clock, secret, signal });
    this.#notes.push(`${call.name}(${call.args}): ${answer.slice(0, MOST_NOTE_CHARACTERS)}`);
    if (this.#notes.length > MOST_NOTES) this.#notes.shift();
    return { answer };
  }

  #tools(): Tool[] {
    const own = this.#settings.tools.map(({ name, description, parameters }): Tool => {
      return { type: 'function', function: { name, description, parameters: { ...parameters } } };
    });
    return [...CALL_TOOLS, ...transferTools(Object.keys(this.#settings.transfers)), ...own];
  }
}

function assistantMessage(stream: ModelStream): Message {
  const calls = stream.toolCalls.map(({ id, name, args }) => {
    return { id, type: 'function' as const, function: { name, arguments: args } };
  });
  return { role: 'assistant', content: stream.text === '' ? null : stream.text, tool_calls: calls };
}

function serverError(error: InstanceType<typeof APIError>): DialogServerError {
  if (error instanceof APIConnectionError)
    return new DialogServerError('the model cannot be reached', { retryable: true, cause: error });
  const status: unknown = error.status;
  const told = typeof status === 'number' ? `answered with HTTP ${status}` : 'broke off its answer';
  return new DialogServerError(`the model ${told}`, { retryable: typeof status !== 'number' || status >= 500 || status === 429 });
}

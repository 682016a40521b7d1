import { APIConnectionError, APIError, OpenAI } from 'openai';
import { z } from 'zod';
import { sleep } from '../../kernel/waiting.ts';
import { beginModelCall, spanOfTool } from '../../observability/model-spans.ts';
import { traceHeaders } from '../../observability/trace-context.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Secret } from '../../config/secrets.ts';
import type { CallFacts, DialogAction, DialogHook, DialogHookFactory, DialogTurn } from '../port.ts';
import { DialogServerError, serverWords, AnswerDeadline } from '../wire.ts';
import { boundedFetch } from '../bounded-fetch.ts';
import { type Guard, type Sources, guarded } from '../guard/guard.ts';
import { CallTools, type UsedTool, useTool } from '../tools/call-tools.ts';
import { ownTools } from '../tools/own-tools.ts';
import { ToolBox } from '../tools/tool-box.ts';
import {
  CALL_TOOLS,
  type CodeTool,
  isCallTool,
  type ModelTransfers,
  STOP_WAITING_TOOL,
  type Tool,
  transferTools,
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
  /** All tools of the bot's own, in place of the two lists. */
  readonly toolBox?: ToolBox;
  /** Checks what the model says. */
  readonly guard?: Guard | undefined;
  /** What is known of a call's person from earlier calls; soon, and never rejects. */
  readonly recall?: ((call: CallFacts) => Promise<readonly string[]>) | undefined;
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

/** Bots whose dialog is a language model behind an OpenAI-compatible address. */
export function llmHooks(settings: LlmHookSettings, clock: Clock): DialogHookFactory {
  const { baseUrl: baseURL, secret } = settings;
  // The client must not retry: it would wait as long as the server asks, while the caller waits.
  const client = new OpenAI({ baseURL, apiKey: secret?.reveal() ?? 'none', maxRetries: 0, fetch: boundedFetch });
  const { tools, codeTools = [], timeoutMs } = settings;
  const toolBox = settings.toolBox ?? new ToolBox(ownTools(tools, codeTools, { clock, secret, timeoutMs }), [], isCallTool);
  const model = { client, vendor: modelVendor(baseURL), request: new ModelRequest(settings), toolBox };
  return { create: (_call, saved) => new LlmHook(model, settings, clock, savedTools.safeParse(saved).data) };
}

/** Shared by all calls of a bot. */
interface Model {
  readonly client: OpenAI;
  /** The name under which its usage has a price. */
  readonly vendor: string;
  readonly request: ModelRequest;
  readonly toolBox: ToolBox;
}

/** Input of a model request. */
interface AskedModel {
  readonly turn: DialogTurn;
  readonly tools: readonly Tool[];
  readonly messages: readonly Message[];
  readonly headers: Readonly<Record<string, string>>;
}

/** Saved state: answers of the bot's own tools, and those called for the running turn, without `answer` if still missing. */
const savedTools = z.object({
  notes: z.array(z.string()),
  turn: z.int(),
  calls: z.array(z.object({ name: z.string(), args: z.string(), answer: z.string().optional() })),
  slow: z.unknown().optional(),
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
  readonly #tools: CallTools;
  /** Asked in the first turn, while the caller is greeted. */
  #recalled: Promise<readonly string[]> | undefined;
  #earlierCalls: readonly string[] = [];
  #turn: number;
  /** The bot's own tools that were called for this turn. */
  #calls: SavedTools['calls'];

  constructor(model: Model, settings: LlmHookSettings, clock: Clock, saved?: SavedTools) {
    this.#model = model;
    this.#settings = settings;
    this.#clock = clock;
    this.#tools = new CallTools(model.toolBox, clock, saved?.slow);
    this.#notes = saved?.notes ?? [];
    this.#turn = saved?.turn ?? -1;
    this.#calls = saved?.calls ?? [];
  }

  saved(): SavedTools {
    return { notes: this.#notes, turn: this.#turn, calls: this.#calls, slow: this.#tools.saved() };
  }

  get due(): string | undefined {
    return this.#tools.due;
  }

  dispose(): Promise<void> {
    return this.#tools.dispose();
  }

  /** @throws DialogServerError, DialogTimeoutError */
  async *respond(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    const { greeting, timeoutMs, turnTimeoutMs, secret, recall } = this.#settings;
    this.#recalled ??= recall?.(turn.call);
    if (turn.input.kind === 'start' && greeting !== undefined) {
      yield { type: 'say', text: greeting };
      return;
    }
    // Its words would not be heard.
    if (turn.input.kind === 'transfer' && turn.input.outcome === 'answered') return;
    const isRepeat = turn.resumed !== undefined || turn.again === true;
    if (!isRepeat || turn.index !== this.#turn) this.#calls = [];
    this.#turn = turn.index;
    if (yield* this.#tools.fill(turn)) return;
    using deadline = new AnswerDeadline(this.#clock, timeoutMs, 'the model', turnTimeoutMs);
    const { guard } = this.#settings;
    try {
      const answer = deadline.deliver(this.#rounds(turn, AbortSignal.any([signal, deadline.signal]), deadline));
      yield* guard === undefined ? answer : guarded(answer, guard, turn.call.language, () => this.#sources(turn));
      // A caller who waits for a result may be silent for long.
      if (this.#tools.running.length > 0) yield { type: 'gather', waits: true };
    } catch (error) {
      if (deadline.signal.aborted) throw deadline.signal.reason;
      throw error instanceof APIError ? serverError(error, (text) => serverWords(text, turn, secret)) : error;
    }
  }

  async *#rounds(turn: DialogTurn, signal: AbortSignal, deadline: AnswerDeadline): AsyncIterable<DialogAction> {
    const { instructions, timeoutMs } = this.#settings;
    const late = this.#tools.take(turn.index);
    this.#earlierCalls = (await this.#recalled) ?? [];
    const { running } = this.#tools;
    const messages = messagesFor(instructions, turn, { notes: this.#notes, running, late, earlierCalls: this.#earlierCalls });
    for (const { name, args, text } of late) this.#note(name, args, text);
    const earlier = this.#calls.slice();
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const stream = new ModelStream();
      const tools = await this.#offered(signal);
      yield* this.#speak(
        { turn, tools, messages, headers: traceHeaders(turn.call.callId, turn.index) },
        stream,
        signal,
        deadline,
      );
      const { toolCalls } = stream;
      if (toolCalls.length === 0) return;
      // Ends the sentence, so that it is spoken before the tools run.
      if (stream.text.trim() !== '') yield { type: 'say', text: '' };
      messages.push(assistantMessage(stream));
      let isSaid = stream.text.trim() !== '';
      let needsModel = false;
      for (const call of toolCalls) {
        const lost = earlier.find(({ name, args }) => name === call.name && args === call.args);
        if (lost !== undefined) {
          messages.push({ role: 'tool', tool_call_id: call.id, content: lost.answer ?? UNKNOWN });
          needsModel = true;
          continue;
        }
        if (this.#tools.isOwn(call.name)) {
          this.#calls.push({ name: call.name, args: call.args });
          // Noted before it is called: after a crash, the journal names the tool that may have been carried out.
          yield { type: 'note', text: `tool ${call.name}` };
        }
        // The tool has its own timeout, and tells the model when it is reached.
        deadline.renew(timeoutMs + this.#tools.limitMsOf(call.name));
        const { callId } = turn.call;
        const about = { callId, turn: turn.index, name: call.name, id: call.id };
        const done = await spanOfTool(about, this.#clock, () => this.#use(call, turn, signal));
        deadline.renew();
        if (done.action !== undefined) yield done.action;
        if (done.say !== undefined) {
          if (!isSaid) yield { type: 'say', text: done.say };
          isSaid = true;
        }
        needsModel ||= done.action === undefined && done.say === undefined;
        messages.push({ role: 'tool', tool_call_id: call.id, content: done.answer });
      }
      // After built-in tools, or tools that answer later, and spoken text the answer is complete: the model is not asked again.
      if (!needsModel && isSaid) return;
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
  async #ask(
    { tools, messages, headers }: AskedModel,
    signal: AbortSignal,
  ): Promise<AsyncIterable<OpenAI.Chat.ChatCompletionChunk>> {
    const { model } = this.#settings;
    for (let changes = 0, retried = false; ;) {
      const { fields } = this.#model.request;
      try {
        return await this.#model.client.chat.completions.create(
          { model, messages: [...messages], tools: [...tools], stream: true, ...fields },
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

  async #use(call: ToolCall, turn: DialogTurn, signal: AbortSignal): Promise<UsedTool> {
    const { transfers } = this.#settings;
    const used = await useTool(call, { tools: this.#tools, transfers }, turn, signal);
    if (used === undefined) return { answer: `error: there is no tool named ${call.name}` };
    if (used.own === undefined) return used;
    const begun = this.#calls.findLast(({ name, args }) => name === call.name && args === call.args);
    if (begun !== undefined) begun.answer = used.answer.slice(0, MOST_SAVED_CHARACTERS);
    if (used.own === 'result') this.#note(call.name, call.args, used.answer);
    return used;
  }

  /** Keeps a result for later turns. */
  #note(name: string, args: string, result: string): void {
    const note = `${name}(${args}): ${result.slice(0, MOST_NOTE_CHARACTERS)}`;
    // A late result is given again to a turn that is asked again.
    if (this.#notes.at(-1) !== note) this.#notes.push(note);
    if (this.#notes.length > MOST_NOTES) this.#notes.shift();
  }

  /** The tools of the call, and the bot's own. */
  async #offered(signal: AbortSignal): Promise<Tool[]> {
    const own = await this.#tools.definitions(signal);
    return [
      ...CALL_TOOLS,
      ...transferTools(this.#settings.transfers),
      ...(this.#tools.hasSlow ? [STOP_WAITING_TOOL] : []),
      ...own.map((each): Tool => ({ type: 'function', function: { ...each, parameters: { ...each.parameters } } })),
    ];
  }

  /** What the model's words may be based on. */
  #sources({ input, history, variables, call }: DialogTurn): Sources {
    const { instructions, greeting = '' } = this.#settings;
    const said = input.kind === 'spoken' ? [input.text] : input.kind === 'keyed' ? [input.digits] : [];
    return {
      found: [...this.#tools.sources, ...this.#notes],
      given: [instructions, greeting, ...this.#earlierCalls, call.from, call.to, ...Object.values(variables)],
      caller: [...said, ...history.flatMap(({ role, text }) => (role === 'caller' ? [text] : []))],
    };
  }
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

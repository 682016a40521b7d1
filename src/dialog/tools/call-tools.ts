import { z, ZodError } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { within } from '../../kernel/waiting.ts';
import { callAction, type ModelTransfers, STOP_WAITING, stopWaiting } from '../llm/tools.ts';
import type { DialogAction, DialogTurn } from '../port.ts';
import type { ToolBox } from './tool-box.ts';
import type { Tool, ToolDefinition } from './tool.ts';

/** Longest wait for the definitions of servers that are only now being reached: the caller waits too. */
const DEFINE_MS = 3_000;
/** Slow tools that run at once in a call. */
const MOST_RUNNING = 4;
/** Results kept as sources of what the bot says. */
const MOST_SOURCES = 64;
const MOST_SAVED_CHARACTERS = 4_000;

export type ToolAnswer =
  | { readonly kind: 'result'; readonly text: string }
  /** It goes on running. `say`: the bot's words meanwhile, from its file; `text`: what the model is told. */
  | { readonly kind: 'later'; readonly say: string | undefined; readonly text: string };

export interface ToolCallOf {
  readonly name: string;
  /** As the model gave them, parsed. */
  readonly args: unknown;
}

/** A result that came after the turn in which its tool was called. */
export interface LateResult {
  readonly name: string;
  /** JSON. */
  readonly args: string;
  readonly text: string;
}

interface SlowCall {
  readonly name: string;
  readonly args: string;
  readonly abort: AbortController;
  readonly sinceMs: number;
  /** Set once it is in. */
  text: string | undefined;
  /** The turn whose answer has it. */
  toldIn: number | undefined;
  /** How many of its fillers were said. */
  fillers: number;
  /** Resolves when its result is in, or it was cancelled. */
  done: Promise<unknown>;
}

function slowCall(name: string, args: string, clock: Clock, text?: string): SlowCall {
  const done = Promise.resolve();
  return { name, args, text, abort: new AbortController(), sinceMs: clock.nowMs(), toldIn: undefined, fillers: 0, done };
}

/** Slow calls of a dead process, and results that were not told. */
const savedCalls = z.array(z.object({ name: z.string(), args: z.string(), text: z.string().optional() }));

const LOST = 'unknown: the answer was lost when a computer failed. It may have been carried out.';

/** The own tools of a bot in one call: runs them, keeps what slow ones still owe, and knows what they said. */
export class CallTools {
  readonly #box: ToolBox;
  readonly #clock: Clock;
  readonly #release: () => Promise<void>;
  #slow: SlowCall[];
  readonly #sources: string[] = [];

  /** @param saved of this call in another process */
  constructor(box: ToolBox, clock: Clock, saved?: unknown) {
    this.#box = box;
    this.#clock = clock;
    this.#release = box.hold();
    this.#slow = (savedCalls.safeParse(saved).data ?? []).map(({ name, args, text = LOST }) => slowCall(name, args, clock, text));
  }

  /** What the model is told of the tools. Rejects only when the signal aborts. */
  async definitions(signal: AbortSignal): Promise<readonly ToolDefinition[]> {
    const tools = [...this.#box.tools.values()];
    const away = { description: 'This tool cannot be used at the moment.', parameters: { type: 'object' } };
    return Promise.all(
      tools.map(async (tool) => {
        const defined = Promise.resolve(tool.define(signal));
        return (await within(this.#clock, DEFINE_MS, defined, undefined)) ?? { name: tool.name, ...away };
      }),
    );
  }

  isOwn(name: string): boolean {
    return this.#box.tools.has(name);
  }

  get hasSlow(): boolean {
    return this.#box.hasSlow;
  }

  /** Longest time that a call of this tool keeps its caller waiting. */
  limitMsOf(name: string): number {
    const tool = this.#box.tools.get(name);
    return tool?.slow?.waitMs ?? tool?.timeoutMs ?? 0;
  }

  /** Results of this call so far: sources of what the bot may say. */
  get sources(): readonly string[] {
    return this.#sources;
  }

  /** Slow tools whose results are not in. */
  get running(): readonly { readonly name: string; readonly args: string; readonly forMs: number }[] {
    const nowMs = this.#clock.nowMs();
    return this.#slow.flatMap(({ name, args, sinceMs, text }) =>
      text === undefined ? [{ name, args, forMs: nowMs - sinceMs }] : [],
    );
  }

  /** The tool whose result is in and was not told. */
  get due(): string | undefined {
    return this.#slow.find(({ text, toldIn }) => text !== undefined && toldIn === undefined)?.name;
  }

  /**
   * Runs a tool. Rejects only when the signal aborts, which a slow tool outlives once it has answered `later`.
   * @returns undefined when the bot has no such tool
   */
  async call({ name, args }: ToolCallOf, turn: DialogTurn, signal: AbortSignal): Promise<ToolAnswer | undefined> {
    const tool = this.#box.tools.get(name);
    if (tool === undefined) return undefined;
    if (tool.slow !== undefined) return this.#begin(tool, args, turn, signal);
    const text = await tool.run(args, turn, tool.timeoutMs, signal);
    this.#heard(text);
    return { kind: 'result', text };
  }

  async #begin(tool: Tool, args: unknown, turn: DialogTurn, signal: AbortSignal): Promise<ToolAnswer> {
    const { name, slow } = tool;
    const given = JSON.stringify(args);
    if (this.running.some((each) => each.name === name && each.args === given))
      return { kind: 'later', say: undefined, text: 'It is still running. The result comes by itself.' };
    if (this.running.length >= MOST_RUNNING)
      return { kind: 'result', text: 'error: too much is running already; wait for a result' };
    const call = slowCall(name, given, this.#clock);
    const { abort } = call;
    this.#slow.push(call);
    const done = tool
      .run(args, turn, slow?.timeoutMs ?? tool.timeoutMs, abort.signal)
      .catch(() => 'error: cancelled')
      .then((text) => {
        call.text = text;
        if (!abort.signal.aborted) this.#heard(text);
        return text;
      });
    call.done = done;
    const inTime = await within(this.#clock, slow?.waitMs ?? 0, done, undefined);
    if (inTime !== undefined) {
      this.#slow = this.#slow.filter((each) => each !== call);
      return { kind: 'result', text: inTime };
    }
    if (signal.aborted) {
      // The caller took the turn back before anything was said of it.
      this.#drop(call);
      throw signal.reason;
    }
    const say = this.#fillerOf(call, turn.call.language);
    const told = 'It is running, and takes a while. The result comes by itself: do not guess it.';
    return {
      kind: 'later',
      say,
      text: say === undefined ? `${told} Say in one short sentence that you are working on it.` : told,
    };
  }

  /** Says the next true words to a caller who waits for a result in silence. @returns false where nothing runs, or the file has none left */
  *fill({ input, call }: DialogTurn): Generator<DialogAction, boolean> {
    const waiting = input.kind === 'no-input' ? this.#slow.find(({ text }) => text === undefined) : undefined;
    const text = waiting && this.#fillerOf(waiting, call.language);
    if (text === undefined) return false;
    yield { type: 'say', text };
    yield { type: 'gather', waits: true };
    return true;
  }

  #fillerOf(call: SlowCall, language: string): string | undefined {
    const say = this.#box.tools.get(call.name)?.slow?.say ?? {};
    const sentences = say[language] ?? say[language.split('-')[0] ?? language] ?? [];
    const next = sentences[call.fillers % Math.max(1, sentences.length)];
    call.fillers += 1;
    return next;
  }

  /** Late results for the answer to this turn, oldest first; a turn that is asked again gets them again. */
  take(turnIndex: number): LateResult[] {
    const due = this.#slow.filter(({ text, toldIn }) => text !== undefined && (toldIn === undefined || toldIn >= turnIndex));
    for (const call of due) call.toldIn = turnIndex;
    // What an earlier turn has told is over.
    this.#slow = this.#slow.filter(({ text, toldIn }) => text === undefined || toldIn === turnIndex);
    return due.map(({ name, args, text = '' }) => ({ name, args, text }));
  }

  /** Cancels running slow tools. @param name only this one @returns how many */
  cancel(name?: string): number {
    const found = this.#slow.filter((call) => call.text === undefined && (name === undefined || call.name === name));
    for (const call of found) this.#drop(call);
    return found.length;
  }

  #drop(call: SlowCall): void {
    this.#slow = this.#slow.filter((each) => each !== call);
    call.abort.abort(new Error('the caller does not wait for it'));
  }

  #heard(text: string): void {
    if (text.startsWith('error:')) return;
    this.#sources.push(text);
    if (this.#sources.length > MOST_SOURCES) this.#sources.shift();
  }

  saved(): z.output<typeof savedCalls> {
    return this.#slow
      .filter(({ toldIn }) => toldIn === undefined)
      .map(({ name, args, text }) =>
        text === undefined ? { name, args } : { name, args, text: text.slice(0, MOST_SAVED_CHARACTERS) },
      );
  }

  /** The call is over: cancels slow tools, except those that are to finish, whose connections stay open until then. */
  async dispose(): Promise<void> {
    const running = this.#slow.filter(({ text }) => text === undefined);
    for (const call of running) if (this.#box.tools.get(call.name)?.slow?.onHangup !== 'finish') this.#drop(call);
    if (this.running.length === 0) await this.#release();
    else void Promise.all(this.#slow.map(({ done }) => done)).then(this.#release);
  }
}

/** What a model's call of a tool led to. */
export interface UsedTool {
  /** For the model. */
  readonly answer: string;
  readonly action?: DialogAction;
  /** The bot's words while the tool goes on running. */
  readonly say?: string | undefined;
  /** Set for one of the bot's own tools. */
  readonly own?: ToolAnswer['kind'];
}

export const BAD_ARGUMENTS: UsedTool = { answer: 'error: the arguments cannot be used' };

/** The arguments of a model's call. @throws SyntaxError */
export function argumentsOf(text: string): unknown {
  return text.trim() === '' ? {} : JSON.parse(text);
}

/**
 * Uses a tool of the call, or one of the bot's own. Rejects only when the signal aborts.
 * @param call its arguments as JSON text
 * @returns undefined when there is no such tool
 */
export async function useTool(
  { name, args }: { readonly name: string; readonly args: string },
  { tools, transfers }: { readonly tools: CallTools; readonly transfers: ModelTransfers },
  turn: DialogTurn,
  signal: AbortSignal,
): Promise<UsedTool | undefined> {
  let given: unknown;
  try {
    given = argumentsOf(args);
    if (name === STOP_WAITING) return { answer: tools.cancel(stopWaiting.parse(given).name) > 0 ? 'stopped' : 'nothing runs' };
    const action = callAction(name, given, transfers);
    if (action !== undefined) return { action, answer: 'done' };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof ZodError) return BAD_ARGUMENTS;
    throw error;
  }
  const answered = await tools.call({ name, args: given }, turn, signal);
  return answered && { answer: answered.text, say: answered.kind === 'later' ? answered.say : undefined, own: answered.kind };
}

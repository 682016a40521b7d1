import type { OpenAI } from 'openai';
import { z } from 'zod';
import { keysToPress } from '../../config/bots.ts';
import { callBackTime } from '../action-schema.ts';
import type { DialogAction, DialogTurn } from '../port.ts';
import { traceHeaders } from '../../observability/trace-context.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { SlowSettings } from '../../config/bot-tools.ts';
import type { Secret } from '../../config/secrets.ts';
import { errorText } from '../../kernel/errors.ts';
import { AnswerDeadline, keyWithin, signedHeaders } from '../wire.ts';
import { abortable } from '../../kernel/waiting.ts';
import { isTool, type ToolDefinition } from '../define-bot.ts';
import { DialogModuleError, loadExports } from '../module-hook.ts';
import { MOST_RESULT_CHARACTERS } from '../tools/tool.ts';

export type Tool = OpenAI.Chat.ChatCompletionFunctionTool;

/** Tools that control the call. A bot's own tools cannot have their names. */
export const CALL_TOOLS: readonly Tool[] = [
  tool('hang_up', 'Ends the call after what you say in this answer. Say goodbye first.', {
    reason: { type: 'string', description: 'Why, in a few words' },
  }),
  tool('switch_language', 'Goes on in another language.', {
    language: { type: 'string', description: 'ISO 639 code, for example hi' },
  }),
  tool('press_keys', 'Presses telephone keys at the other end after what you say in this answer, as a menu there asks for.', {
    keys: { type: 'string', description: '0-9, * and #; w waits half a second' },
  }),
  tool(
    'call_back',
    'Notes that the person wants to be called at another time. Say the time back in this answer, and end the call.',
    {
      at: {
        type: 'string',
        description: "Date and time, such as 2026-03-05T17:00, in the person's own time; empty where they named none",
      },
    },
  ),
  tool('take_note', 'Keeps a note in the record of the call.', { text: { type: 'string' } }),
  tool('remember', 'Keeps a value in the record of the call.', { name: { type: 'string' }, value: { type: 'string' } }),
];

function tool(name: string, description: string, properties: Record<string, unknown>): Tool {
  const parameters = { type: 'object', properties, required: Object.keys(properties) };
  return { type: 'function', function: { name, description, parameters } };
}

export const STOP_WAITING = 'stop_waiting';

/** Offered beside slow tools. */
export const STOP_WAITING_TOOL: Tool = tool(
  STOP_WAITING,
  'Stops a tool that is still running, as the caller no longer wants its result.',
  {
    name: { type: 'string', description: 'The name of the tool' },
  },
);
export const stopWaiting = z.object({ name: z.string().max(64) });

/** Whether this is the name of a built-in tool. */
export function isCallTool(name: string): boolean {
  return (
    name === 'transfer_call' ||
    name === 'cancel_transfer' ||
    name === STOP_WAITING ||
    CALL_TOOLS.some((tool) => tool.function.name === name)
  );
}

const hangUp = z.object({ reason: z.string().min(1).max(200).catch('the bot ended the call') });
const switchLanguage = z.object({ language: z.string().min(2).max(35) });
const pressKeys = z.object({ keys: keysToPress });
const callBack = z.object({ at: z.union([z.literal(''), callBackTime]) });
const takeNote = z.object({ text: z.string().min(1).max(2000) });
const remember = z.object({ name: z.string().min(1).max(100), value: z.string().max(2000) });

const transferCall = (names: readonly string[]) =>
  z.object({ to: z.enum(names), brief: z.string().min(1).max(1000).catch('A caller is waiting for you.') });

/** Transfer targets of a model, by the names it is given. */
export type ModelTransfers = Readonly<Record<string, { readonly to: string; readonly warm: boolean }>>;

/** Tools that transfer a caller to these targets; empty for an empty list. */
export function transferTools(transfers: ModelTransfers): Tool[] {
  const names = Object.keys(transfers);
  if (names.length === 0) return [];
  const to = { type: 'string', enum: names };
  const what = 'Connects the caller to a person or desk after what you say in this answer.';
  if (!Object.values(transfers).some(({ warm }) => warm)) return [tool('transfer_call', what, { to })];
  const brief = { type: 'string', description: 'What the person is told first, in one or two sentences: who calls, and why' };
  return [
    tool('transfer_call', `${what} You may go on talking to the caller until the person takes the call.`, { to, brief }),
    tool('cancel_transfer', 'The caller no longer wants to be connected to the person who is being called.', {}),
  ];
}

/**
 * The action of a built-in tool.
 * @param transfers targets by name: a model cannot give numbers of its own
 * @returns undefined when the tool is not built in
 * @throws ZodError for invalid arguments
 */
export function callAction(name: string, args: unknown, transfers: ModelTransfers): DialogAction | undefined {
  switch (name) {
    case 'hang_up':
      return { type: 'hangup', reason: hangUp.parse(args).reason };
    case 'switch_language':
      return { type: 'language', language: switchLanguage.parse(args).language };
    case 'press_keys':
      return { type: 'digits', digits: pressKeys.parse(args).keys };
    case 'call_back': {
      const { at } = callBack.parse(args);
      return at === '' ? { type: 'call-back' } : { type: 'call-back', at };
    }
    case 'take_note':
      return { type: 'note', text: takeNote.parse(args).text };
    case 'remember': {
      const { name: key, value } = remember.parse(args);
      return { type: 'set', variables: { [key]: value } };
    }
    case 'transfer_call': {
      const { to, brief } = transferCall(Object.keys(transfers)).parse(args);
      const target = transfers[to];
      if (target === undefined) return undefined;
      return { type: 'transfer', to: target.to, ...(target.warm ? { warm: { brief } } : {}) };
    }
    case 'cancel_transfer':
      return Object.values(transfers).some(({ warm }) => warm) ? { type: 'cancel-transfer' } : undefined;
    default:
      return undefined;
  }
}

export type CodeTool = ToolDefinition<z.ZodObject>;

/**
 * Loads the tools that a JavaScript or TypeScript file exports, made by `defineTool`.
 * @param path absolute path of the file
 * @throws DialogModuleError when it cannot be loaded, exports no tool, or a tool has the name of a built-in one
 */
export async function loadCodeTools(path: string): Promise<readonly CodeTool[]> {
  const found = [...new Set(Object.values(await loadExports(path)))].filter(isTool);
  if (found.length === 0) throw new DialogModuleError(`${path} exports no tool: export what defineTool returns`);
  const names = found.map(({ name }) => name);
  const wrong = names.find((name, index) => isCallTool(name) || names.indexOf(name) !== index);
  if (wrong !== undefined) throw new DialogModuleError(`${path} has a tool "${wrong}", which is the name of another tool`);
  return found;
}

/** JSON Schema of a tool's arguments, for the model. */
export function parametersOf(tool: CodeTool): Record<string, unknown> {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(tool.parameters, { io: 'input', unrepresentable: 'any' });
  return schema;
}

/**
 * Runs a tool in this process. Rejects only when the signal aborts: the model gets a failure, or a timeout after `timeoutMs`, as a
 * text that it can tell the caller.
 * @returns the text for the model, at most 8,000 characters
 */
export async function callCodeTool(
  tool: CodeTool,
  args: unknown,
  { call, variables, idempotencyKey }: DialogTurn,
  { clock, timeoutMs, signal }: { readonly clock: Clock; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<string> {
  const parsed = tool.parameters.safeParse(args);
  if (!parsed.success) return `error: ${z.prettifyError(parsed.error)}`.slice(0, MOST_RESULT_CHARACTERS);
  using deadline = new AnswerDeadline(clock, timeoutMs, 'the tool');
  const either = AbortSignal.any([signal, deadline.signal]);
  const context = { call, variables, idempotencyKey: keyWithin(idempotencyKey, tool.name, JSON.stringify(args)), signal: either };
  try {
    const answer: unknown = await abortable(Promise.resolve(tool.run(parsed.data, context)), either);
    const text = typeof answer === 'string' ? answer : (JSON.stringify(answer) ?? 'done');
    return text.slice(0, MOST_RESULT_CHARACTERS);
  } catch (error) {
    if (signal.aborted) throw error;
    return `error: ${errorText(deadline.signal.aborted ? deadline.signal.reason : error)}`.slice(0, MOST_RESULT_CHARACTERS);
  }
}

export interface WebTool {
  readonly slow?: SlowSettings | undefined;
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly url: string;
}

/**
 * Calls a tool behind an address: a POST of `{call, arguments}`. The same call in another attempt at the turn has the same
 * idempotency key. Rejects only when the signal aborts, like `callCodeTool`.
 */
export async function callWebTool(
  tool: WebTool,
  args: unknown,
  { call, index, idempotencyKey }: DialogTurn,
  {
    clock,
    secret,
    timeoutMs,
    signal,
  }: { readonly clock: Clock; readonly secret: Secret | undefined; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<string> {
  const body = JSON.stringify({ call, arguments: args });
  const id = keyWithin(idempotencyKey, tool.name, JSON.stringify(args));
  const signed = secret === undefined ? {} : signedHeaders(secret.reveal(), id, clock.wallMs(), body);
  using deadline = new AnswerDeadline(clock, timeoutMs, 'the tool');
  try {
    const headers = { 'content-type': 'application/json', 'idempotency-key': id, ...traceHeaders(call.callId, index), ...signed };
    const response = await fetch(tool.url, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.any([signal, deadline.signal]),
      redirect: 'error',
    });
    const text = await readBounded(response);
    return response.ok ? text : `error: HTTP ${response.status} ${text}`;
  } catch (error) {
    if (signal.aborted) throw error;
    return `error: ${errorText(deadline.signal.aborted ? deadline.signal.reason : error)}`;
  }
}

async function readBounded(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > MOST_RESULT_CHARACTERS) return text.slice(0, MOST_RESULT_CHARACTERS);
  }
  return text + decoder.decode();
}

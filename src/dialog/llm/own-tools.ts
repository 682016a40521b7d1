import { z } from 'zod';
import { traceHeaders } from '../../observability/trace-context.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Secret } from '../../config/secrets.ts';
import { errorText } from '../../kernel/errors.ts';
import type { DialogTurn } from '../port.ts';
import { AnswerDeadline, keyWithin, signedHeaders } from '../wire.ts';
import { abortable } from '../../kernel/waiting.ts';
import { isTool, type ToolDefinition } from '../define-bot.ts';
import { DialogModuleError, loadExports } from '../module-hook.ts';
import { isCallTool } from './call-tools.ts';

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
  if (!parsed.success) return `error: ${z.prettifyError(parsed.error)}`.slice(0, MOST_CHARACTERS);
  using deadline = new AnswerDeadline(clock, timeoutMs, 'the tool');
  const either = AbortSignal.any([signal, deadline.signal]);
  const context = { call, variables, idempotencyKey: keyWithin(idempotencyKey, tool.name, JSON.stringify(args)), signal: either };
  try {
    const answer: unknown = await abortable(Promise.resolve(tool.run(parsed.data, context)), either);
    const text = typeof answer === 'string' ? answer : (JSON.stringify(answer) ?? 'done');
    return text.slice(0, MOST_CHARACTERS);
  } catch (error) {
    if (signal.aborted) throw error;
    return `error: ${errorText(deadline.signal.aborted ? deadline.signal.reason : error)}`.slice(0, MOST_CHARACTERS);
  }
}

export interface WebTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly url: string;
}

/** The longest answer of a tool that a model gets. */
export const MOST_CHARACTERS = 8_000;

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
    if (text.length > MOST_CHARACTERS) return text.slice(0, MOST_CHARACTERS);
  }
  return text + decoder.decode();
}

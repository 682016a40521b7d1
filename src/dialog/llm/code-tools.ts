import { z } from 'zod';
import { abortable } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import { isTool, type ToolDefinition } from '../define.ts';
import { DialogModuleError, loadExports } from '../module/module-hook.ts';
import type { DialogTurn } from '../port.ts';
import { Patience } from '../wire/patience.ts';
import { keyWithin } from '../wire/signature.ts';
import { isCallTool } from './call-tools.ts';
import { MOST_CHARACTERS } from './web-tool.ts';

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

/** JSON Schema of a tool's arguments, as a model is told it. */
export function parametersOf(tool: CodeTool): Record<string, unknown> {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(tool.parameters, { io: 'input', unrepresentable: 'any' });
  return schema;
}

/**
 * Runs a tool. Never rejects but for the signal: a tool that fails, or takes longer than `timeoutMs`, is told to the model as a
 * text, so that it can say so to the caller.
 * @returns what is told to the model, at most 8,000 characters
 */
export async function callCodeTool(
  tool: CodeTool,
  args: unknown,
  { call, variables, idempotencyKey }: DialogTurn,
  { clock, timeoutMs, signal }: { readonly clock: Clock; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<string> {
  const parsed = tool.parameters.safeParse(args);
  if (!parsed.success) return `error: ${z.prettifyError(parsed.error)}`.slice(0, MOST_CHARACTERS);
  using patience = new Patience(clock, timeoutMs, 'the tool');
  const either = AbortSignal.any([signal, patience.signal]);
  const context = { call, variables, idempotencyKey: keyWithin(idempotencyKey, tool.name, JSON.stringify(args)), signal: either };
  try {
    const answer: unknown = await abortable(Promise.resolve(tool.run(parsed.data, context)), either);
    const text = typeof answer === 'string' ? answer : (JSON.stringify(answer) ?? 'done');
    return text.slice(0, MOST_CHARACTERS);
  } catch (error) {
    if (signal.aborted) throw error;
    return `error: ${errorText(patience.signal.aborted ? patience.signal.reason : error)}`.slice(0, MOST_CHARACTERS);
  }
}

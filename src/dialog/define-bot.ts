import type { z } from 'zod';
import { type SlowInput, slowOf } from '../config/bot-tools.ts';
import { errorText } from '../kernel/errors.ts';
import type { CallFacts, DialogAction, DialogTurn } from './port.ts';

/**
 * A bot written as a function, called once a turn; its actions are carried out as it yields them, and a plain text is spoken. `signal` aborts when
 * the answer is not needed.
 */
export type BotFunction = (turn: DialogTurn, signal: AbortSignal) => AsyncGenerator<string | DialogAction, void, undefined>;

/**
 * Types a `module` bot; returns the function unchanged.
 *
 *     export default defineBot(async function* (turn) {
 *       if (turn.input.kind === 'start') yield 'Hello, who is calling?';
 *       else yield { type: 'hangup', reason: 'done' };
 *     });
 */
export function defineBot(respond: BotFunction): BotFunction {
  return respond;
}

/** Passed to a tool besides its arguments. */
export interface ToolContext {
  readonly call: CallFacts;
  readonly variables: Readonly<Record<string, string>>;
  /** The same for the same arguments in every attempt at a turn, else unique. */
  readonly idempotencyKey: string;
  /** Aborts when the answer is not needed, or after the bot's `timeoutMs`. */
  readonly signal: AbortSignal;
}

export interface ToolDefinition<Schema extends z.ZodObject> {
  /** Letters, digits, _ and -, at most 64. */
  readonly name: string;
  /** Tells the model what the tool does. */
  readonly description: string;
  /** A zod object, made with the `z` of `offhook/bot`; it checks the model's arguments. */
  readonly parameters: Schema;
  /** Its result may come turns later, while the caller talks on; as `slow` of a bot's file. */
  readonly slow?: SlowInput;
  /** @returns a text, or a value that the model gets as JSON. The model gets a thrown error as a text. */
  readonly run: (args: z.output<Schema>, context: ToolContext) => unknown;
}

/** A registered symbol, since a tools file may import another copy of this package. */
const TOOL = Symbol.for('offhook.tool');

/**
 * A tool that a language model may use, for a file that a bot names as its `toolsFile`.
 *
 *     export const freeSlots = defineTool({
 *       name: 'free_slots',
 *       description: 'The free times of a day',
 *       parameters: z.object({ day: z.iso.date() }),
 *       run: ({ day }) => calendar.freeTimes(day),
 *     });
 *
 * @throws TypeError for a name that models do not take, and for a wrong `slow`
 */
export function defineTool<Schema extends z.ZodObject>(tool: ToolDefinition<Schema>): ToolDefinition<Schema> {
  if (!/^[a-zA-Z0-9_-]{1,64}$/u.test(tool.name)) {
    throw new TypeError(`"${tool.name}" is no name of a tool: letters, digits, _ and -, at most 64`);
  }
  try {
    slowOf(tool.slow);
  } catch (cause) {
    throw new TypeError(`slow of the tool "${tool.name}" cannot be used: ${errorText(cause)}`, { cause });
  }
  return Object.assign(tool, { [TOOL]: true });
}

/** Whether `defineTool` made the value. */
export function isTool(value: unknown): value is ToolDefinition<z.ZodObject> {
  return typeof value === 'object' && value !== null && TOOL in value;
}

import type { SlowSettings } from '../../config/bot-tools.ts';
import { OffhookError } from '../../kernel/errors.ts';
import type { DialogTurn } from '../port.ts';

/** The longest result of a tool that a model gets, where the bot's file sets no other limit. */
export const MOST_RESULT_CHARACTERS = 8_000;

/** A tool as a model is told of it. */
export interface ToolDefinition {
  /** Letters, digits, _ and -, at most 64. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** One of a bot's own tools; shared by all its calls. */
export interface Tool {
  readonly name: string;
  /** Set for a tool whose result may come turns later. */
  readonly slow?: SlowSettings | undefined;
  /** Longest time of a tool that is not slow; it keeps the limit itself. */
  readonly timeoutMs: number;
  /** @param signal ends a wait for a server that is only now being reached */
  define(signal: AbortSignal): ToolDefinition | Promise<ToolDefinition>;
  /**
   * Runs the tool. Rejects only when the signal aborts: the model gets a failure as a text that begins with `error:`.
   * @param limitMs longest time
   * @returns the text for the model, bounded
   */
  run(args: unknown, turn: DialogTurn, limitMs: number, signal: AbortSignal): Promise<string>;
}

/** A bot's tools cannot be offered to a model, such as two of the same name. */
export class ToolsError extends OffhookError {
  readonly code = 'OFFHOOK_TOOLS';
  readonly retryable = false;
}

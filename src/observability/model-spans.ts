import type { Clock } from '../kernel/clock.ts';

/** A message to or from a model, in the form of the conventions' `gen_ai.input.messages`. */
export interface ModelMessage {
  readonly role: string;
  readonly text: string;
}

interface OfTurn {
  readonly callId: string;
  /** The turn whose dialog it belongs to. */
  readonly turn: number;
  readonly fromWallMs: number;
  readonly toWallMs: number;
  /** What kept it from an answer: an error's code or name. */
  readonly errorType?: string | undefined;
}

/** One request to a model that is over. */
export interface ModelCall extends OfTurn {
  readonly vendor: string;
  readonly model: string;
  /** Units as of the dialog's `usage`; undefined where the server told none. */
  readonly units?: Readonly<Record<string, number>> | undefined;
  /** Names of the tools that it called. */
  readonly toolCalls: readonly string[];
  /** Said only where the settings allow words. */
  readonly words?: { readonly input: readonly ModelMessage[]; readonly output: string } | undefined;
}

/** One use of a tool that is over. */
export interface ToolUse extends OfTurn {
  readonly name: string;
  readonly id: string;
}

/** Makes spans of models and tools. One for the process, as its exporter. */
export interface ModelSpans {
  readonly words: boolean;
  model(call: ModelCall): void;
  tool(use: ToolUse): void;
}

let spans: ModelSpans | undefined;

/** Sets who makes spans of models; undefined for nobody. */
export function sendModelSpans(next: ModelSpans | undefined): void {
  spans = next;
}

/** A request to a model, from its beginning to `end`, which is called once. */
export interface OpenModelCall {
  /** What the server reports that it used. */
  units?: Readonly<Record<string, number>>;
  failed(error: unknown): void;
  end(output: string, toolCalls: readonly string[]): void;
}

/** @param input the messages; asked only where the settings allow words */
export function beginModelCall(
  about: Pick<ModelCall, 'callId' | 'turn' | 'vendor' | 'model'>,
  clock: Pick<Clock, 'wallMs'>,
  input: () => readonly ModelMessage[],
): OpenModelCall {
  const fromWallMs = clock.wallMs();
  let errorType: string | undefined;
  const open: OpenModelCall = {
    failed(error) {
      errorType = errorTypeOf(error);
    },
    end(output, toolCalls) {
      const words = spans?.words === true ? { input: input(), output } : undefined;
      spans?.model({ ...about, fromWallMs, toWallMs: clock.wallMs(), units: open.units, toolCalls, errorType, words });
    },
  };
  return open;
}

/** Runs a tool, and makes its span. */
export async function spanOfTool<Answer>(
  about: Pick<ToolUse, 'callId' | 'turn' | 'name' | 'id'>,
  clock: Pick<Clock, 'wallMs'>,
  run: () => Promise<Answer>,
): Promise<Answer> {
  const fromWallMs = clock.wallMs();
  let errorType: string | undefined;
  try {
    return await run();
  } catch (error) {
    errorType = errorTypeOf(error);
    throw error;
  } finally {
    spans?.tool({ ...about, fromWallMs, toWallMs: clock.wallMs(), errorType });
  }
}

/** A stable name of an error, without its message, which may have words. */
function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'error';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

import { z, ZodError } from 'zod';
import type { AnswerContract } from '../../language/index.ts';
import { CALL_TOOLS, isCallTool, type ModelTransfers, STOP_WAITING_TOOL, transferTools } from '../llm/tools.ts';
import { argumentsOf, BAD_ARGUMENTS, type CallTools, type UsedTool, useTool } from '../tools/call-tools.ts';
import type { DialogTurn } from '../port.ts';
import type { ModelFunction } from './vendor.ts';

const ASK_KEYS = 'ask_keys';

/** The model's way to ask for keys: only by it do digits reach the call. */
const askKeys: ModelFunction = {
  name: ASK_KEYS,
  description:
    'Lets the caller key in a number on their telephone after what you say in this answer. For a card number or a one-time password use the kind, ' +
    'and never ask to have it spoken: it is kept safe, and you are only told that it was entered.',
  parameters: {
    type: 'object',
    properties: {
      kind: { type: 'string', enum: ['digits', 'card', 'otp'] },
      digits: { type: 'integer', minimum: 1, maximum: 64, description: 'How many digits; not for a card' },
      say_again: { type: 'string', description: 'What the caller hears when they did not key it in, as one sentence' },
    },
    required: ['kind', 'say_again'],
  },
};

const askedKeys = z.object({
  kind: z.enum(['digits', 'card', 'otp']),
  digits: z.int().min(1).max(64).optional().catch(undefined),
  say_again: z.string().min(1).max(500).catch('Please enter it on your keypad.'),
});

export interface AskedKeys {
  readonly contract: AnswerContract;
  readonly sayAgain: string;
}

/** What a call of a function led to. */
export interface FunctionOutcome extends UsedTool {
  readonly keys?: AskedKeys;
}

/** The functions of a bot's model in one call: the call's own, its transfers, keys, and the bot's tools. */
export class ModelFunctions {
  /** Resolves once the definitions of the bot's tools are known, after a few seconds at the latest. */
  readonly ready: Promise<void>;
  readonly #tools: CallTools;
  readonly #transfers: ModelTransfers;
  #declared: readonly ModelFunction[];

  constructor(tools: CallTools, transfers: ModelTransfers) {
    this.#tools = tools;
    this.#transfers = transfers;
    const ofCall = [...CALL_TOOLS, ...transferTools(transfers), ...(tools.hasSlow ? [STOP_WAITING_TOOL] : [])];
    const builtIn = ofCall.map(({ function: { name, description = '', parameters = {} } }) => ({
      name,
      description,
      parameters,
    }));
    this.#declared = [...builtIn, askKeys];
    this.ready = tools.definitions(new AbortController().signal).then((own) => {
      this.#declared = [...this.#declared, ...own];
    });
  }

  get declared(): readonly ModelFunction[] {
    return this.#declared;
  }

  /** Whether the answer is complete after it, where something was said: it controls the call. */
  endsAnswer(name: string): boolean {
    return name === ASK_KEYS || isCallTool(name);
  }

  /** Rejects only when the signal aborts: the model gets failures as a text that it can tell the caller. @param args JSON text */
  async call(name: string, args: string, turn: DialogTurn, signal: AbortSignal): Promise<FunctionOutcome> {
    if (name === ASK_KEYS) return askedFor(args);
    const used = await useTool({ name, args }, { tools: this.#tools, transfers: this.#transfers }, turn, signal);
    return used ?? { answer: `error: there is no function named ${name}` };
  }
}

/** @param args JSON text */
function askedFor(args: string): FunctionOutcome {
  try {
    return keysOf(askedKeys.parse(argumentsOf(args)));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof ZodError) return BAD_ARGUMENTS;
    throw error;
  }
}

function keysOf({ kind, digits, say_again: sayAgain }: z.output<typeof askedKeys>): FunctionOutcome {
  const length = digits === undefined ? {} : { length: digits };
  const contract: AnswerContract =
    kind === 'card'
      ? { kind }
      : kind === 'otp'
        ? { kind, length: Math.min(12, Math.max(3, digits ?? 6)) }
        : { kind, ...length, readBack: 'never' };
  return {
    answer: 'the caller keys it in now; you are told when they have',
    action: { type: 'gather', contract },
    keys: { contract, sayAgain },
  };
}

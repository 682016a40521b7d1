import { z, ZodError } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { AnswerContract } from '../../language/index.ts';
import {
  CALL_TOOLS,
  callAction,
  callCodeTool,
  callWebTool,
  type CodeTool,
  isCallTool,
  type ModelTransfers,
  parametersOf,
  transferTools,
  type WebTool,
} from '../llm/tools.ts';
import type { DialogAction, DialogTurn } from '../port.ts';
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

/** Keys that the model asked for. */
export interface AskedKeys {
  readonly contract: AnswerContract;
  readonly sayAgain: string;
}

export interface FunctionSettings {
  readonly tools: readonly WebTool[];
  readonly codeTools: readonly CodeTool[];
  readonly transfers: ModelTransfers;
  /** Signs the requests to tools. */
  readonly secret: Secret | undefined;
  readonly timeoutMs: number;
}

/** What a call of a function led to. `answer` goes to the model. */
export interface FunctionOutcome {
  readonly answer: string;
  readonly action?: DialogAction;
  readonly keys?: AskedKeys;
}

const BAD_ARGUMENTS: FunctionOutcome = { answer: 'error: the arguments cannot be used' };

/** The functions of a bot's model: the call's own, its transfers, keys, and the bot's tools. */
export class ModelFunctions {
  readonly declared: readonly ModelFunction[];
  readonly #settings: FunctionSettings;
  readonly #clock: Clock;

  constructor(settings: FunctionSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    const ofCall = [...CALL_TOOLS, ...transferTools(settings.transfers)].map(
      ({ function: { name, description, parameters } }) => ({
        name,
        description: description ?? '',
        parameters: parameters ?? {},
      }),
    );
    const own = settings.codeTools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      parameters: parametersOf(tool),
    }));
    const web = settings.tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
    this.declared = [...ofCall, askKeys, ...web, ...own];
  }

  /** Whether the bot's file declares this function: its effects are not the call's, and may not be repeated. */
  isOwn(name: string): boolean {
    const { tools, codeTools } = this.#settings;
    return [...tools, ...codeTools].some((tool) => tool.name === name);
  }

  /** Whether the answer is complete after it, where something was said: it controls the call. */
  endsAnswer(name: string): boolean {
    return name === ASK_KEYS || isCallTool(name);
  }

  /** Rejects only when the signal aborts: the model gets failures as a text that it can tell the caller. @param args JSON text */
  async call(name: string, args: string, turn: DialogTurn, signal: AbortSignal): Promise<FunctionOutcome> {
    const { transfers, tools, codeTools, secret, timeoutMs } = this.#settings;
    let given: unknown;
    try {
      given = args.trim() === '' ? {} : JSON.parse(args);
      if (name === ASK_KEYS) return keysOf(askedKeys.parse(given));
      const action = callAction(name, given, transfers);
      if (action !== undefined) return { action, answer: 'done' };
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof ZodError) return BAD_ARGUMENTS;
      throw error;
    }
    const services = { clock: this.#clock, timeoutMs, signal };
    const web = tools.find((tool) => tool.name === name);
    if (web !== undefined) return { answer: await callWebTool(web, given, turn, { ...services, secret }) };
    const code = codeTools.find((tool) => tool.name === name);
    if (code !== undefined) return { answer: await callCodeTool(code, given, turn, services) };
    return { answer: `error: there is no function named ${name}` };
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

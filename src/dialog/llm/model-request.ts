import { APIError, type OpenAI } from 'openai';

type Fields = Pick<
  OpenAI.Chat.ChatCompletionCreateParamsStreaming,
  'max_tokens' | 'max_completion_tokens' | 'temperature' | 'reasoning_effort'
>;

export interface ModelLimits {
  readonly baseUrl: string;
  readonly model: string;
  /** Of one answer, what a model thinks to itself included. */
  readonly maxTokens: number;
  readonly temperature?: number | undefined;
  readonly reasoningEffort?: NonNullable<OpenAI.Chat.ChatCompletionCreateParamsStreaming['reasoning_effort']> | undefined;
}

/** The families that refuse `max_tokens`, wherever they are served. */
const NEW_FAMILIES = /(?:^|[/:])(?:o\d|gpt-[5-9])/iu;
/** Hosts where every model takes `max_completion_tokens`, of which `max_tokens` is the deprecated name. */
const NEW_HOSTS = /(?:^|\.)openai\.(?:com|azure\.com)$/u;
/** Whether a model is of a family that thinks before it speaks, and refuses a temperature then. */
export function isNewFamily(model: string): boolean {
  return NEW_FAMILIES.test(model);
}

const REFUSED: ReadonlySet<number> = new Set([400, 422]);

/**
 * The fields of a request that some models refuse: the limit of tokens has two names, and reasoning models take no temperature. What
 * a server was told wrong once is told right from then on, by every call of the bot.
 */
export class ModelRequest {
  #fields: Fields;

  constructor({ baseUrl, model, maxTokens, temperature, reasoningEffort }: ModelLimits) {
    const isNew = isNewFamily(model) || NEW_HOSTS.test(new URL(baseUrl).hostname);
    this.#fields = {
      ...(isNew ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens }),
      ...(temperature === undefined ? {} : { temperature }),
      ...(reasoningEffort === undefined ? {} : { reasoning_effort: reasoningEffort }),
    };
  }

  get fields(): Fields {
    return this.#fields;
  }

  /**
   * Changes what the server refused.
   * @param sent the fields of the request that was refused
   * @returns whether another request may be taken
   */
  heed(sent: Fields, error: unknown): boolean {
    // Another call of the bot was told the same before.
    if (sent !== this.#fields) return true;
    const named = refusedField(sent, error);
    const { max_tokens, max_completion_tokens, ...rest } = sent;
    switch (named) {
      case 'max_tokens':
        this.#fields = { ...rest, max_completion_tokens: max_tokens ?? null };
        return true;
      case 'max_completion_tokens':
        this.#fields = { ...rest, max_tokens: max_completion_tokens ?? null };
        return true;
      case 'temperature':
      case 'reasoning_effort': {
        const { [named]: _refused, ...without } = sent;
        this.#fields = without;
        return true;
      }
      case undefined:
        return false;
    }
  }
}

/** The field that the server names, as OpenAI does in `param` and others in their sentence. */
function refusedField(sent: Fields, error: unknown): keyof Fields | undefined {
  if (!(error instanceof APIError) || !REFUSED.has(Number(error.status))) return undefined;
  const names = (['max_tokens', 'max_completion_tokens', 'temperature', 'reasoning_effort'] as const).filter(
    (name) => sent[name] !== undefined,
  );
  return names.find((name) => error.param === name) ?? names.find((name) => new RegExp(`\\b${name}\\b`, 'u').test(error.message));
}

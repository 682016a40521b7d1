import { OpenAI } from 'openai';
import { z } from 'zod';
import type { Environment } from '../../config/env.ts';
import { type Message, ModelRequest } from '../../dialog/llm/model-request.ts';
import { errorTextWithCause } from '../../kernel/errors.ts';
import { outsideMocks } from './mocked-world.ts';
import type { ModelDocument } from './suite-schema.ts';

/** The model has no usable answer: it cannot be reached, answers garbage, or has used its tokens. */
export class EvalModelError extends Error {}

/** Characters of a token, where the server counts none. */
const CHARACTERS_PER_TOKEN = 4;
/** Answers in another form are asked for once more. */
const MOST_TRIES = 2;
const MOST_SHOWN = 200;

/** The model of one call's persona or judge, behind an OpenAI-compatible address. Its tokens are bounded. */
export class EvalModel {
  readonly #document: ModelDocument;
  readonly #client: OpenAI;
  readonly #request: ModelRequest;
  readonly #seed: number;
  #tokens = 0;

  /** @param seed for models that take one @throws EvalModelError without the secret that the suite names */
  constructor(document: ModelDocument, env: Environment, seed: number) {
    this.#document = document;
    this.#seed = seed;
    this.#request = new ModelRequest(document);
    const { baseUrl: baseURL, secretEnv, timeoutMs: timeout } = document;
    const apiKey = secretEnv === undefined ? 'none' : env[secretEnv];
    if (apiKey === undefined || apiKey === '') throw new EvalModelError(`${secretEnv} is not set, which the suite's model needs`);
    // The mocks of a scenario are for the bot's servers.
    this.#client = new OpenAI({
      baseURL,
      apiKey,
      timeout,
      maxRetries: 1,
      fetch: (input, init) => outsideMocks(() => fetch(input, init)),
    });
  }

  /** Tokens that were used so far. */
  get tokens(): number {
    return this.#tokens;
  }

  /**
   * Asks for a JSON object of a form; once more where the answer has another.
   * @param check what the form cannot say: a complaint, or undefined
   * @throws EvalModelError
   */
  async ask<Answer>(
    messages: readonly Message[],
    form: z.ZodType<Answer>,
    check: (answer: Answer) => string | undefined = () => undefined,
  ): Promise<Answer> {
    const asked = [...messages];
    let complaint = '';
    for (let tried = 0; tried < MOST_TRIES; tried += 1) {
      const text = await this.#complete(asked);
      const parsed = form.safeParse(jsonIn(text));
      const wrong = parsed.success ? check(parsed.data) : z.prettifyError(parsed.error).replaceAll(/\s+/gu, ' ');
      if (parsed.success && wrong === undefined) return parsed.data;
      complaint = `${wrong}; it said ${JSON.stringify(text.slice(0, MOST_SHOWN))}`;
      asked.push(
        { role: 'assistant', content: text },
        { role: 'user', content: `That cannot be used: ${wrong}. Answer with the JSON object alone.` },
      );
    }
    throw new EvalModelError(`the model answered garbage: ${complaint}`);
  }

  async #complete(messages: readonly Message[]): Promise<string> {
    const { model, mostTokens } = this.#document;
    if (this.#tokens >= mostTokens)
      throw new EvalModelError(`the model has used ${this.#tokens} tokens in this call, of ${mostTokens}`);
    const fields = this.#request.fields;
    try {
      const answer = await this.#client.chat.completions.create({ ...fields, model, seed: this.#seed, messages: [...messages] });
      const text = answer.choices[0]?.message.content ?? '';
      this.#tokens +=
        answer.usage?.total_tokens ?? Math.ceil((JSON.stringify(messages).length + text.length) / CHARACTERS_PER_TOKEN);
      return text;
    } catch (error) {
      if (this.#request.heed(fields, error)) return this.#complete(messages);
      throw new EvalModelError(`the model has no answer: ${errorTextWithCause(error)}`);
    }
  }
}

/** The JSON object of a text, which models like to wrap in words; undefined without one. */
function jsonIn(text: string): unknown {
  const from = text.indexOf('{');
  if (from < 0) return undefined;
  for (let to = text.lastIndexOf('}'); to > from; to = text.lastIndexOf('}', to - 1)) {
    try {
      return JSON.parse(text.slice(from, to + 1));
    } catch {
      // A shorter part may be one.
    }
  }
  return undefined;
}

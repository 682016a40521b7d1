import type { OpenAI } from 'openai';
import { DialogServerError } from '../wire/errors.ts';

/** One function the model wants called; `args` is JSON text, as far as the model wrote any. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/** More than this in one answer is a model gone astray. */
const MOST_TOOL_CALLS = 16;
/** Of one answer, words and calls of tools together: an hour and a half of speech. */
const MOST_CHARACTERS = 100_000;

/** Puts a streamed completion together: text goes on as it comes, calls of tools are known at the end. */
export class ModelStream {
  readonly #calls: { id: string; name: string; args: string }[] = [];
  #text = '';
  #characters = 0;
  /** Why the model stopped, in its server's words. */
  #finish: string | undefined;

  /**
   * @returns the text that this chunk adds, and whether it adds anything at all
   * @throws DialogServerError for an answer that does not end
   */
  take(chunk: OpenAI.Chat.ChatCompletionChunk): { readonly text: string; readonly isNews: boolean } {
    const before = this.#characters;
    const [choice] = chunk.choices;
    const delta = choice?.delta;
    this.#finish = choice?.finish_reason ?? this.#finish;
    for (const part of delta?.tool_calls ?? []) {
      // Some servers leave the index out: what they send is then a whole call.
      const index = Number.isInteger(part.index) ? part.index : this.#calls.length;
      if (index < 0 || index >= MOST_TOOL_CALLS) continue;
      const call = (this.#calls[index] ??= { id: '', name: '', args: '' });
      call.id ||= part.id ?? '';
      call.name += this.#counted(part.function?.name);
      call.args += this.#counted(part.function?.arguments);
    }
    const text = this.#counted(delta?.content);
    this.#text += text;
    return { text, isNews: this.#characters > before };
  }

  #counted(text: string | null | undefined): string {
    const added = text ?? '';
    this.#characters += added.length;
    if (this.#characters > MOST_CHARACTERS)
      throw new DialogServerError(`the model's answer is longer than ${MOST_CHARACTERS} characters`, { retryable: false });
    return added;
  }

  /** The limit of tokens was reached before anything came of it: a reasoning model has spent them on its thoughts. */
  get isUsedUp(): boolean {
    return this.#finish === 'length' && this.#characters === 0;
  }

  get text(): string {
    return this.#text;
  }

  get toolCalls(): readonly ToolCall[] {
    return this.#calls.filter((call) => call !== undefined && call.name !== '');
  }
}

import type { OpenAI } from 'openai';
import { DialogServerError } from '../wire/errors.ts';

/** A tool call of the model; `args` is JSON text, possibly empty. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/** Tool calls in one answer; further ones are ignored. */
const MOST_TOOL_CALLS = 16;
/** The longest answer, text and tool calls together: an hour and a half of speech. */
const MOST_CHARACTERS = 100_000;

/** Assembles a streamed completion: text is available as it arrives, tool calls at the end. */
export class ModelStream {
  readonly #calls: { id: string; name: string; args: string }[] = [];
  #text = '';
  #characters = 0;
  /** The server's `finish_reason`. */
  #finish: string | undefined;

  /**
   * @returns the text of this chunk, and whether the chunk has any text or tool call
   * @throws DialogServerError for an answer that is too long
   */
  take(chunk: OpenAI.Chat.ChatCompletionChunk): { readonly text: string; readonly isNews: boolean } {
    const before = this.#characters;
    const [choice] = chunk.choices;
    const delta = choice?.delta;
    this.#finish = choice?.finish_reason ?? this.#finish;
    for (const part of delta?.tool_calls ?? []) {
      // Some servers omit the index: such a part is a whole call.
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

  /** The token limit was reached before any output: a reasoning model spent all tokens on its reasoning. */
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

import type { OpenAI } from 'openai';

/** One function the model wants called; `args` is JSON text, as far as the model wrote any. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/** More than this in one answer is a model gone astray. */
const MOST_TOOL_CALLS = 16;
/** Arguments are cut here, which leaves no JSON: the model is told that they cannot be used. */
const MOST_ARGUMENT_CHARACTERS = 100_000;

/** Puts a streamed completion together: text goes on as it comes, calls of tools are known at the end. */
export class ModelStream {
  readonly #calls: { id: string; name: string; args: string }[] = [];
  #text = '';

  /** @returns the text that this chunk adds */
  take(chunk: OpenAI.Chat.ChatCompletionChunk): string {
    const delta = chunk.choices[0]?.delta;
    for (const part of delta?.tool_calls ?? []) {
      // Some servers leave the index out: what they send is then a whole call.
      const index = Number.isInteger(part.index) ? part.index : this.#calls.length;
      if (index < 0 || index >= MOST_TOOL_CALLS) continue;
      const call = (this.#calls[index] ??= { id: '', name: '', args: '' });
      call.id ||= part.id ?? '';
      call.name += part.function?.name ?? '';
      if (call.args.length < MOST_ARGUMENT_CHARACTERS) call.args += part.function?.arguments ?? '';
    }
    const text = delta?.content ?? '';
    this.#text += text;
    return text;
  }

  get text(): string {
    return this.#text;
  }

  get toolCalls(): readonly ToolCall[] {
    return this.#calls.filter((call) => call !== undefined && call.name !== '');
  }
}

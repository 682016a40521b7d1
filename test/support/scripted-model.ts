/** A request of a bot to its model. */
export interface ModelAsked {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: string | null }[];
  readonly tools?: readonly {
    readonly function: { readonly name: string; readonly description: string; readonly parameters: object };
  }[];
}

/** What the model answers: words, or calls of tools. */
export type ModelAnswer = string | readonly { readonly name: string; readonly args: object }[];

/** A model behind an OpenAI-compatible address, without a socket: stands in for `fetch` until it is disposed of. */
export class ScriptedModel implements Disposable {
  readonly asked: ModelAsked[] = [];
  readonly #real = globalThis.fetch;

  /** @param answer gets each request and its number, from 0 on */
  constructor(answer: (asked: ModelAsked, number: number) => ModelAnswer | Promise<ModelAnswer>) {
    globalThis.fetch = async (input, init) => {
      if (!String(input instanceof Request ? input.url : input).endsWith('/chat/completions')) return this.#real(input, init);
      const asked = JSON.parse(typeof init?.body === 'string' ? init.body : '') as ModelAsked;
      this.asked.push(asked);
      return answered(asked, await answer(asked, this.asked.length - 1));
    };
  }

  /** The text of the last message of a role in the last request. */
  last(role: string): string {
    return this.asked.at(-1)?.messages.findLast((message) => message.role === role)?.content ?? '';
  }

  [Symbol.dispose](): void {
    globalThis.fetch = this.#real;
  }
}

function answered(asked: ModelAsked, answer: ModelAnswer): Response {
  const common = { id: 'c', created: 1, model: asked.model };
  if (asked.stream !== true) {
    const choices = [{ index: 0, message: { role: 'assistant', content: answer }, finish_reason: 'stop' }];
    return Response.json({ ...common, object: 'chat.completion', choices });
  }
  const delta =
    typeof answer === 'string'
      ? { content: answer }
      : { tool_calls: answer.map(({ name, args }, index) => toolCall(index, name, JSON.stringify(args))) };
  const chunk = { ...common, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null }] };
  return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } });
}

function toolCall(index: number, name: string, args: string): object {
  return { index, id: `call_${index}`, type: 'function', function: { name, arguments: args } };
}

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dialogSpanOf, sendTraceContext, spanOf } from '../../../src/observability/trace-context.ts';
import type { DialogAction, DialogHook, DialogTurn, TurnInput } from '../../../src/dialog/port.ts';

export interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A bot's own server on loopback, answering as the test says. */
export class BotServer implements AsyncDisposable {
  readonly asked: Asked[] = [];
  readonly #server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      const asked = { path: request.url ?? '', headers: request.headers, body };
      this.asked.push(asked);
      void this.#answer(response, asked, this.asked.length - 1);
    });
  });
  readonly #answer: (response: ServerResponse, asked: Asked, number: number) => void | Promise<void>;

  constructor(answer: (response: ServerResponse, asked: Asked, number: number) => void | Promise<void>) {
    this.#answer = answer;
  }

  get server(): ReturnType<typeof createServer> {
    return this.#server;
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Has trace context sent until the end of the test. */
export function tracing(): Disposable {
  sendTraceContext(1);
  return { [Symbol.dispose]: () => sendTraceContext(undefined) };
}

/** What a request of the dialog in a turn says of where it belongs; of the call itself where the turn is absent. */
export function contextOf(turn?: number): string {
  const { traceId, spanId } = turn === undefined ? spanOf(CALL.callId) : dialogSpanOf(CALL.callId, turn);
  return `00-${traceId}-${spanId}-01`;
}

export const CALL = {
  callId: 'call_1',
  botName: 'b',
  from: '+15550100',
  to: '+15550199',
  direction: 'inbound',
  language: 'en',
} as const;

export function turnOf(input: TurnInput, index = 1, history: DialogTurn['history'] = []): DialogTurn {
  return { call: CALL, index, input, history, variables: {}, idempotencyKey: `call_1.${index}` };
}

export const spoken = (text: string): TurnInput => ({ kind: 'spoken', text, language: 'en' });

/** What a dialog says and does in a turn, without its counts of usage. */
export async function actionsOf(
  hook: DialogHook,
  turn: DialogTurn,
  signal = new AbortController().signal,
): Promise<DialogAction[]> {
  const actions: DialogAction[] = [];
  for await (const action of hook.respond(turn, signal)) if (action.type !== 'usage') actions.push(action);
  return actions;
}

/** What is said in all of them, put together. */
export function textOf(actions: readonly DialogAction[]): string {
  return actions.map((action) => (action.type === 'say' ? action.text : '')).join('');
}

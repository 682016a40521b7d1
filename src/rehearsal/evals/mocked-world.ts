import { AsyncLocalStorage } from 'node:async_hooks';
import { z } from 'zod';
import { type Bot, isWebAddress } from '../../config/bots.ts';
import { Secret } from '../../config/secrets.ts';
import type { DialogAction, DialogHook } from '../../dialog/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import { sleep } from '../../kernel/waiting.ts';
import { hasValue } from './scripted-caller.ts';
import type { MockDocument, Value } from './suite-schema.ts';

// Servers that a scenario answers for. The bot asks them with `fetch`, as in a call; while a rehearsed call goes on, its requests are looked at here
// and answered, or let through.

type FetchInput = Parameters<typeof fetch>[0];

/** A request that left the bot, and what came of it. */
export interface SeenRequest {
  /** As `mocks` name it: a path of a flow, a tool, `bot`, `model`, or an address. */
  readonly to: string;
  readonly method: string;
  readonly url: string;
  /** The body as JSON where it is, else its text. */
  readonly body: unknown;
  /** The same for repeats of one request. */
  readonly idempotencyKey: string | undefined;
  /** HTTP status, or the failure: `refused`, `reset`, `timeout`; undefined while it is open. */
  outcome: number | string | undefined;
  /** Since the call began. */
  readonly atMs: number;
}

/** Address of the server of a flow that has mocks in place of one; `.invalid` never resolves (RFC 6761). */
const MOCK_SERVER = 'http://server.invalid';

/** The servers of one rehearsed call. */
export class MockedWorld {
  readonly seen: SeenRequest[] = [];
  /** Requests that no mock answers. */
  readonly unanswered = new Set<string>();
  readonly #mocks: readonly { readonly mock: MockDocument; readonly keys: Set<string> }[] | undefined;
  #bot: Bot | undefined;
  #clock: Clock | undefined;
  #startedMs = 0;

  /** @param mocks undefined: requests go out, and are looked at only */
  constructor(mocks: readonly MockDocument[] | undefined) {
    this.#mocks = mocks?.map((mock) => ({ mock, keys: new Set() }));
  }

  /** Whether nothing outside is asked. */
  get isClosed(): boolean {
    return this.#mocks !== undefined;
  }

  begins(clock: Clock): void {
    this.#clock = clock;
    this.#startedMs = clock.nowMs();
  }

  /** The bot with addresses that lead here. */
  prepare(bot: Bot): Bot {
    this.#bot = bot;
    if (this.#mocks === undefined) return bot;
    const { kind } = bot.dialog;
    const hasServer = this.#mocks.some(({ mock: { request } }) => request.startsWith('/') || request === '*');
    if (kind === 'flow' && bot.serverUrl === undefined && hasServer) this.#bot = { ...bot, serverUrl: MOCK_SERVER };
    if (kind === 'llm' && bot.dialogSecret === undefined) this.#bot = { ...bot, dialogSecret: new Secret('mock') };
    return this.#bot;
  }

  /** Runs a rehearsed call: what it asks with `fetch` comes here. */
  async run<Result>(call: () => Promise<Result>): Promise<Result> {
    using _routed = this.open();
    return await current.run(this, call);
  }

  /** Lets requests of the dialogs of `around` come here, until disposed. */
  open(): Disposable {
    return routeFetch();
  }

  /** A dialog whose requests come here although others call it, such as a gateway with several calls. */
  around(hook: DialogHook): DialogHook {
    const inside = <Result>(run: () => Result): Result => current.run(this, run);
    return {
      get takesAdvice() {
        return hook.takesAdvice ?? false;
      },
      respond: (turn, signal) => inside(() => steppedInside(hook.respond(turn, signal), inside)),
      ...(hook.failOver === undefined ? {} : { failOver: (failure) => hook.failOver?.(failure) }),
      dispose: async () => inside(() => hook.dispose?.()),
      saved: () => hook.saved?.(),
    };
  }

  /** Answers a request of the bot, as `fetch` does. @param real sends it out */
  async fetch(input: FetchInput, init: RequestInit | undefined, real: typeof fetch): Promise<Response> {
    const url = input instanceof Request ? input.url : String(input);
    const text = typeof init?.body === 'string' ? init.body : input instanceof Request ? await input.clone().text() : '';
    const to = targetOf(url, this.#bot);
    const body = asJson(text);
    const seen: SeenRequest = {
      to,
      method: init?.method ?? (input instanceof Request ? input.method : 'GET'),
      url,
      body,
      idempotencyKey: new Headers(init?.headers).get('idempotency-key') ?? undefined,
      outcome: undefined,
      atMs: (this.#clock?.nowMs() ?? 0) - this.#startedMs,
    };
    this.seen.push(seen);
    try {
      const response = this.#mocks === undefined ? await real(input, init) : await this.#answer(seen, init?.signal ?? undefined);
      seen.outcome = response.status;
      return response;
    } catch (error) {
      seen.outcome ??= 'failed';
      throw error;
    }
  }

  async #answer(seen: SeenRequest, signal: AbortSignal | undefined): Promise<Response> {
    signal?.throwIfAborted();
    const key = seen.idempotencyKey ?? `request ${this.seen.length}`;
    const found = this.#mocks?.find(
      ({ mock, keys }) => isFor(mock, seen) && (keys.has(key) || keys.size < (mock.times ?? Infinity)),
    );
    if (found === undefined || this.#clock === undefined) {
      seen.outcome = 'refused';
      this.unanswered.add(`${seen.method} ${seen.to}`);
      throw new TypeError('fetch failed', { cause: new Error(`no mock answers ${seen.method} ${seen.to}`) });
    }
    const { mock, keys } = found;
    keys.add(key);
    const index = [...keys].indexOf(key);
    if (mock.delayMs > 0) await sleep(this.#clock, mock.delayMs, signal);
    if (mock.error === 'timeout') {
      seen.outcome = 'timeout';
      return await silence(signal);
    }
    if (mock.error !== undefined) {
      seen.outcome = mock.error;
      throw new TypeError('fetch failed', {
        cause: new Error(`connect ${mock.error === 'reset' ? 'ECONNRESET' : 'ECONNREFUSED'}`),
      });
    }
    return responseOf(mock, seen, index);
  }
}

/** A connection that stays open and silent. */
function silence(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

/** @param index of the request among those that this mock answers, repeats not counted */
function responseOf(mock: MockDocument, seen: SeenRequest, index: number): Response {
  const { status } = mock;
  const headers = { 'content-type': 'application/json' };
  if (mock.garbage !== undefined) return new Response(mock.garbage, { status, headers });
  const body = mock.answers?.[Math.min(index, mock.answers.length - 1)] ?? mock.answer ?? {};
  if (seen.to === 'model' && status < 300) return modelAnswer(body);
  const isEmpty = status === 204 || status === 304;
  return new Response(isEmpty ? null : JSON.stringify(body), { status, headers });
}

function isFor({ request, with: expected }: MockDocument, seen: SeenRequest): boolean {
  return isTo(request, seen) && hasValues(expected, seen.body);
}

/** Whether a request goes to what `mocks` and `requests` call it. */
export function isTo(name: string, { to, url }: SeenRequest): boolean {
  return name === '*' || name === to || name === url;
}

/** Whether a body has these values: slots of a flow, arguments of a tool, else fields by their path. */
export function hasValues(expected: Readonly<Record<string, Value>> | undefined, body: unknown): boolean {
  return Object.entries(expected ?? {}).every(([path, value]) => hasValue(value, sentValue(body, path)));
}

/** A value that a request sends, as text; undefined where it sends none. */
export function sentValue(body: unknown, path: string): string | undefined {
  const places = [fieldOf(body, 'variables'), fieldOf(body, 'arguments'), body];
  const found = places.map((place) => path.split('.').reduce<unknown>(fieldOf, place)).find((each) => each !== undefined);
  if (found === undefined || found === null) return undefined;
  return typeof found === 'string' ? found : JSON.stringify(found);
}

function fieldOf(node: unknown, name: string): unknown {
  if (typeof node !== 'object' || node === null || !Object.hasOwn(node, name)) return undefined;
  return (node as Readonly<Record<string, unknown>>)[name];
}

/** The name of what a request goes to. */
function targetOf(url: string, bot: Bot | undefined): string {
  const server = bot?.serverUrl?.replace(/\/+$/u, '');
  if (server !== undefined && url.startsWith(`${server}/`)) return url.slice(server.length);
  const dialog = bot?.dialog;
  if (dialog?.kind === 'http' && url === dialog.url) return 'bot';
  if (dialog?.kind === 'llm') {
    const tool = dialog.tools.find((each) => each.url === url);
    if (tool !== undefined) return tool.name;
    if (url.startsWith(dialog.baseUrl.replace(/\/+$/u, ''))) return 'model';
  }
  // Without its query, which may hold a key.
  return isWebAddress(url) ? `${new URL(url).origin}${new URL(url).pathname}` : url;
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The world of the rehearsed call that the running code belongs to. */
const current = new AsyncLocalStorage<MockedWorld>();

/** Runs something whose requests no mock of the scenario answers. */
export function outsideMocks<Result>(run: () => Result): Result {
  return current.exit(run);
}

/** The same answer, each step of which runs inside. */
function steppedInside(
  answer: AsyncIterable<DialogAction>,
  inside: <Result>(run: () => Result) => Result,
): AsyncIterable<DialogAction> {
  return {
    [Symbol.asyncIterator]() {
      const steps = answer[Symbol.asyncIterator]();
      return {
        next: () => inside(() => steps.next()),
        return: async (value) => inside(() => steps.return?.(value)) ?? { done: true, value },
      };
    },
  };
}

let routes = 0;
let realFetch = globalThis.fetch;

/** Leads `fetch` of rehearsed calls to their worlds, until disposed; that of all other code stays as it is. */
function routeFetch(): Disposable {
  if (routes === 0) {
    realFetch = globalThis.fetch;
    globalThis.fetch = (input, init) => {
      const world = current.getStore();
      return world === undefined ? realFetch(input, init) : world.fetch(input, init, realFetch);
    };
  }
  routes += 1;
  return {
    [Symbol.dispose]: () => {
      routes -= 1;
      if (routes === 0) globalThis.fetch = realFetch;
    },
  };
}

/** An answer of a model in a mock: its words, a tool that it calls, or several of both. */
const modelPart = z.union([
  z.string(),
  z.strictObject({ tool: z.string().min(1), arguments: z.record(z.string(), z.unknown()).default({}) }),
]);
const modelParts = z.union([modelPart.transform((each) => [each]), z.array(modelPart).min(1)]);

/** A chat completion as a stream of server-sent events, as an OpenAI-compatible address sends it. @throws ZodError for another form */
function modelAnswer(body: unknown): Response {
  const parts = modelParts.parse(body);
  const tools = parts.filter((each) => typeof each !== 'string');
  const words = parts.filter((each) => typeof each === 'string').join(' ');
  const toolCalls = tools.map(({ tool, arguments: given }, index) => ({
    index,
    id: `mock-${index}`,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(given) },
  }));
  const deltas = [
    ...(words === '' ? [] : [{ role: 'assistant', content: words }]),
    ...(toolCalls.length === 0 ? [] : [{ role: 'assistant', tool_calls: toolCalls }]),
  ];
  const events = [
    ...deltas.map((delta) => chunk(delta, null)),
    chunk({}, toolCalls.length === 0 ? 'stop' : 'tool_calls'),
    '[DONE]',
  ];
  const text = events.map((event) => `data: ${event}\n\n`).join('');
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
}

function chunk(delta: object, finishReason: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return JSON.stringify({ id: 'mock', object: 'chat.completion.chunk', created: 0, model: 'mock', choices });
}

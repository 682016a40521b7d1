import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { Secret } from '../../../src/config/secrets.ts';
import { llmHooks, type LlmHookSettings } from '../../../src/dialog/llm/llm-hook.ts';
import type { DialogHook } from '../../../src/dialog/port.ts';
import { DialogServerError, DialogTimeoutError } from '../../../src/dialog/wire/errors.ts';
import { SentenceCutter } from '../../../src/speech/tts/sentences.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { actionsOf, BotServer, CALL, spoken, textOf, turnOf } from './bot-server.ts';

interface Request {
  readonly model: string;
  readonly messages: { role: string; content: string | null; tool_call_id?: string }[];
  readonly tools: { function: { name: string } }[];
}

function hookAt(url: string, settings: Partial<LlmHookSettings> = {}): DialogHook {
  const base = {
    baseUrl: `${url}/v1`,
    model: 'small',
    secret: new Secret('key-1'),
    instructions: 'Book appointments.',
    maxTokens: 100,
    timeoutMs: 5_000,
    tools: [],
    transfers: {},
  };
  return llmHooks({ ...base, ...settings }, systemClock).create(CALL);
}

/** Streams deltas the way an OpenAI-compatible server does. */
function stream(response: ServerResponse, deltas: readonly object[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const delta of deltas) {
    const chunk = {
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'small',
      choices: [{ index: 0, delta, finish_reason: null }],
    };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }
  response.end('data: [DONE]\n\n');
}

const words = (...parts: string[]): object[] => parts.map((content) => ({ content }));
const toolCall = (name: string, args: string): object => ({
  tool_calls: [{ index: 0, id: 'call_a', type: 'function', function: { name, arguments: args } }],
});

it('speaks what the model streams, and tells it the history as it was heard', async () => {
  await using server = new BotServer((response) => stream(response, words('We are ', 'open ', 'until six.')));
  const hook = hookAt(await server.listen());
  const history = [
    { role: 'bot', text: 'Hello, how can—' },
    { role: 'caller', text: 'wait' },
  ] as const;
  const actions = await actionsOf(hook, turnOf(spoken('when are you open'), 2, history));
  expect(textOf(actions)).toBe('We are open until six.');
  expect(actions.every((action) => action.type === 'say' && action.more === true)).toBe(true);
  const asked = JSON.parse(server.asked[0]!.body) as Request;
  expect(server.asked[0]!.headers.authorization).toBe('Bearer key-1');
  expect(asked.messages.map(({ role }) => role)).toEqual(['system', 'assistant', 'user', 'user']);
  expect(asked.messages[1]?.content).toBe('Hello, how can—');
  expect(asked.messages.at(-1)?.content).toBe('when are you open');
  expect(asked.tools.map((tool) => tool.function.name)).toContain('hang_up');
});

it('greets with the text it was given without asking the model', async () => {
  await using server = new BotServer((response) => stream(response, []));
  const hook = hookAt(await server.listen(), { greeting: 'Hello, Lakeside Clinic.' });
  expect(await actionsOf(hook, turnOf({ kind: 'start' }, 0))).toEqual([{ type: 'say', text: 'Hello, Lakeside Clinic.' }]);
  expect(server.asked).toEqual([]);
});

it('presses keys for the model, and only keys', async () => {
  await using server = new BotServer((response, _, number) => {
    stream(response, number === 0 ? [toolCall('press_keys', '{"keys":"1w2"}')] : words('Done.'));
  });
  const hook = hookAt(await server.listen());
  expect((await actionsOf(hook, turnOf(spoken('press one'))))[0]).toEqual({ type: 'digits', digits: '1w2' });
});

it('hangs up, notes and remembers as the model asks', async () => {
  await using server = new BotServer((response, _, number) => {
    if (number === 0) stream(response, [...words('Goodbye.'), toolCall('hang_up', '{"reason":"done"}')]);
    else
      stream(response, [
        toolCall('remember', '{"na'),
        { tool_calls: [{ index: 0, function: { arguments: 'me":"day","value":"tuesday"}' } }] },
      ]);
  });
  const hook = hookAt(await server.listen());
  expect(await actionsOf(hook, turnOf(spoken('bye')))).toEqual([
    { type: 'say', text: 'Goodbye.', more: true },
    { type: 'say', text: '' },
    { type: 'hangup', reason: 'done' },
  ]);
  expect(server.asked).toHaveLength(1);
  expect((await actionsOf(hook, turnOf(spoken('tuesday'), 2)))[0]).toEqual({ type: 'set', variables: { day: 'tuesday' } });
});

it('calls a bot’s own tool, and remembers for later turns what it answered', async () => {
  await using server = new BotServer((response, { path }, number) => {
    if (path === '/slots') response.writeHead(200).end('tuesday 10:30');
    else if (number === 0) stream(response, [toolCall('free_slots', '{"day":"tuesday"}')]);
    else stream(response, words('Half past ten is free.'));
  });
  const url = await server.listen();
  const tools = [{ name: 'free_slots', description: 'Free times', parameters: { type: 'object' }, url: `${url}/slots` }];
  const hook = hookAt(url, { tools });
  expect(textOf(await actionsOf(hook, turnOf(spoken('tuesday'))))).toBe('Half past ten is free.');
  expect(server.asked.map(({ path }) => path)).toEqual(['/v1/chat/completions', '/slots', '/v1/chat/completions']);
  expect(JSON.parse(server.asked[1]!.body)).toMatchObject({ call: { callId: 'call_1' }, arguments: { day: 'tuesday' } });
  const second = JSON.parse(server.asked[2]!.body) as Request;
  expect(second.messages.at(-1)).toMatchObject({ role: 'tool', content: 'tuesday 10:30', tool_call_id: 'call_a' });
  await actionsOf(hook, turnOf(spoken('yes'), 2));
  expect((JSON.parse(server.asked[3]!.body) as Request).messages[0]?.content).toContain('tuesday 10:30');
});

it('speaks what the model says ahead of a tool before the tool answers, and apart from what it says then', async () => {
  let answerTool: () => void = () => undefined;
  const spokenSoFar = new Promise<void>((resolve) => (answerTool = resolve));
  await using server = new BotServer(async (response, { path }, number) => {
    if (path === '/order') {
      await spokenSoFar;
      response.writeHead(200).end('shipped');
    } else if (number === 0) stream(response, [...words('Let me check', ' that for you.'), toolCall('order', '{}')]);
    else stream(response, words('Your order', ' has shipped.'));
  });
  const url = await server.listen();
  const tools = [{ name: 'order', description: 'The order', parameters: { type: 'object' }, url: `${url}/order` }];
  const cutter = new SentenceCutter();
  const sentences: string[] = [];
  for await (const action of hookAt(url, { tools }).respond(turnOf(spoken('my order')), AbortSignal.timeout(4_000))) {
    if (action.type !== 'say') continue;
    sentences.push(...cutter.push(action.text), ...(action.more === true ? [] : cutter.flush()));
    if (sentences.length > 0) answerTool();
  }
  expect([...sentences, ...cutter.flush()]).toEqual(['Let me check that for you.', 'Your order has shipped.']);
});

it('gives each call of a tool a key of its own, and the same one in another attempt at the turn', async () => {
  const bookings = ['{"day":"tuesday"}', '{"day":"friday"}'];
  await using server = new BotServer((response, { path, body }) => {
    if (path === '/book') return void response.writeHead(200).end('booked');
    const booked = (JSON.parse(body) as Request).messages.filter(({ role }) => role === 'tool').length;
    const args = bookings[booked];
    stream(response, args === undefined ? words('Both are booked.') : [toolCall('book', args)]);
  });
  const url = await server.listen();
  const tools = [{ name: 'book', description: 'Books', parameters: { type: 'object' }, url: `${url}/book` }];
  for (let attempt = 0; attempt < 2; attempt += 1) await actionsOf(hookAt(url, { tools }), turnOf(spoken('both')));
  const keys = server.asked.filter(({ path }) => path === '/book').map(({ headers }) => headers['idempotency-key']);
  expect(keys).toEqual([keys[0], keys[1], keys[0], keys[1]]);
  expect(keys[0]).not.toBe(keys[1]);
});

it('tells the model when a tool or its arguments cannot be used, and stops asking in the end', async () => {
  await using server = new BotServer((response) => stream(response, [toolCall('no_such_tool', 'not json')]));
  expect(await actionsOf(hookAt(await server.listen()), turnOf(spoken('x')))).toEqual([]);
  expect(server.asked).toHaveLength(5);
  expect((JSON.parse(server.asked[1]!.body) as Request).messages.at(-1)?.content).toMatch(/^error/u);
});

it('fails with a typed error when the model refuses, is silent, or cannot be reached', async () => {
  await using server = new BotServer(
    (response) =>
      void response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"what the caller said"}}'),
  );
  const refused = actionsOf(hookAt(await server.listen()), turnOf(spoken('x')));
  await expect(refused).rejects.toThrow(DialogServerError);
  await expect(refused).rejects.toThrow('HTTP 401');
  await expect(refused).rejects.not.toThrow('caller said');
  await using silent = new BotServer(() => undefined);
  await expect(actionsOf(hookAt(await silent.listen(), { timeoutMs: 60 }), turnOf(spoken('x')))).rejects.toThrow(
    DialogTimeoutError,
  );
});

it('lets the model’s connection go when the caller talks over it', async () => {
  let closed = (): void => undefined;
  const gone = new Promise<void>((resolve) => (closed = resolve));
  await using server = new BotServer((response) => {
    response.on('close', closed);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Well, ' } }] })}\n\n`);
  });
  const bargeIn = new AbortController();
  const hook = hookAt(await server.listen());
  const listening = (async () => {
    for await (const _ of hook.respond(turnOf(spoken('x')), bargeIn.signal)) bargeIn.abort(new Error('barge-in'));
  })();
  await expect(listening).rejects.toThrow();
  await gone;
});

import { mkdtempSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Secret } from '../../../src/config/secrets.ts';
import { compiledTwin } from '../../../src/kernel/entry-file.ts';
import { loadCodeTools } from '../../../src/dialog/llm/tools.ts';
import { llmHooks, type LlmHookSettings } from '../../../src/dialog/llm/llm-hook.ts';
import type { DialogHook, DialogHookFactory } from '../../../src/dialog/port.ts';
import { DialogServerError, DialogTimeoutError } from '../../../src/dialog/wire.ts';
import { SentenceCutter } from '../../../src/speech/tts/sentences.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { actionsOf, BotServer, CALL, contextOf, tracing, spoken, textOf, turnOf } from './bot-server.ts';
import { hangs } from '../../support/patience.ts';
import { untilPasses } from '../../support/eventually.ts';

interface Request {
  readonly model: string;
  readonly messages: { role: string; content: string | null; tool_call_id?: string }[];
  readonly tools: { function: { name: string } }[];
}

function hooksAt(url: string, settings: Partial<LlmHookSettings> = {}): DialogHookFactory {
  const base = {
    baseUrl: `${url}/v1`,
    model: 'small',
    secret: new Secret('key-1'),
    instructions: 'Book appointments.',
    maxTokens: 100,
    timeoutMs: 5_000,
    turnTimeoutMs: 20_000,
    tools: [],
    transfers: {},
  };
  return llmHooks({ ...base, ...settings }, systemClock);
}

function hookAt(url: string, settings?: Partial<LlmHookSettings>, saved?: unknown): DialogHook {
  return hooksAt(url, settings).create(CALL, saved);
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

it('calls no tool twice for a turn whose process died, and tells the model that the outcome is unknown', async () => {
  await using booking = new BotServer((response, _asked, number) => void (number > 0 && response.end('booked')));
  const book = await booking.listen();
  await using server = new BotServer((response) =>
    stream(
      response,
      [3, 5].includes(server.asked.length) ? words('Did you get a message from us?') : [toolCall('book', '{"day":"friday"}')],
    ),
  );
  const tools = [{ name: 'book', description: 'Books a day', parameters: { type: 'object' }, url: book }];
  const baseUrl = await server.listen();
  const turn = turnOf(spoken('friday please'), 2);
  const first = hookAt(baseUrl, { tools });
  const process = new AbortController();
  const notes: string[] = [];
  const died = (async () => {
    for await (const action of first.respond(turn, process.signal)) if (action.type === 'note') notes.push(action.text);
  })().catch(() => undefined);
  await untilPasses(() => expect(booking.asked).toHaveLength(1));
  const saved: unknown = JSON.parse(JSON.stringify(first.saved?.()));
  process.abort();
  await died;
  expect(notes).toEqual(['tool book']);

  const second = hookAt(baseUrl, { tools }, saved);
  const actions = await actionsOf(second, { ...turn, resumed: { gapMs: 900, outcome: 'unknown' } });
  expect(textOf(actions)).toBe('Did you get a message from us?');
  expect(booking.asked).toHaveLength(1);
  const asked = JSON.parse(server.asked[2]!.body) as Request;
  expect(
    asked.messages.find(({ role, content }) => role === 'system' && content?.includes('lost when a computer failed')),
  ).toBeDefined();
  expect(asked.messages.at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining('unknown') as string });
  // In the next turn the caller may ask for the same again.
  await actionsOf(second, turnOf(spoken('yes, friday'), 3));
  expect(booking.asked).toHaveLength(2);
});

it('calls no tool twice for a turn that is asked once more because its answer broke off', async () => {
  await using booking = new BotServer((response) => void response.end('booked'));
  const book = await booking.listen();
  await using server = new BotServer((response) => {
    const { length } = server.asked;
    if (length === 2 || length === 3) response.writeHead(500).end();
    else stream(response, length === 5 ? words('You are booked.') : [toolCall('book', '{"day":"friday"}')]);
  });
  const tools = [{ name: 'book', description: 'Books a day', parameters: { type: 'object' }, url: book }];
  const hook = hookAt(await server.listen(), { tools });
  const turn = turnOf(spoken('friday please'), 2);
  await expect(actionsOf(hook, turn)).rejects.toThrow('HTTP 500');
  expect(textOf(await actionsOf(hook, { ...turn, again: true }))).toBe('You are booked.');
  expect(booking.asked).toHaveLength(1);
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

it('tells the model whom we called, and what the call was placed with', async () => {
  await using server = new BotServer((response) => stream(response, words('Hello Asha.')));
  const hook = hookAt(await server.listen());
  const call = { ...CALL, direction: 'outbound', from: '+15550199', to: '+919876543210' } as const;
  await actionsOf(hook, { ...turnOf({ kind: 'start' }, 0), call, variables: { name: 'Asha', note: 'a "quote"' } });
  const { messages } = JSON.parse(server.asked[0]!.body) as Request;
  expect(messages[0]?.content).toContain('You called this person. Their number is +919876543210.');
  expect(messages[0]?.content).toContain(JSON.stringify({ name: 'Asha', note: 'a "quote"' }));
  expect(messages[0]?.content).not.toContain('+15550199');
  expect(messages.at(-1)?.content).toContain('The person you called has just answered');
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

it('asks for a call at another time for the model, which is told when the person wants one', async () => {
  await using server = new BotServer((response, _, number) => {
    stream(response, number === 0 ? [toolCall('call_back', '{"at":"2026-03-05T17:00"}')] : words('Until then.'));
  });
  const hook = hookAt(await server.listen());
  const callBack = { atMs: Date.UTC(2026, 2, 5, 11, 30), said: 'on Thursday at five' };
  const actions = await actionsOf(
    hook,
    turnOf({ kind: 'spoken', text: 'call me on thursday at five', language: 'en', callBack }),
  );
  expect(actions[0]).toEqual({ type: 'call-back', at: '2026-03-05T17:00' });
  expect(JSON.stringify(server.asked[0])).toContain('They ask to be called on Thursday at five: 2026-03-05T11:30:00.000Z.');
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
  for await (const action of hookAt(url, { tools }).respond(turnOf(spoken('my order')), hangs())) {
    if (action.type !== 'say') continue;
    sentences.push(...cutter.push(action.text), ...(action.more === true ? [] : cutter.flush()));
    if (sentences.length > 0) answerTool();
  }
  expect([...sentences, ...cutter.flush()]).toEqual(['Let me check that for you.', 'Your order has shipped.']);
});

it('gives each call of a tool a key of its own, the same one in another attempt at the turn, and sends trace context', async () => {
  using _tracing = tracing();
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
  expect(server.asked.map(({ headers }) => headers['traceparent'])).toEqual(server.asked.map(() => contextOf(1)));
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
      void response
        .writeHead(401, { 'content-type': 'application/json' })
        .end('{"error":{"message":"No key key-1 for what the caller said from +15550100"}}'),
  );
  const refused = actionsOf(hookAt(await server.listen()), turnOf(spoken('what the caller said')));
  await expect(refused).rejects.toThrow(DialogServerError);
  await expect(refused).rejects.toThrow('HTTP 401: No key [key] for […] from […]');
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

/** @returns stops it */
function every(ms: number, run: () => void): () => void {
  const beat = setInterval(run, ms);
  return () => clearInterval(beat);
}

/** OpenAI's refusals of a field, word for word in shape. */
const unsupported = (param: string, message: string, code = 'unsupported_parameter'): string =>
  JSON.stringify({ error: { message, type: 'invalid_request_error', param, code } });

function refuse(response: ServerResponse, body: string, status = 400): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}

it.each(['gpt-5-mini', 'o4-mini', 'openai/gpt-5.1'])(
  'asks %s at once with the name of the limit that it takes',
  async (model) => {
    await using server = new BotServer((response) => stream(response, words('Hello.')));
    const hook = hookAt(await server.listen(), { model, reasoningEffort: 'minimal' });
    expect(textOf(await actionsOf(hook, turnOf(spoken('hi'))))).toBe('Hello.');
    const asked = JSON.parse(server.asked[0]?.body ?? '') as object;
    expect(asked).toMatchObject({ model, max_completion_tokens: 100, reasoning_effort: 'minimal' });
    expect(asked).not.toHaveProperty('max_tokens');
  },
);

it('leaves out what a model refuses, in every later call as well', async () => {
  await using server = new BotServer((response, { body }) => {
    const asked = JSON.parse(body) as Record<string, unknown>;
    if ('max_tokens' in asked) {
      const said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
      refuse(response, unsupported('max_tokens', said));
    } else if ('temperature' in asked) {
      const said =
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.";
      refuse(response, unsupported('temperature', said, 'unsupported_value'));
    } else stream(response, words('Hello.'));
  });
  const hooks = hooksAt(await server.listen(), { temperature: 0.2 });
  const both = await Promise.all([1, 2].map(() => actionsOf(hooks.create(CALL), turnOf(spoken('hi')))));
  expect(both.map(textOf)).toEqual(['Hello.', 'Hello.']);
  const before = server.asked.length;
  expect(textOf(await actionsOf(hooks.create(CALL), turnOf(spoken('hi'))))).toBe('Hello.');
  expect(server.asked).toHaveLength(before + 1);
});

it('takes the old name for a server that knows no other', async () => {
  await using server = new BotServer((response, { body }) =>
    body.includes('max_completion_tokens')
      ? refuse(response, '{"error":{"message":"Unrecognized request argument supplied: max_completion_tokens"}}')
      : stream(response, words('Hello.')),
  );
  expect(textOf(await actionsOf(hookAt(await server.listen(), { model: 'o3-like' }), turnOf(spoken('hi'))))).toBe('Hello.');
});

it('says what the provider said, and that thoughts used up the tokens', async () => {
  await using server = new BotServer((response, _, number) => {
    if (number === 0) refuse(response, '{"error":{"message":"You exceeded your current quota"}}', 429);
    else {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}\n\ndata: [DONE]\n\n');
    }
  });
  const hook = hookAt(await server.listen());
  await expect(actionsOf(hook, turnOf(spoken('hi')))).rejects.toThrow(
    'the model answered with HTTP 429: You exceeded your current quota',
  );
  await expect(actionsOf(hook, turnOf(spoken('hi')))).rejects.toThrow('used up its 100 tokens before it said anything');
});

it.each([
  { note: 'arguments', delta: toolCall('book', 'x'.repeat(2_000)) },
  { note: 'names', delta: { tool_calls: [{ index: 0, function: { name: 'x'.repeat(2_000) } }] } },
  { note: 'words', delta: { content: 'word '.repeat(400) } },
  { note: 'a line that never ends', delta: undefined },
])('gives up a model whose answer has no end: $note', async ({ delta }) => {
  let closed = (): void => undefined;
  const gone = new Promise<void>((resolve) => (closed = resolve));
  await using server = new BotServer((response) => {
    response.on('close', closed);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = delta === undefined ? 'x'.repeat(65_536) : `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
    const more = (): void => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', more);
    more();
  });
  const failure = actionsOf(hookAt(await server.listen()), turnOf(spoken('hi')));
  await expect(failure).rejects.toThrow(/answer is longer than \d+ (?:characters|bytes)/u);
  await gone;
});

it('waits no longer for a model that sends chunks without words', async () => {
  await using server = new BotServer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = JSON.stringify({ choices: [{ index: 0, delta: { role: 'assistant', content: '', reasoning: 'hm' } }] });
    const beat = every(20, () => response.write(`: alive\n\ndata: ${chunk}\n\n`));
    response.on('close', beat);
  });
  const hook = hookAt(await server.listen(), { timeoutMs: 150 });
  await expect(actionsOf(hook, turnOf(spoken('hi')))).rejects.toThrow('the model said nothing for 150 ms');
});

it('adds up the waits of a turn, tools among them', async () => {
  await using server = new BotServer((response, { path }, number) => {
    if (path !== '/slow') stream(response, [toolCall('slow', JSON.stringify({ number }))]);
  });
  const url = await server.listen();
  const tools = [{ name: 'slow', description: 'Slow', parameters: { type: 'object' }, url: `${url}/slow` }];
  const hook = hookAt(url, { tools, timeoutMs: 1_000, turnTimeoutMs: 2_500 });
  await expect(actionsOf(hook, turnOf(spoken('hi')))).rejects.toThrow('the model took 2500 ms for one turn, all waits together');
  const second = JSON.parse(server.asked[2]?.body ?? '') as Request;
  expect(second.messages.at(-1)?.content).toBe('error: the tool said nothing for 1000 ms');
});

const source = new URL('../../../src/dialog/index.ts', import.meta.url).pathname;
/** What a file of tools imports: as a package has it, where it is built; compiling its sources takes seconds. */
const face = compiledTwin(new URL('../../..', import.meta.url).pathname, source) ?? source;

it('runs tools that are functions, and tells the model what they return, refuse or throw', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-tools-'));
  const path = join(folder, 'tools.ts');
  writeFileSync(
    path,
    `import { defineTool, z } from '${face}';
     export const slots = defineTool({
       name: 'free_slots',
       description: 'The free times of a day',
       parameters: z.object({ day: z.enum(['Monday', 'Sunday']) }),
       run: ({ day }, { call }: { call: { from: string } }) => {
         if (day === 'Sunday') throw new Error('closed on Sundays');
         return { for: call.from, times: ['10:30'] };
       },
     });`,
  );
  const wishes = ['{"day":"Monday"}', '{"day":"Sunday"}', '{"day":"soon"}'];
  await using server = new BotServer((response) => {
    const wish = wishes.shift();
    stream(response, wish === undefined ? words('Done.') : [toolCall('free_slots', wish)]);
  });
  const hook = hookAt(await server.listen(), { codeTools: await loadCodeTools(path) });
  await actionsOf(hook, turnOf(spoken('when are you free')));
  const { messages, tools } = JSON.parse(server.asked.at(-1)!.body) as Request;
  expect(tools.map((tool) => tool.function)).toContainEqual(
    expect.objectContaining({ name: 'free_slots', parameters: expect.objectContaining({ required: ['day'] }) }),
  );
  expect(messages.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual([
    JSON.stringify({ for: CALL.from, times: ['10:30'] }),
    'error: closed on Sundays',
    expect.stringMatching(/^error: .*expected one of "Monday"\|"Sunday"/u),
  ]);
});

it('refuses a file without tools, and a tool with the name of a built-in one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-tools-'));
  writeFileSync(join(folder, 'none.ts'), 'export const slots = 5;');
  writeFileSync(
    join(folder, 'taken.ts'),
    `import { defineTool, z } from '${face}';
     export const tool = defineTool({ name: 'hang_up', description: '-', parameters: z.object({}), run: () => '' });`,
  );
  await expect(loadCodeTools(join(folder, 'none.ts'))).rejects.toThrow('exports no tool');
  await expect(loadCodeTools(join(folder, 'taken.ts'))).rejects.toThrow('"hang_up", which is the name of another tool');
});

it('reports what an answer took, without counting a token twice, and asks servers that refuse to count without it', async () => {
  const usage = { prompt_tokens: 90, completion_tokens: 12, total_tokens: 102, prompt_tokens_details: { cached_tokens: 64 } };
  const asked: unknown[] = [];
  await using server = new BotServer((response, { body }) => {
    const { stream_options: options } = JSON.parse(body) as { stream_options?: unknown };
    asked.push(options);
    if (asked.length === 1) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'Unknown parameter: stream_options', param: 'stream_options' } }));
    } else if (asked.length === 2) stream(response, words('Yes.'));
    else {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const base = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'small' };
      response.write(`data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta: { content: 'Yes.' } }] })}\n\n`);
      response.end(`data: ${JSON.stringify({ ...base, choices: [], usage })}\n\ndata: [DONE]\n\n`);
    }
  });
  const url = await server.listen();
  const usageOf = async (hook: DialogHook): Promise<unknown[]> => {
    const used: unknown[] = [];
    for await (const action of hook.respond(turnOf(spoken('hello')), new AbortController().signal))
      if (action.type === 'usage') used.push(action.units);
    return used;
  };
  expect(await usageOf(hookAt(url))).toEqual([{ requests: 1 }]);
  expect(await usageOf(hookAt(url))).toEqual([
    { requests: 1 },
    { 'input-text-tokens': 26, 'cached-tokens': 64, 'input-audio-tokens': 0, 'output-text-tokens': 12, 'output-audio-tokens': 0 },
  ]);
  expect(asked).toEqual([{ include_usage: true }, undefined, { include_usage: true }]);
});

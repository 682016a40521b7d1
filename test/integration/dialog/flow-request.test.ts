import { Webhook } from 'standardwebhooks';
import { expect, it, test } from 'vitest';
import { botSettings } from '../../../src/config/bots.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { loadBotDialog } from '../../../src/dialog/bot-dialog.ts';
import { flowHooks } from '../../../src/dialog/flow/hook.ts';
import { parseFlow } from '../../../src/dialog/flow/load.ts';
import type { DialogAction, DialogHook, DialogTurn } from '../../../src/dialog/port.ts';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { actionsOf, contextOf, tracing, BotServer, CALL, spoken, textOf, turnOf } from './bot-server.ts';

const SECRET = `whsec_${Buffer.from('a secret of the clinic server').toString('base64')}`;

function hookAt(url: string, request: object = {}, clock: Clock = systemClock, saved?: unknown): DialogHook {
  const flow = parseFlow(
    {
      start: 'hello',
      slots: {
        day: { kind: 'day' },
        booking: { kind: 'digits' },
        doctor: { kind: 'text' },
        first: { kind: 'yes-no' },
        want: { kind: 'choice', options: { text: { phrases: ['text'] } } },
      },
      commands: { operator: { go: 'person' } },
      states: {
        hello: { ask: { slot: 'day', prompt: 'Which day?' }, next: 'book' },
        book: {
          say: 'I am booking.',
          request: {
            path: '/bookings',
            answer: { booking: 'id', doctor: 'doctor.name', first: 'isFirst' },
            failed: {
              409: 'taken',
              timeout: 'slow',
              unreachable: 'away',
              unknown: 'lost',
              answer: 'strange',
              otherwise: 'broken',
            },
            ...request,
          },
          next: 'ask',
        },
        ask: { say: 'Number {{ booking }} with {{ doctor }}.', ask: { slot: 'want', prompt: 'A text?' }, next: 'bye' },
        bye: { say: 'Goodbye.', hangup: 'done' },
        person: { say: 'A person.', hangup: 'person' },
        taken: { say: 'Taken.', hangup: 'taken' },
        slow: { say: 'Slow.', hangup: 'slow' },
        away: { say: 'Away.', hangup: 'away' },
        strange: { say: 'Strange.', hangup: 'strange' },
        broken: { say: 'Broken.', hangup: 'broken' },
        lost: { say: 'Lost.', hangup: 'lost' },
      },
    },
    { language: 'en', hasServer: true },
  );
  return flowHooks(flow, clock, { url: `${url}/v1/`, secret: new Secret(SECRET) }).create(CALL, saved);
}

const ANSWER = '{"id":70815,"doctor":{"name":" Dr Rao "},"isFirst":true}';
const notesIn = (actions: readonly DialogAction[]) => actions.flatMap((action) => (action.type === 'note' ? [action.text] : []));
const start: DialogTurn = turnOf({ kind: 'start' }, 0);
const booking = turnOf(spoken('on the fifth of March'), 1);

it('sends a signed request under a noted key, tries again under the same one, and goes on with the answer', async () => {
  using _tracing = tracing();
  await using server = new BotServer((response, _asked, number) => {
    if (number === 0) response.writeHead(503).end();
    else response.writeHead(201, { 'content-type': 'application/json' }).end(ANSWER);
  });
  const hook = hookAt(await server.listen());
  await actionsOf(hook, start);
  const actions = await actionsOf(hook, booking);
  expect(textOf(actions)).toBe('I am booking.Number seven zero eight one five with Dr Rao.A text?');
  expect(actions).toContainEqual({ type: 'set', variables: { booking: '70815', doctor: 'Dr Rao', first: 'yes' } });
  const [first, second] = server.asked;
  expect([first?.path, server.asked.length]).toEqual(['/v1/bookings', 2]);
  const key = first?.headers['idempotency-key'];
  expect(key).toMatch(/^call_1\.1\.book\.[0-9a-f]{16}$/);
  expect(second?.headers['idempotency-key']).toBe(key);
  expect([first?.headers['traceparent'], second?.headers['traceparent']]).toEqual([contextOf(1), contextOf(1)]);
  expect(notesIn(actions)).toEqual([`request book: idempotency-key ${String(key)}`]);
  expect(new Webhook(SECRET).verify(second?.body ?? '', second?.headers as Record<string, string>)).toMatchObject({
    version: 1,
    call: CALL,
    request: 'book',
    variables: { day: expect.stringMatching(/-03-05$/) },
  });
});

test.each<[string, number, string, string, RegExp]>([
  ['a status with a way of its own', 409, '', 'Taken.', /failed: HTTP 409 \(tries: 1\)$/],
  ['a redirect, which is not followed', 302, '', 'Broken.', /failed: HTTP 302/],
  ['an answer that is no JSON', 200, 'thanks', 'Strange.', /not readable as JSON/],
  ['a field that is missing', 200, '{"id":1,"doctor":{}}', 'Strange.', /has no field doctor\.name/],
  ['a field of another kind', 200, '{"id":"x7","doctor":{"name":"R"},"isFirst":true}', 'Strange.', /field id that is no digits/],
  ['an answer that is too long', 200, `"${'x'.repeat(70_000)}"`, 'Strange.', /more than 65536 bytes/],
])('goes where the flow says for %s', async (_note, status, body, said, why) => {
  await using server = new BotServer((response) => void response.writeHead(status, { location: '/elsewhere' }).end(body));
  const hook = hookAt(await server.listen());
  await actionsOf(hook, start);
  const actions = await actionsOf(hook, booking);
  expect(textOf(actions)).toBe(`I am booking.${said}`);
  expect(notesIn(actions)[1]).toMatch(why);
  expect(server.asked).toHaveLength(1);
});

it('goes where the flow says when nobody answers in time, or at all', async () => {
  await using silent = new BotServer(() => undefined);
  const slow = hookAt(await silent.listen(), { timeoutMs: 200 });
  await actionsOf(slow, start);
  const late = await actionsOf(slow, booking);
  expect([textOf(late), silent.asked.length]).toEqual(['I am booking.Slow.', 2]);
  expect(notesIn(late)[1]).toBe('request book failed: no answer within 200 ms (tries: 2)');
  const closed = new BotServer(() => undefined);
  const gone = hookAt(await closed.listen());
  await closed[Symbol.asyncDispose]();
  await actionsOf(gone, start);
  const away = await actionsOf(gone, booking);
  expect(textOf(away)).toBe('I am booking.Away.');
  expect(notesIn(away)[1]).toMatch(/failed: cannot be reached: .*ECONNREFUSED.* \(tries: 2\)$/);
});

/** A server that answers when it is told to. */
function heldServer() {
  const held: (() => void)[] = [];
  const server = new BotServer((response) => void held.push(() => response.writeHead(200).end(ANSWER)));
  return { server, answer: () => held.forEach((send) => send()) };
}

/** Asks a turn, and gives its answer up once the server has the request. */
async function interrupted(hook: DialogHook, turn: DialogTurn, server: BotServer): Promise<void> {
  const abort = new AbortController();
  for await (const action of hook.respond(turn, abort.signal)) {
    if (action.type === 'note') void asked(server).then(() => abort.abort(new Error('the caller speaks')));
  }
}

async function asked(server: BotServer): Promise<void> {
  while (server.asked.length === 0) await new Promise(setImmediate);
}

test.each([
  ['the turn is asked again with more words', { ...booking, input: spoken('on the fifth of March please') }],
  ['their words are the next turn', turnOf(spoken('I am waiting'), 2)],
])('books once for a caller who speaks into the wait: %s', async (_note, turn) => {
  const { server, answer } = heldServer();
  await using closing = server;
  const hook = hookAt(await closing.listen());
  await actionsOf(hook, start);
  await interrupted(hook, booking, server);
  const actions = actionsOf(hook, turn);
  answer();
  expect(textOf(await actions)).toMatch(/Number seven zero eight one five with Dr Rao.A text\?$/);
  expect([server.asked.length, notesIn(await actions)]).toEqual([1, []]);
});

it('sends another request under another key where the caller goes on to say something else', async () => {
  const { server, answer } = heldServer();
  await using closing = server;
  const hook = hookAt(await closing.listen());
  await actionsOf(hook, start);
  await interrupted(hook, booking, server);
  const actions = actionsOf(hook, { ...booking, input: spoken('on the sixth of March') });
  while (server.asked.length < 2) await new Promise(setImmediate);
  answer();
  expect(textOf(await actions)).toContain('Number seven');
  const keys = server.asked.map(({ headers }) => headers['idempotency-key']);
  expect(new Set(keys).size).toBe(2);
});

it('lets a caller who asks for a person in the wait go there, and keeps what the request brought', async () => {
  const { server, answer } = heldServer();
  await using closing = server;
  const hook = hookAt(await closing.listen());
  await actionsOf(hook, start);
  await interrupted(hook, booking, server);
  const next = actionsOf(hook, turnOf(spoken('speak to a person'), 2));
  answer();
  expect(textOf(await next)).toBe('A person.');
  expect((await next)[0]).toMatchObject({ type: 'set', variables: { booking: '70815' } });
});

it('speaks to a caller whose server takes long, every five seconds', async () => {
  const { server, answer } = heldServer();
  await using closing = server;
  const clock = new ManualClock();
  const hook = hookAt(await closing.listen(), { timeoutMs: 30_000, waiting: 'Still at it.' }, clock);
  await actionsOf(hook, start);
  const actions: DialogAction[] = [];
  const done = (async () => {
    for await (const action of hook.respond(booking, new AbortController().signal)) actions.push(action);
  })();
  await asked(server);
  for (const said of [1, 2]) {
    clock.advance(5_000);
    while (actions.filter((action) => action.type === 'say').length < 1 + said) await new Promise(setImmediate);
  }
  answer();
  await done;
  expect(textOf(actions)).toMatch(/^I am booking.Still at it.Still at it.Number seven/);
});

it('is refused for a bot that is asked early', async () => {
  const flow = {
    start: 'book',
    states: { book: { request: { failed: 'bye' }, next: 'bye' }, bye: { say: 'Bye.', hangup: 'x' } },
  };
  const dialog = { kind: 'flow', flow, server: { url: 'https://a.test' } };
  const bot = {
    ...botSettings.parse({ name: 'b', voice: 'v', dialog, askEarly: true }),
    folder: '/',
    serverUrl: 'https://a.test',
  };
  await expect(loadBotDialog(bot, systemClock)).rejects.toThrow(/askEarly.*a flow with requests cannot be asked early/);
  await expect(loadBotDialog({ ...bot, askEarly: false }, systemClock)).resolves.toBeDefined();
});

it('sends no request again in another process, and goes on with its outcome, or as one whose outcome nobody knows', async () => {
  await using server = new BotServer((response, _asked, number) => {
    if (number === 0) response.writeHead(201, { 'content-type': 'application/json' }).end(ANSWER);
  });
  const url = await server.listen();
  const answered = hookAt(url);
  await actionsOf(answered, start);
  await actionsOf(answered, booking);
  const resumed: DialogTurn = { ...booking, resumed: { gapMs: 900, outcome: 'unknown' } };
  const asJson = (hook: DialogHook): unknown => JSON.parse(JSON.stringify(hook.saved?.()));
  expect(textOf(await actionsOf(hookAt(url, {}, systemClock, asJson(answered)), resumed))).toContain('Number seven zero eight');

  const waiting = hookAt(url);
  await actionsOf(waiting, start);
  const abort = new AbortController();
  const answer = waiting.respond(booking, abort.signal)[Symbol.asyncIterator]();
  for (let next = await answer.next(); next.done !== true && next.value.type !== 'note'; next = await answer.next());
  // The note is out and the request is not: whoever goes on from here cannot know.
  const actions = await actionsOf(hookAt(url, {}, systemClock, asJson(waiting)), resumed);
  abort.abort();
  expect(textOf(actions)).toContain('Lost.');
  expect(notesIn(actions)).toContain('request book failed: outcome unknown: the process that sent it died');
  expect(server.asked).toHaveLength(1);
});

it('begins anew, with the values that it has, where it was saved by a flow of other states', async () => {
  const saved = [
    {
      index: 0,
      state: {
        language: 'en',
        stage: 'question',
        at: 'gone',
        slots: {},
        misses: 0,
        noInputs: 0,
        corrections: 0,
        said: [],
        ending: [],
      },
    },
  ];
  expect(textOf(await actionsOf(hookAt('http://127.0.0.1:1', {}, systemClock, saved), booking))).toBe('Which day?');
});

it('speaks a price of 26.5 as money, and keeps it with two places', async () => {
  await using server = new BotServer((response) => void response.writeHead(200).end('{"price":26.5}'));
  const flow = parseFlow(
    {
      start: 'ask',
      slots: { price: { kind: 'money', currency: 'USD' } },
      states: {
        ask: { request: { answer: { price: 'price' }, failed: 'no' }, next: 'tell' },
        tell: { say: 'That is {{ price }}.', hangup: 'told' },
        no: { say: 'No.', hangup: 'no' },
      },
    },
    { language: 'en', hasServer: true },
  );
  const hook = flowHooks(flow, systemClock, { url: await server.listen(), secret: undefined }).create(CALL);
  const actions = await actionsOf(hook, start);
  expect(textOf(actions)).toBe('That is twenty six dollars and fifty cents.');
  expect(actions).toContainEqual({ type: 'set', variables: { price: '26.50' } });
});

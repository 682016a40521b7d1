import { afterEach, beforeEach, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import twilio from 'twilio';
import { Secret } from '../../../src/config/secrets.ts';
import { relayHooks, type RelayHookSettings } from '../../../src/dialog/relay/relay-hook.ts';
import type { DialogHook } from '../../../src/dialog/port.ts';
import { DialogServerError, DialogTimeoutError } from '../../../src/dialog/wire/errors.ts';
import { ManualClock } from '../../../src/sim/manual-clock.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { actionsOf, BotServer, CALL, spoken, textOf, turnOf } from './bot-server.ts';

type Message = Record<string, unknown> & { type: string };

/** A bot as its author would write it from the protocol's public page: answers each prompt in two tokens. */
let http: BotServer;
let sockets: WebSocketServer;
let url: string;
const got: Message[] = [];
let headers: Record<string, unknown> = {};
let answer: (message: Message, send: (reply: object) => void, socket: WebSocket) => void;

beforeEach(async () => {
  got.length = 0;
  http = new BotServer(() => undefined);
  url = (await http.listen()).replace('http', 'ws') + '/relay';
  answer = (message, send) => {
    if (message.type !== 'prompt') return;
    send({ type: 'text', token: 'You said ', last: false });
    send({ type: 'text', token: `${String(message['voicePrompt'])}.`, last: true });
  };
  sockets = new WebSocketServer({ server: http.server });
  sockets.on('connection', (socket, request) => {
    headers = request.headers;
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString('utf8')) as Message;
      got.push(message);
      answer(message, (reply) => socket.send(JSON.stringify(reply)), socket);
    });
  });
});

afterEach(async () => {
  for (const socket of sockets.clients) socket.terminate();
  await http[Symbol.asyncDispose]();
});

function hook(settings: Partial<RelayHookSettings> = {}): DialogHook {
  const base = {
    url,
    secret: undefined,
    timeoutMs: 5_000,
    parameters: { clinic: 'lake' },
    noInput: 'Are you there?',
    greeting: 'Hello.',
  };
  return relayHooks({ ...base, ...settings }, systemClock).create(CALL);
}

it('sets a session up once, and asks a bot written for the protocol', async () => {
  const bot = hook({ secret: new Secret('token') });
  expect(textOf(await actionsOf(bot, turnOf({ kind: 'start' }, 0)))).toBe('Hello.');
  expect(await actionsOf(bot, turnOf(spoken('tuesday')))).toEqual([
    { type: 'say', text: 'You said ', more: true },
    { type: 'say', text: 'tuesday.', more: false },
  ]);
  expect(got.map(({ type }) => type)).toEqual(['setup', 'prompt']);
  expect(got[0]).toMatchObject({
    from: '+15550100',
    to: '+15550199',
    direction: 'inbound',
    customParameters: { clinic: 'lake' },
  });
  expect(got[1]).toMatchObject({ voicePrompt: 'tuesday', lang: 'en', last: true });
  expect(twilio.validateRequest('token', String(headers['x-twilio-signature']), url, {})).toBe(true);
});

it('tells the bot that it was interrupted, and how much of it was heard', async () => {
  const bot = hook();
  await actionsOf(bot, turnOf(spoken('tuesday')));
  await actionsOf(bot, turnOf(spoken('no, friday'), 2, [{ role: 'bot', text: 'You said—' }]));
  expect(got.at(-2)).toMatchObject({ type: 'interrupt', utteranceUntilInterrupt: 'You said—' });
  await actionsOf(bot, turnOf(spoken('yes'), 3, [{ role: 'bot', text: 'You said no, friday.' }]));
  expect(got.filter(({ type }) => type === 'interrupt')).toHaveLength(1);
});

it('sends and presses keys, switches language, hands over and ends', async () => {
  answer = (message, send) => {
    if (message['digit'] !== '2') return;
    send({ type: 'language', ttsLanguage: 'hi-IN' });
    send({ type: 'sendDigits', digits: '1w2' });
    send({ type: 'text', token: 'नमस्ते', last: false, lang: 'hi', interruptible: false });
    send({ type: 'end', handoffData: '{"to":"desk"}' });
  };
  expect(await actionsOf(hook(), turnOf({ kind: 'keyed', digits: '12' }))).toEqual([
    { type: 'language', language: 'hi' },
    { type: 'digits', digits: '1w2' },
    { type: 'say', text: 'नमस्ते', more: true, language: 'hi', interruptible: 'never' },
    { type: 'set', variables: { handoffData: '{"to":"desk"}' } },
    { type: 'hangup', reason: 'the bot ended the call' },
  ]);
});

it('plays what the bot wants to be heard, alone or among words', async () => {
  const source = 'https://example.org/a.wav';
  const bot = hook();
  answer = (message, send) => {
    if (message.type === 'prompt') send({ type: 'play', source });
  };
  expect(await actionsOf(bot, turnOf(spoken('one'), 1))).toEqual([{ type: 'play', source, loop: 1, preemptible: false }]);
  answer = (message, send) => {
    if (message.type !== 'prompt') return;
    send({ type: 'play', source, loop: 0, preemptible: true, interruptible: false });
    send({ type: 'text', token: 'Thank you.', last: true });
  };
  expect(await actionsOf(bot, turnOf(spoken('two'), 2, [{ role: 'bot', text: '[audio a.wav]' }]))).toEqual([
    { type: 'play', source, loop: 1_000, preemptible: true, interruptible: 'never' },
    { type: 'say', text: 'Thank you.', more: false },
  ]);
  // A sound that was heard is no word that was not said.
  await actionsOf(bot, turnOf(spoken('three'), 3, [{ role: 'bot', text: '[audio a.wav] Thank you.' }]));
  expect(got.filter(({ type }) => type === 'interrupt')).toEqual([]);
});

it('waits for what follows music for longer than for an answer', async () => {
  const clock = new ManualClock(0);
  let say: () => void = () => undefined;
  answer = (message, send) => {
    if (message.type !== 'prompt') return;
    send({ type: 'play', source: 'https://example.org/a.wav', preemptible: true });
    say = () => send({ type: 'text', token: 'Done.', last: true });
  };
  const settings = { url, secret: undefined, timeoutMs: 500, parameters: {}, noInput: '', greeting: undefined };
  const bot = relayHooks(settings, clock).create(CALL);
  const answers = bot.respond(turnOf(spoken('x')), new AbortController().signal)[Symbol.asyncIterator]();
  expect((await answers.next()).value).toMatchObject({ type: 'play', preemptible: true });
  const next = answers.next();
  clock.advance(100_000);
  say();
  expect((await next).value).toMatchObject({ type: 'say', text: 'Done.' });
  await answers.return?.();
});

it('asks a silent caller itself, and connects anew when the socket was lost', async () => {
  const bot = hook();
  expect(textOf(await actionsOf(bot, turnOf({ kind: 'no-input', attempt: 1 })))).toBe('Are you there?');
  answer = (message, _, socket) => {
    if (message.type === 'prompt') socket.terminate();
  };
  await expect(actionsOf(bot, turnOf(spoken('x')))).rejects.toThrow(DialogServerError);
  answer = (message, send) => {
    if (message.type === 'prompt') send({ type: 'text', token: 'Back.', last: true });
  };
  expect(textOf(await actionsOf(bot, turnOf(spoken('y'), 2)))).toBe('Back.');
  expect(got.filter(({ type }) => type === 'setup').map(({ sessionId }) => sessionId)).toEqual([
    got[0]?.['sessionId'],
    got[0]?.['sessionId'],
  ]);
});

it('is given up when the bot says nothing, or is not there', async () => {
  answer = () => undefined;
  await expect(actionsOf(hook({ timeoutMs: 60 }), turnOf(spoken('x')))).rejects.toThrow(DialogTimeoutError);
  await expect(actionsOf(hook({ url: 'ws://127.0.0.1:1/' }), turnOf(spoken('x')))).rejects.toThrow(DialogServerError);
});

it('drops what is no message of the protocol, and tells the bot', async () => {
  answer = (message, send, socket) => {
    if (message.type !== 'prompt') return;
    socket.send('not json');
    send({ type: 'text', token: 'Fine.', last: true });
  };
  expect(textOf(await actionsOf(hook(), turnOf(spoken('x'))))).toBe('Fine.');
  await expect.poll(() => got.at(-1)).toMatchObject({ type: 'error' });
});

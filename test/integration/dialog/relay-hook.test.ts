import { afterEach, beforeEach, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { validateRequest } from 'twilio/lib/webhooks/webhooks.js';
import { Secret } from '../../../src/config/secrets.ts';
import { relayHooks, type RelayHookSettings } from '../../../src/dialog/relay/relay-hook.ts';
import type { DialogHook, DialogTurn } from '../../../src/dialog/port.ts';
import { DialogServerError, DialogTimeoutError } from '../../../src/dialog/wire.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import { actionsOf, contextOf, tracing, BotServer, CALL, spoken, textOf, turnOf } from './bot-server.ts';
import { untilPasses } from '../../support/eventually.ts';

type Message = Record<string, unknown> & { type: string };

/** A bot as its author would write it from the protocol's public page: answers each prompt in two tokens. */
let http: BotServer;
let sockets: WebSocketServer;
let url: string;
const got: Message[] = [];
let headers: Record<string, unknown> = {};
let answer: (message: Message, send: (reply: object) => void, socket: WebSocket) => void;
const atOnce: typeof answer = (message, send) => {
  if (message.type !== 'prompt') return;
  send({ type: 'text', token: 'You said ', last: false });
  send({ type: 'text', token: `${String(message['voicePrompt'])}.`, last: true });
};
/** What the server does with each prompt from now on. */
function onPrompt(then: (send: (reply: object) => void, message: Message, socket: WebSocket) => void): void {
  answer = (message, send, socket) => {
    if (message.type === 'prompt') then(send, message, socket);
  };
}

beforeEach(async () => {
  got.length = 0;
  http = new BotServer(() => undefined);
  url = (await http.listen()).replace('http', 'ws') + '/relay';
  answer = atOnce;
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

function hook(settings: Partial<RelayHookSettings> = {}, clock: Clock = systemClock, saved?: unknown): DialogHook {
  const base = {
    url,
    secret: undefined,
    timeoutMs: 5_000,
    parameters: { clinic: 'lake' },
    noInput: 'Are you there?',
    greeting: 'Hello.',
    followMs: 0,
  };
  return relayHooks({ ...base, ...settings }, clock).create(CALL, saved);
}

it('sets a session up once, and asks a bot written for the protocol', async () => {
  using _tracing = tracing();
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
  expect(validateRequest('token', String(headers['x-twilio-signature']), url, {})).toBe(true);
  expect(headers['traceparent']).toBe(contextOf());
});

it('goes on with the same session in another process, and tells the server what is unknown', async () => {
  const first = hook();
  await actionsOf(first, turnOf({ kind: 'start' }, 0));
  await untilPasses(() => expect(got).toHaveLength(1));
  const second = hook({}, systemClock, JSON.parse(JSON.stringify(first.saved?.())));
  const resumed = { gapMs: 900, outcome: 'unknown' } as const;
  expect(textOf(await actionsOf(second, { ...turnOf(spoken('tuesday')), resumed }))).toBe('You said tuesday.');
  expect(got).toMatchObject([{ type: 'setup' }, { type: 'setup', resumed: true }, { type: 'prompt', resumed }]);
  expect(got[1]?.['sessionId']).toBe(got[0]?.['sessionId']);
  expect(got[0]).not.toHaveProperty('resumed');
});

it('tells the bot whom we called, and the variables of that call', async () => {
  const bot = hook();
  const call = { ...CALL, direction: 'outbound', from: '+15550199', to: '+15550100' } as const;
  await actionsOf(bot, { ...turnOf({ kind: 'start' }, 0), call, variables: { name: 'Asha' } });
  await untilPasses(() => expect(got[0]).toMatchObject({ customParameters: { clinic: 'lake', name: 'Asha' } }));
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
    { type: 'listen' },
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
  onPrompt((send) => send({ type: 'play', source }));
  expect(await actionsOf(bot, turnOf(spoken('one'), 1))).toEqual([{ type: 'play', source, loop: 1, preemptible: false }]);
  onPrompt((send) => {
    send({ type: 'play', source, loop: 0, preemptible: true, interruptible: false });
    send({ type: 'text', token: 'Thank you.', last: true });
  });
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
  onPrompt((send) => {
    send({ type: 'play', source: 'https://example.org/a.wav', preemptible: true });
    say = () => send({ type: 'text', token: 'Done.', last: true });
  });
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
  onPrompt((_, _message, socket) => socket.terminate());
  await expect(actionsOf(bot, turnOf(spoken('x')))).rejects.toThrow(DialogServerError);
  onPrompt((send) => send({ type: 'text', token: 'Back.', last: true }));
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
  onPrompt((send, _message, socket) => {
    socket.send('not json');
    send({ type: 'text', token: 'Fine.', last: true });
  });
  expect(textOf(await actionsOf(hook(), turnOf(spoken('x'))))).toBe('Fine.');
  await expect.poll(() => got.at(-1)).toMatchObject({ type: 'error' });
});

const types = (): string[] => got.map(({ type }) => type);

/** Asks and takes the turn back once the server has it, as when the caller goes on speaking. */
async function giveUp(bot: DialogHook, turn: DialogTurn): Promise<void> {
  const before = got.length;
  const goesOn = new AbortController();
  const asked = actionsOf(bot, turn, goesOn.signal);
  await expect.poll(() => types().slice(before)).toContain('prompt');
  goesOn.abort(new Error('the caller goes on'));
  await expect(asked).rejects.toThrow('the caller goes on');
}

/** The turns that follow, each heard to its end. @returns what the bot said in them */
async function talk(bot: DialogHook, texts: readonly string[], index: number): Promise<string[]> {
  const said: string[] = [];
  for (const [turn, text] of texts.entries()) {
    const history = said.slice(-1).map((heard) => ({ role: 'bot' as const, text: heard }));
    said.push(textOf(await actionsOf(bot, turnOf(spoken(text), index + turn, history))));
  }
  return said;
}

/** Until the hook has read all that the server sent: what is no message it answers with an error. */
async function hasRead(): Promise<void> {
  for (const socket of sockets.clients) socket.send('not json');
  await expect.poll(types).toContain('error');
}

/** A bot that answers every prompt in the end and in order, but none before so many have come. */
function answerFrom(prompts: number): void {
  const waiting: Message[] = [];
  answer = (message, send, socket) => {
    if (message.type === 'prompt') waiting.push(message);
    if (types().filter((type) => type === 'prompt').length < prompts) return;
    for (const prompt of waiting.splice(0)) atOnce(prompt, send, socket);
  };
}

it('speaks the late answer of a bot that answers what was taken back as well, the right one behind it, and keeps in step', async () => {
  answerFrom(2);
  const bot = hook();
  await giveUp(bot, turnOf(spoken('I want')));
  expect(await talk(bot, ['I want a pizza', 'large', 'that is all'], 1)).toEqual([
    'You said I want.You said I want a pizza.',
    'You said large.',
    'You said that is all.',
  ]);
  expect(types()).toEqual(['setup', 'prompt', 'interrupt', 'prompt', 'prompt', 'prompt']);
  expect(got[2]).toMatchObject({ utteranceUntilInterrupt: '' });
});

it('keeps in step with a bot that stops at the interrupt, and waits only once to learn that it does', async () => {
  const clock = new ManualClock(0);
  const bot = hook({}, clock);
  answer = () => undefined;
  await giveUp(bot, turnOf(spoken('I want')));
  answer = atOnce;
  const asked = talk(bot, ['I want a pizza', 'large'], 1);
  // The server is done, and the hook waits for whether another answer follows.
  await expect.poll(() => clock.pendingTimers).toBe(2);
  clock.advance(1_500);
  expect(await asked).toEqual(['You said I want a pizza.', 'You said large.']);
  answer = () => undefined;
  await giveUp(bot, turnOf(spoken('to'), 3));
  answer = atOnce;
  expect(await talk(bot, ['to my office', 'yes'], 3)).toEqual(['You said to my office.', 'You said yes.']);
});

it('keeps in step with a bot that closes an answer when it is interrupted', async () => {
  answer = (message, send) => {
    if (message.type === 'interrupt') send({ type: 'text', token: '', last: true });
  };
  const bot = hook();
  await giveUp(bot, turnOf(spoken('I want')));
  answer = (message, send, socket) => {
    if (message.type === 'interrupt') send({ type: 'text', token: '', last: true });
    else atOnce(message, send, socket);
  };
  expect(await talk(bot, ['I want a pizza', 'large'], 1)).toEqual(['You said I want a pizza.', 'You said large.']);
});

it('keeps in step when several prompts were taken back', async () => {
  answerFrom(3);
  const bot = hook();
  await giveUp(bot, turnOf(spoken('I')));
  await giveUp(bot, turnOf(spoken('I want')));
  expect(await talk(bot, ['I want a pizza', 'large'], 1)).toEqual([
    'You said I.You said I want.You said I want a pizza.',
    'You said large.',
  ]);
});

it('is in step again with the next turn when a late answer was the only one for too long', async () => {
  const clock = new ManualClock(0);
  const bot = hook({}, clock);
  const prompts: Message[] = [];
  let reply: (prompt: Message | undefined) => void = () => undefined;
  answer = (message, send, socket) => {
    if (message.type === 'prompt') prompts.push(message);
    reply = (prompt) => atOnce(prompt!, send, socket);
  };
  await giveUp(bot, turnOf(spoken('I want')));
  const asked = talk(bot, ['I want a pizza'], 1);
  await expect.poll(() => prompts).toHaveLength(2);
  reply(prompts[0]);
  await expect.poll(() => clock.pendingTimers).toBe(2);
  clock.advance(1_500);
  const history = (await asked).map((text) => ({ role: 'bot' as const, text }));
  reply(prompts[1]);
  await hasRead();
  answer = atOnce;
  expect(textOf(await actionsOf(bot, turnOf(spoken('hello'), 2, history)))).toBe('You said I want a pizza.You said hello.');
  expect(await talk(bot, ['large'], 3)).toEqual(['You said large.']);
});

it('drops an answer that came after it was given up for its silence, which it tells the bot', async () => {
  const clock = new ManualClock(0);
  const bot = hook({}, clock);
  let reply: () => void = () => undefined;
  onPrompt((send, message, socket) => (reply = () => atOnce(message, send, socket)));
  const asked = actionsOf(bot, turnOf(spoken('I want a pizza')));
  const failed = expect(asked).rejects.toThrow(DialogTimeoutError);
  await expect.poll(types).toContain('prompt');
  clock.advance(5_000);
  await failed;
  reply();
  await hasRead();
  answer = atOnce;
  expect(await talk(bot, ['hello', 'large'], 2)).toEqual(['You said hello.', 'You said large.']);
  expect(types().filter((type) => type !== 'error')).toEqual(['setup', 'prompt', 'interrupt', 'prompt', 'prompt']);
});

it('keeps in step with a bot that goes on with an answer that the caller talked over', async () => {
  let goOn: () => void = () => undefined;
  onPrompt((send) => {
    send({ type: 'text', token: 'We have ', last: false });
    goOn = () => send({ type: 'text', token: 'ten kinds of pizza.', last: true });
  });
  const bot = hook();
  const talksOver = new AbortController();
  const listening = (async () => {
    for await (const _ of bot.respond(turnOf(spoken('pizza')), talksOver.signal)) talksOver.abort(new Error('talked over'));
  })();
  await expect(listening).rejects.toThrow('talked over');
  goOn();
  await hasRead();
  answer = atOnce;
  const history = [{ role: 'bot', text: 'We have' }] as const;
  expect(textOf(await actionsOf(bot, turnOf(spoken('large'), 2, history)))).toBe('You said large.');
  // All of what came was heard, but it was not all of the answer.
  expect(got.at(-2)).toMatchObject({ type: 'interrupt', utteranceUntilInterrupt: 'We have' });
});

it('hangs up when the bot ends the call, whether that comes behind an answer or later', async () => {
  const goodbye = (message: Message, send: (message: Message) => void): void => {
    if (message.type !== 'prompt') return;
    send({ type: 'text', token: 'Goodbye.', last: true });
    send({ type: 'end' });
  };
  const bot = hook({ followMs: 500 });
  answer = goodbye;
  const actions = await actionsOf(bot, turnOf(spoken('bye')));
  const hangup = { type: 'hangup', reason: 'the bot ended the call' };
  expect([textOf(actions), actions.at(-1)]).toEqual(['Goodbye.', hangup]);

  const later = hook();
  let end: () => void = () => undefined;
  answer = (message, send) => {
    if (message.type === 'prompt') send({ type: 'text', token: 'Goodbye.', last: true });
    end = () => send({ type: 'end' });
  };
  expect(textOf(await actionsOf(later, turnOf(spoken('bye'))))).toBe('Goodbye.');
  end();
  await hasRead();
  expect(await actionsOf(later, turnOf(spoken('thanks'), 2, [{ role: 'bot', text: 'Goodbye.' }]))).toEqual([hangup]);

  const other = hook();
  answer = () => undefined;
  await giveUp(other, turnOf(spoken('well')));
  answer = goodbye;
  expect((await actionsOf(other, turnOf(spoken('well, bye'), 1))).map(({ type }) => type)).toEqual(['say', 'hangup']);
});

it.each([
  { note: 'its only words', before: [], after: [{ type: 'text', token: 'Goodbye.', last: true }] },
  {
    note: 'the rest of its words, in tokens',
    before: [{ type: 'text', token: 'Good', last: false }],
    after: [
      { type: 'text', token: 'bye', last: false },
      { type: 'text', token: '.', last: true },
    ],
  },
  { note: 'nothing, with words that were never finished', before: [{ type: 'text', token: 'Goodbye.', last: false }], after: [] },
])('speaks all words of a bot that ends before $note, then hangs up', async ({ before, after }) => {
  onPrompt((send) => {
    for (const each of [...before, { type: 'end', handoffData: 'desk' }, ...after]) send(each);
  });
  const actions = await actionsOf(hook({ followMs: 300 }), turnOf(spoken('bye')));
  expect(textOf(actions)).toBe('Goodbye.');
  expect(actions.slice(-2)).toEqual([
    { type: 'set', variables: { handoffData: 'desk' } },
    { type: 'hangup', reason: 'the bot ended the call' },
  ]);
});

it('waits no longer than a moment for words behind the end', async () => {
  const clock = new ManualClock(0);
  let send: (reply: object) => void = () => undefined;
  answer = (message, reply) => {
    send = reply;
    if (message.type === 'prompt') reply({ type: 'end' });
  };
  const actions = actionsOf(hook({ followMs: 500 }, clock), turnOf(spoken('bye')));
  await expect.poll(types).toContain('prompt');
  await expect.poll(() => clock.pendingTimers).toBe(1);
  send({ type: 'text', token: 'Wait', last: false });
  await hasRead();
  await expect.poll(() => clock.pendingTimers).toBe(1);
  clock.advance(500);
  expect((await actions).map(({ type }) => type)).toEqual(['say', 'hangup']);
});

it('gives the caller the floor where keys are not answered, and keeps in step without an interrupt', async () => {
  const clock = new ManualClock(0);
  const bot = hook({}, clock);
  const ends = new AbortController();
  const unanswered = (async () => {
    const actions: string[] = [];
    for await (const action of bot.respond(turnOf({ kind: 'keyed', digits: '4' }), ends.signal)) actions.push(action.type);
    return actions;
  })();
  await expect.poll(types).toContain('dtmf');
  clock.advance(8_000);
  expect(await unanswered).toEqual(['listen']);
  // The caller speaks before the time of the next keys is over.
  answer = () => undefined;
  const again = actionsOf(bot, turnOf({ kind: 'keyed', digits: '2' }, 2), ends.signal);
  await expect.poll(() => types().filter((type) => type === 'dtmf')).toHaveLength(2);
  ends.abort(new Error('the caller speaks'));
  await expect(again).rejects.toThrow('the caller speaks');
  answer = atOnce;
  const asked = talk(bot, ['tuesday', 'friday'], 3);
  await expect.poll(types).toContain('prompt');
  await expect.poll(() => clock.pendingTimers).toBe(2);
  clock.advance(1_500);
  expect(await asked).toEqual(['You said tuesday.', 'You said friday.']);
  expect(types()).not.toContain('interrupt');
});

it('tells nothing as heard of an answer that is asked for again', async () => {
  onPrompt((send) => send({ type: 'text', token: 'We have ', last: false }));
  const bot = hook();
  const history = [{ role: 'bot', text: 'Hello.' }] as const;
  const goesOn = new AbortController();
  for await (const _ of bot.respond(turnOf(spoken('pizza'), 1, history), goesOn.signal)) break;
  onPrompt((send) => send({ type: 'text', token: 'Large?', last: true }));
  const again = actionsOf(bot, turnOf(spoken('a large pizza'), 1, history));
  await expect.poll(types).toContain('interrupt');
  expect(textOf(await again)).toBe('Large?');
  expect(got.at(-2)).toMatchObject({ type: 'interrupt', utteranceUntilInterrupt: '' });
});

it('speaks what the bot sends unasked ahead of its next answer, and keeps in step', async () => {
  const bot = hook();
  await talk(bot, ['tuesday'], 1);
  for (const [token, last] of [
    ['Your taxi is here.', false],
    ['', true],
  ] as const)
    for (const socket of sockets.clients) socket.send(JSON.stringify({ type: 'text', token, last }));
  await hasRead();
  const history = [{ role: 'bot', text: 'You said tuesday.' }] as const;
  const second = await actionsOf(bot, turnOf(spoken('friday'), 2, history));
  expect(second).toEqual([
    { type: 'say', text: 'Your taxi is here.', more: true },
    { type: 'say', text: '', more: false },
    { type: 'say', text: 'You said ', more: true },
    { type: 'say', text: 'friday.', more: false },
  ]);
  const after = [{ role: 'bot', text: textOf(second) }] as const;
  expect(textOf(await actionsOf(bot, turnOf(spoken('yes'), 3, after)))).toBe('You said yes.');
});

it('waits no longer for a server whose tokens say nothing', async () => {
  onPrompt((send, _message, socket) => {
    const beat = setInterval(() => send({ type: 'text', token: '', last: false }), 20);
    socket.on('close', () => clearInterval(beat));
  });
  const bot = hook({ timeoutMs: 150 });
  await expect(actionsOf(bot, turnOf(spoken('x')))).rejects.toThrow("the bot's server said nothing for 150 ms");
  await bot.dispose?.();
});

it('gives up a server whose answer has no end', async () => {
  onPrompt((_send, _message, socket) => {
    const frame = JSON.stringify({ type: 'text', token: 'x'.repeat(9_000), last: false });
    const more = (): void => {
      for (let count = 0; count < 8; count += 1) socket.send(frame);
      if (socket.readyState === socket.OPEN) setImmediate(more);
    };
    more();
  });
  const bot = hook();
  await expect(actionsOf(bot, turnOf(spoken('x')))).rejects.toThrow('longer than 1000000 characters');
  await bot.dispose?.();
});

it('tells a server of a hundred messages that it dropped, and of no more', async () => {
  const bot = hook();
  onPrompt((send, _message, socket) => {
    for (let count = 0; count < 150; count += 1) socket.send('nonsense');
    send({ type: 'text', token: 'Hello.', last: true });
  });
  // What was sent ahead of the third prompt has come by then.
  for (const turn of [1, 2, 3]) await actionsOf(bot, turnOf(spoken('x'), turn));
  expect(got.filter(({ type }) => type === 'error')).toHaveLength(100);
  await bot.dispose?.();
});

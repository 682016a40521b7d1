import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { WebSocketServer } from 'ws';
import { afterAll, beforeAll, expect, it, test } from 'vitest';
import { fromPackage } from '../../../src/cli/setup/package-root.ts';
import { lastJson, runCommand } from '../../support/command.ts';
import { nodeArguments } from '../../support/program.ts';
import { BotServer } from '../dialog/bot-server.ts';

const DESK = `
export async function* respond({ input, variables, call }) {
  if (input.kind === 'start') { yield 'Your mobile number?'; yield ask({ kind: 'phone', region: 'IN', readBack: 'always' }); return; }
  if (input.kind === 'no-input') { yield 'Are you there?'; return; }
  if (variables.phone === undefined && input.answer?.status === 'complete') {
    yield { type: 'set', variables: { phone: input.answer.value } };
    yield { type: 'language', language: 'hi', voice: 'Sunita' };
    yield 'धन्यवाद.';
    yield { type: 'language', language: 'en', voice: 'Nisha' };
    yield { type: 'play', source: 'missing.wav', text: 'A short tune.' };
    yield ask({ kind: 'card' });
    yield 'Key your card number.';
    return;
  }
  if (input.kind === 'keyed') {
    yield { type: 'note', text: 'got ' + input.digits };
    yield { type: 'recording', on: true };
    yield { type: 'digits', digits: '1w2' };
    yield 'From ' + call.from + ', one moment.';
    yield { type: 'transfer', to: '+15550100123' };
    return;
  }
  yield 'I did not get that.';
}
const ask = (contract) => ({ type: 'gather', contract });
`;
const bot = (name: string, dialog: string): string => `name: ${name}\nvoice: Nisha\ntimeZone: Asia/Kolkata\ndialog: ${dialog}\n`;
const FLOW = (language: string, prompt: string, readBack: string): string =>
  bot(
    `dates-${language}`,
    `
  kind: flow
  flow:
    start: ask
    slots: { day: { kind: day }, phone: { kind: phone, region: IN } }
    states:
      ask: { ask: { slot: day, also: [phone], prompt: '${prompt}' }, next: number }
      number: { ask: { slot: phone, prompt: '${prompt}' }, next: check }
      check: { confirm: { prompt: '${readBack}', which: '${prompt}', parts: { day: ask, phone: number }, yes: bye } }
      bye: { say: '${prompt}', hangup: agreed }`,
  ).replace('voice: Nisha', `voice: Nisha\nlanguage: ${language}`);

let folder: string;
let http: BotServer;
let model: BotServer;
let relay: WebSocketServer;
/** Turns that the http bot's server does not answer. */
const hung: unknown[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'offhook-chat-'));
  http = new BotServer((response, { body }) => {
    const { input, call, index } = JSON.parse(body);
    if (input.text === 'hang') return void hung.push(input);
    if (input.text === 'endless') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const more = setInterval(() => response.write('data: and so on \n\n'), 50);
      response.once('close', () => clearInterval(more));
      return;
    }
    if (input.text === 'refuse') return void response.writeHead(500).end();
    const actions =
      input.kind === 'start'
        ? [`Hello ${call.from}.`, 'Which bot?']
        : input.text === 'the desk'
          ? [{ type: 'bot', name: 'desk' }]
          : [{ type: 'say', text: `Turn ${index}: ${input.text}` }];
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(actions));
  });
  model = new BotServer((response, { body }) => {
    const heard = JSON.parse(body).messages.at(-1).content;
    if (heard === 'hang') return;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const content of ['You said: ', `${heard}. `, 'Anything else?'])
      response.write(
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`,
      );
    response.end('data: [DONE]\n\n');
  });
  relay = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  relay.on('connection', (socket) =>
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString('utf8'));
      const say = (token: string) => socket.send(JSON.stringify({ type: 'text', token, last: true }));
      if (message.type === 'setup') say('Relay here.');
      else if (message.voicePrompt === 'bye') socket.send(JSON.stringify({ type: 'end' }));
      else if (message.type === 'prompt' && message.voicePrompt !== 'hang') say(`Echo: ${message.voicePrompt}`);
    }),
  );
  await once(relay, 'listening');
  const address = relay.address();
  const relayPort = typeof address === 'object' ? address?.port : 0;
  const bots = join(folder, 'config/bots');
  await mkdir(bots, { recursive: true });
  const files: Readonly<Record<string, string>> = {
    'desk.mjs': DESK,
    'desk.yaml': bot('desk', '{ kind: module, file: desk.mjs }'),
    'server.yaml': bot('server', `{ kind: http, url: "${await http.listen()}", timeoutMs: 500 }`),
    'model.yaml': bot(
      'model',
      `{ kind: llm, baseUrl: "${await model.listen()}/v1", model: m, timeoutMs: 500, greeting: Hello., instructions: Talk. }`,
    ),
    'relay.yaml': bot('relay', `{ kind: relay, timeoutMs: 500, url: "ws://127.0.0.1:${relayPort}" }`),
    'en.yaml': FLOW('en', 'Well?', '{{ day }}, {{ phone | spelled }}. Right?'),
    'hi.yaml': FLOW('hi', 'बताइए?', '{{ day }}, {{ phone | spelled }}। सही है?'),
    'slow.mjs': `export async function* respond({ input }) {
      if (input.kind === 'start') return yield { type: 'say', text: 'Hello.', interruptible: 'never' };
      await new Promise((resolve) => setTimeout(resolve, 1700));
      yield 'Here it is.';
    }`,
    'slow.yaml': bot('slow', '{ kind: module, file: slow.mjs }'),
    'broken.yaml': bot('broken', '{ kind: module, file: none.mjs }'),
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(bots, name), content);
});
afterAll(async () => {
  relay.close();
  await http[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const chat = (...args: string[]) =>
  runCommand(['chat', ...args], { OFFHOOK_BOTS__FOLDER: join(folder, 'config/bots'), OFFHOOK_DATA_DIR: join(folder, 'data') });
const events = (stdout: string): Record<string, unknown>[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

it('talks to a module bot: a number is read back and corrected, languages, keys and the transfer are seen', async () => {
  const said = [
    'nine eight seven six five four three two one zero',
    'no, the last two digits are four five',
    'yes',
    '#4111111111111111',
  ];
  const { code, stdout, stderr } = await chat('desk', '--from', '+15550100007', '--say', ...said);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toBe(`— the bot "desk" (module, en) answers +15550100007 —
bot     Your mobile number?
        asks for: phone, region IN, reads it back
caller  nine eight seven six five four three two one zero
        understood: +919876543210
bot     nine eight seven six five, four three two one zero.
bot     Is that right?
        asks for: yes-no
caller  no, the last two digits are four five
        understood: no
bot     So that is nine eight seven six five, four three two four five.
bot     Is that right?
        asks for: yes-no
caller  yes
        understood: yes
        phone = +919876543245
        speaks hi, Sunita
bot     धन्यवाद.
        asks for: card (keys only, and hidden)
        warning: playing a sound failed: the sound is not in the bot's folder
        speaks en, Nisha
bot     A short tune.
bot     Key your card number.
keys    ************1111
        understood: a whole value, which the bot has as a token
        note: got ************1111
        recording on
        presses 1w2
bot     From +15550100007, one moment.
        transfers to +15550100123
        phone = +919876543245
— the call is over: transferred —
`);
});

it('prints no digit of a card number that is keyed or spoken, in no form of output', async () => {
  const said = ['9876543210', 'yes', 'four one one one', '#4111111111111111'];
  for (const flags of [[], ['--json']]) {
    const { stdout, stderr } = await chat('desk', ...flags, '--say', ...said);
    expect(`${stdout}${stderr}`).toContain(
      flags.length > 0 ? '{"type":"unheard","because":"only-keys","text":""}' : 'only keys are taken here',
    );
    expect(`${stdout}${stderr}`).toContain('************1111');
    expect(`${stdout}${stderr}`).not.toMatch(/4111|four one/u);
  }
});

test.each([
  [
    'en',
    ['on the fifth of April, and my number is 98765 43210', 'yes'],
    'the fifth of April, nine, eight, seven, six, five, four, three, two, one, zero. Right?',
    'Well?',
  ],
  [
    'hi',
    ['पाँच अप्रैल को', 'नौ आठ सात छह पाँच चार तीन दो एक शून्य', 'जी हाँ'],
    'पाँच अप्रैल, नौ, आठ, सात, छह, पाँच, चार, तीन, दो, एक, शून्य। सही है?',
    'बताइए?',
  ],
])('has a flow read a date and a number back in %s, on the day that --at says', async (language, lines, readBack, last) => {
  const script = join(folder, `${language}.chat`);
  const [first = '', ...rest] = lines;
  const middle = rest.length > 1 ? [`> ${rest[0]}`] : [];
  const steps = [`@bot dates-${language}`, '@at 2027-03-01T23:00', `> ${first}`, ...middle, `< ${readBack}`, `> ${rest.at(-1)}`];
  await writeFile(
    script,
    [...steps, `< = ${last}`, '[slot day = 2027-04-05]', '[slot phone = +919876543210]', '[end agreed]'].join('\n'),
  );
  const { code, stdout } = await chat('--script', script);
  expect([stdout, code]).toEqual([expect.stringContaining(`ok      ${script} (5 expectations)`), 0]);
});

it('talks to an http bot, which hands the call to another bot', async () => {
  const { code, stdout } = await chat('server', '--json', '--from', '+15550100008', '--say', 'one two', 'the desk', '9876543210');
  const seen = events(stdout);
  expect(seen.filter(({ type }) => type === 'says').map((each) => each['text'])).toEqual([
    'Hello +15550100008.',
    'Which bot?',
    'Turn 1: one two',
    'Your mobile number?',
    'nine eight seven six five, four three two one zero.',
    'Is that right?',
  ]);
  expect(seen).toContainEqual({ type: 'action', bot: 'server', action: { type: 'bot', name: 'desk' } });
  expect([code, seen.at(-1)]).toMatchObject([0, { type: 'result', ok: true, end: 'caller-hangup' }]);
});

it('says what failed at an http bot that hangs or refuses, what a caller hears then, and exits with 1', async () => {
  const { code, stdout } = await chat('server', '--say', 'hang');
  expect(code).toBe(1);
  const [failed, moment] = ["failed  the bot's server said nothing for 500 ms\n", 'bot     One moment, please.\n'];
  expect(stdout).toContain(`caller  hang\n${failed}${moment}${failed}bot     Sorry, something went wrong on our side.\n`);
  expect(stdout).not.toContain('say it again');
  const { stdout: refused } = await chat('server', '--say', 'refuse');
  expect(refused).toContain(`caller  refuse\nfailed  the bot's server answered with HTTP 500\n${moment}`);
  expect(hung.length).toBeGreaterThan(0);
  expect((await chat('server', '--say', 'refuse', '--expect', '[fails /HTTP 500/]')).code).toBe(0);
});

test.each(['model', 'relay'])('ends a conversation with a %s bot that hangs, and says so', async (name) => {
  const { code, stdout } = await chat(name, '--say', 'hang');
  const whom = name === 'model' ? 'the model' : "the bot's server";
  expect([stdout, code]).toEqual([expect.stringContaining(`caller  hang\nfailed  ${whom} said nothing for 500 ms\n`), 1]);
});

it('waits no longer than --deadline for an answer that never ends, and names the script line that it is for', async () => {
  const script = join(folder, 'endless.chat');
  await writeFile(script, '@bot server\n> endless\n< never mind');
  const { code, stdout } = await chat('--deadline', '1', '--script', script);
  expect(code).toBe(1);
  expect(stdout).toContain('failed  the bot had not finished its answer after 1 s\n— the call is over: deadline —\n');
  expect(stdout).toContain('line 2: expected an answer of the bot\n          got      it failed: the bot had not finished');
});

it('talks to a model', async () => {
  const { code, stdout } = await chat('model', '--say', 'the hours', '--expect', '= Hello. You said: the hours. Anything else?');
  expect([stdout, code]).toEqual([expect.stringContaining('bot     You said: the hours.\nbot     Anything else?\n'), 0]);
});

it('talks to a relay bot, and ends when that does', async () => {
  const { code, stdout } = await chat('relay', '--say', 'a pizza', 'bye', '--expect', 'Relay here. Echo: a pizza', '[end]');
  expect([stdout, code]).toEqual([expect.stringContaining('the call is over: the bot ended the call'), 0]);
});

it('interrupts the bot, which knows what was heard of it', async () => {
  const script = join(folder, 'interrupt.chat');
  await writeFile(
    script,
    '@bot clinic\n> when are you open\n< twelve Lake Road\n> /interrupt book an appointment\n[slot intent = book]\n< Which day',
  );
  const { code, stdout } = await runCommand(['chat', '--script', script]);
  expect([stdout, code]).toEqual([expect.stringContaining('interrupted: heard of it: We are open'), 0]);
});

it('covers a slow answer as a call does, which no expectation counts', async () => {
  const { code, stdout } = await chat('slow', '--json', '--say', 'wait', '--expect', '= Hello. Here it is.');
  const said = events(stdout).filter(({ type }) => type === 'says');
  expect(said.map((each) => [each['text'], each['filler']])).toEqual([
    ['Hello.', undefined],
    ['One moment, please.', true],
    ['Here it is.', undefined],
  ]);
  expect(code).toBe(0);
});

it('says so where the bot does not let itself be interrupted', async () => {
  const { stdout } = await chat('slow', '--say', '/interrupt stop');
  expect(stdout).toContain('the bot had finished, or does not let itself be interrupted here');
});

it('greets a person whom Offhook calls, with the variables of that call', async () => {
  const flags = ['--parameter', 'name=Asha', 'due_date=2026-12-03', '--at', '2026-12-02T10:00'];
  const { code, stdout } = await runCommand([
    'chat',
    'reminder',
    ...flags,
    '--say',
    'yes',
    '--expect',
    '[end confirmed]',
    'Hello Asha',
    'Thursday',
  ]);
  expect([stdout, code]).toEqual([expect.stringContaining('caller  hello\nbot     Hello Asha.\n'), 0]);
});

it('plays the example scripts of the shipped bots', async () => {
  const scripts = ['clinic', 'clinic-hi', 'reminder'].map((name) => fromPackage('examples/chat', `${name}.chat`));
  const { code, stdout } = await runCommand(['chat', '--script', ...scripts]);
  expect([stdout, code]).toEqual([expect.stringMatching(/3 scripts: 3 passed, 0 failed\n$/u), 0]);
});

it('goes on after a silence, and gives up after too many', async () => {
  const { code, stdout } = await chat('desk', '--say', '', '', '', '', '', '--expect', '[end no-input]');
  expect([stdout.match(/silence\nbot {5}Are you there\?/gu)?.length, code]).toEqual([4, 0]);
});

it('tells which line of which script expected what, goes on with the next, and exits with 1', async () => {
  const [bad, good] = [join(folder, 'bad.chat'), join(folder, 'good.chat')];
  await writeFile(bad, '@bot desk\n< mobile\n> well\n> purple\n< Thank you\n[slot phone = 1]\n> never said');
  await writeFile(good, '@bot desk\n< = Your mobile number?\n[asks phone]');
  const { code, stdout } = await chat('--script', bad, good);
  expect(code).toBe(1);
  expect(stdout).not.toContain('never said');
  expect(stdout).toContain('these words are no turn of the caller');
  expect(stdout.slice(stdout.indexOf('FAILED'))).toBe(`FAILED  ${bad}
  line 5: expected the bot to say "Thank you"
          got      "I did not get that."
  line 6: expected slot phone to be "1"
          got      slot phone is empty; no slot is filled
ok      ${good} (2 expectations)
2 scripts: 1 passed, 1 failed
`);
  expect(lastJson(await chat('--json', '--script', bad, good))).toEqual({
    type: 'summary',
    ok: false,
    scripts: 2,
    passed: 1,
    failed: 1,
  });
});

test.each([
  [
    ['dess', '--say', 'hi'],
    2,
    'there is no sound bot "dess"; the bots here are: broken, desk, dates-en, dates-hi, model, relay, server, slow. Did you mean desk?',
  ],
  [['--say', 'hi'], 2, 'name a bot: '],
  [['desk', '--at', 'noon', '--say', 'hi'], 2, '"noon" is no date and time'],
  [['desk', '--expect', '[hangup]'], 2, '--expect "[hangup]": there is no [hangup]; there are slot, end,'],
  [['desk', '--script', '/nowhere.chat'], 2, '/nowhere.chat cannot be read: ENOENT'],
  [['broken', '--say', 'hi'], 1, 'none.mjs'],
  [['desk', '--say', '/wait'], 1, 'line 1: there is no command /wait'],
  [['desk', '--say', '9876543210', 'yes', '#4111111111111111', 'more'], 1, 'the call had ended (transferred) before line 4'],
] as const)('says what is wrong with %j', async (args, exitCode, problem) => {
  const { code, stderr } = await chat(...args);
  expect([stderr, code]).toEqual([expect.stringContaining(problem), exitCode]);
});

it('reads standard input, a line a turn, and hangs up at its end; without a terminal nothing is coloured', async () => {
  const child = spawn(
    process.execPath,
    [...(await nodeArguments(fromPackage('src/main.ts'))), 'chat', 'dates-en', '--at', '2027-03-01'],
    {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  child.stdin.end('tomorrow\n\n9876543210');
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  expect(code).toBe(0);
  expect(stdout).toContain('caller  tomorrow\n        day = 2027-03-02\nbot     Well?\n');
  expect(stdout).toContain('silence\n');
  expect(stdout).toContain('bot     Tuesday, nine, eight, seven, six, five, four, three, two, one, zero.');
  expect(stdout).toMatch(/— the call is over: caller-hangup —\n$/u);
  expect(stdout).not.toContain('\u{1B}');
});

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, test } from 'vitest';
import { botProblems, type KnownNames } from '../../../../src/cli/setup/bot-problems.ts';
import { loadBots } from '../../../../src/config/bot-files.ts';
import { problemText } from '../../../../src/config/problem.ts';
import { Destinations } from '../../../../src/config/destinations.ts';

const known: KnownNames = {
  voices: ['Nisha', 'Rajesh'],
  spoken: new Set(['en', 'hi', 'ta']),
  recognised: new Set(['en', 'hi']),
  hasControl: true,
  destinationsOf: () => Destinations.anywhere,
  isPlatform: () => true,
};

/** What is wrong with bots of these files, as people read it; the folder is left out. */
async function problemsOf(files: Record<string, string>, names: Partial<KnownNames> = {}): Promise<string[]> {
  const folder = join(mkdtempSync(join(tmpdir(), 'offhook-names-')), 'bots');
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const { bots, problems } = loadBots(folder);
  const found = [...problems, ...(await botProblems(bots, { ...known, ...names }))];
  return found.map((problem) => problemText(problem).replaceAll(`${folder}/`, ''));
}

const http = 'dialog: { kind: http, url: "https://bots.example.org" }\n';
const flow = (states: string): string => `dialog:\n  kind: flow\n  flow:\n    start: welcome\n    states:\n${states}`;

test.each([
  {
    note: 'a misspelt voice',
    file: `name: a\nvoice: Nihsa\n${http}`,
    text: 'voice (a.yaml:2) is "Nihsa": the speech platform has no voice of this name; `npx offhook voices` lists them. Did you mean Nisha?',
  },
  {
    note: 'a language that is not spoken',
    file: `name: a\nvoice: Nisha\nlanguage: fr\n${http}`,
    text: 'language (a.yaml:3) is "fr": is not spoken into calls; allowed are en, hi, ta.',
  },
  {
    note: 'a language that the recogniser does not understand',
    file: `name: a\nvoice: Nisha\nlanguage: ta\n${http}`,
    text: 'warning: language (a.yaml:3) is "ta": the recogniser understands nothing in it, only en, hi: callers are left to the keypad.',
  },
  {
    note: 'phrases in a language that does not exist',
    file: `name: a\nvoice: Nisha\nphrases:\n  xx: { apology: Sorry. }\n${http}`,
    text: 'phrases.xx (a.yaml:4) is "xx": is no language that the speech platform knows.',
  },
  {
    note: 'ambience that is not there',
    file: `name: a\nvoice: Nisha\nambience:\n  file: rain.wav\n${http}`,
    text: expect.stringMatching(/^ambience\.file \(a\.yaml:4\) is "rain\.wav": the sound is not in the bot's folder/u),
  },
  {
    note: 'a tool with a name that is built in',
    file: 'name: a\nvoice: Nisha\ndialog:\n  kind: llm\n  baseUrl: http://127.0.0.1:1/v1\n  model: m\n  instructions: Help.\n  tools:\n    - { name: hang_up, description: Ends it, url: "http://127.0.0.1:1/" }\n',
    text: 'dialog.tools.0.name (a.yaml:9) is "hang_up": the tools of every model have this name; choose another.',
  },
  {
    note: 'a kind of dialog that does not exist',
    file: 'name: a\nvoice: Nisha\ndialog:\n  kind: flwo\n  file: a.flow\n',
    text: 'dialog.kind (a.yaml:4) is "flwo": allowed is flow, module, http, relay, llm, realtime. Did you mean flow?',
  },
  {
    note: 'an unknown key of a group',
    file: 'name: a\nvoice: Nisha\ndialog:\n  kind: http\n  url: https://bots.example.org\n  timeuotMs: 900\n',
    text: 'dialog.timeuotMs (a.yaml:6): no such key in a bot file. Did you mean timeoutMs?',
  },
  {
    note: 'a voice of a prompt, in a flow of the bot’s file',
    file: `name: a\nvoice: Nisha\n${flow('      welcome:\n        say: { text: Hello., voice: Rajseh }\n        hangup: done\n')}`,
    text: expect.stringMatching(/^states\.welcome\.say\.voice \(a\.yaml:9\) is "Rajseh": .*Did you mean Rajesh\?$/u),
  },
  {
    note: 'another bot that there is not',
    file: `name: desk\nvoice: Nisha\n${flow('      welcome: { say: Hello., bot: dsek }\n')}`,
    text: 'states.welcome.bot (a.yaml:8) is "dsek": there is no bot of this name. Did you mean desk?',
  },
  {
    note: 'a fallback bot that there is not',
    file: `name: desk\nvoice: Nisha\nwhenDown:\n  - transfer: '+15550100001'\n  - bot: dsek\n${http}`,
    text: 'whenDown.1.bot (a.yaml:5) is "dsek": there is no bot of this name.',
  },
  {
    note: 'a bot that is to stand in for itself',
    file: `name: desk\nvoice: Nisha\nwhenDown:\n  - bot: desk\n${http}`,
    text: 'whenDown.0.bot (a.yaml:4) is "desk": is this bot itself: another one has to stand in for it.',
  },
  {
    note: 'a person whom the list of transfers does not have',
    file: `name: desk\nvoice: Nisha\ntransfers: { allow: ['+1555*'] }\nwhenDown:\n  - transfer: '+4930123456'\n${http}`,
    text: expect.stringMatching(/^whenDown\.0\.transfer \(a\.yaml:5\) is "\+4930123456": transfers\.allow /u),
  },
  {
    note: 'an unknown step for when the server is down',
    file: `name: desk\nvoice: Nisha\nwhenDown: [mesage]\n${http}`,
    text: 'whenDown.0 (a.yaml:3) is "mesage": allowed is message, callback, apologise. Did you mean message?',
  },
  {
    note: 'an unknown key of such a step',
    file: `name: desk\nvoice: Nisha\nwhenDown:\n  - { message: { silence: 900 } }\n${http}`,
    text: 'whenDown.0.message.silence (a.yaml:4): no such key in a bot file. Did you mean silenceMs?',
  },
  {
    note: 'a step that is two',
    file: `name: desk\nvoice: Nisha\nwhenDown:\n  - { bot: other, transfer: '+15550100001' }\n${http}`,
    text: expect.stringMatching(/^whenDown\.0 \(a\.yaml:4\).*one thing a step: bot, transfer or message/u),
  },
  {
    note: 'an apology before the end of the list',
    file: `name: desk\nvoice: Nisha\nwhenDown: [apologise, message]\n${http}`,
    text: expect.stringMatching(/^whenDown \(a\.yaml:3\).*`apologise` ends the call/u),
  },
  {
    note: 'a list beside a failureTransfer',
    file: `name: desk\nvoice: Nisha\nphrases: { en: { apology: One moment. } }\nfailureTransfer: '+15550100001'\nwhenDown: [message]\n${http}`,
    text: expect.stringMatching(/^failureTransfer \(a\.yaml:4\).*make it a step of whenDown/u),
  },
  {
    note: 'a sound of a prompt that is not there',
    file: `name: a\nvoice: Nisha\n${flow('      welcome: { say: { play: jingle.wav }, hangup: done }\n')}`,
    text: expect.stringMatching(/^states\.welcome\.say\.play \(a\.yaml:8\) is "jingle\.wav"/u),
  },
])('reports $note with its line', async ({ file, text }) => {
  expect(await problemsOf({ 'a.yaml': file })).toEqual([text]);
});

it('warns of a transfer without an account of the carrier', async () => {
  const file = `name: a\nvoice: Nisha\nnoInputTransfer: '+15550100001'\n${http}`;
  expect(await problemsOf({ 'a.yaml': file })).toEqual([]);
  const problems = await problemsOf({ 'a.yaml': file }, { hasControl: false });
  expect(problems).toEqual([
    expect.stringMatching(/^warning: noInputTransfer \(a\.yaml:3\): .*OFFHOOK_TWILIO_ACCOUNT_SID or OFFHOOK_.*\.$/u),
  ]);
});

it('names the line of a syntax error in a module, without running it', async () => {
  const file = 'name: a\nvoice: Nisha\ndialog: { kind: module, file: a.mjs }\n';
  const broken = 'export async function* respond() {\n  yield "Hello.";\n  yield {;\n}\n';
  expect(await problemsOf({ 'a.yaml': file, 'a.mjs': broken })).toEqual(["dialog.file (a.mjs:3): Unexpected token ';'."]);
  const throwing = 'throw new Error("this was run");\nexport async function* respond() {}\n';
  expect(await problemsOf({ 'a.yaml': file, 'a.mjs': throwing })).toEqual([]);
});

test.each([
  { note: 'alone', text: '{{ day }}' },
  { note: 'and more', text: '{{ day }} at ten, is that right?' },
])('says once that a placeholder $note needs quotes, with its line', async ({ text }) => {
  const states = `      welcome:\n        say: ${text}\n        hangup: done\n`;
  expect(await problemsOf({ 'a.yaml': `name: a\nvoice: Nisha\n${flow(states)}` })).toEqual([
    'a.yaml (a.yaml:9): a text that begins with {{ must be in quotes: without them YAML takes it for a map.',
  ]);
});

it('warns of settings that a reasoning model may refuse or use up', async () => {
  const bot = (model: string, more = ''): string =>
    `name: a\nvoice: Nisha\ndialog:\n  kind: llm\n  baseUrl: https://api.openai.com/v1\n  model: ${model}\n  instructions: Help.\n${more}`;
  expect(await problemsOf({ 'a.yaml': bot('gpt-5-mini', '  temperature: 0.2\n') })).toEqual([
    'warning: dialog.temperature (a.yaml:8) is 0.2: gpt-5-mini may refuse a temperature, which is then left out.',
    expect.stringMatching(/^warning: dialog\.maxTokens \(.*\) is 400: what gpt-5-mini thinks counts, and it may say nothing/u),
  ]);
  expect(await problemsOf({ 'a.yaml': bot('o4-mini', '  reasoningEffort: low\n') })).toEqual([]);
  expect(await problemsOf({ 'a.yaml': bot('gpt-4o', '  temperature: 0.2\n') })).toEqual([]);
});

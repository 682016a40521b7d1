import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { loadBots } from '../../../src/config/bot-files.ts';
import { botSettings, findBot, phrasesOf } from '../../../src/config/bots.ts';
import { problemText } from '../../../src/config/problem.ts';

function folderWith(files: Record<string, string>): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'offhook-bots-')), 'bots');
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const clinic = 'name: clinic\nnumbers: ["+1 (555) 010-0001"]\nvoice: anna\ndialog: { kind: flow, file: clinic.flow.yaml }\n';
const spare =
  'name: spare\ndefault: true\nlanguage: hi\nvoice: v\ndialog: { kind: module, file: spare.mjs }\noverflow: { say: रुकिए }\n';

describe('loadBots', () => {
  it('reads every bot of a folder with its defaults', () => {
    const { bots, problems } = loadBots(folderWith({ 'b.yml': spare, 'a.yaml': clinic, 'notes.txt': 'x' }));
    expect(problems).toEqual([]);
    expect(bots.map(({ name }) => name)).toEqual(['clinic', 'spare']);
    expect(bots[0]).toMatchObject({
      endpointingMs: 600,
      language: 'en',
      recording: 'always',
      retention: {},
      interruption: { allow: 'always', clearAfterMs: 120 },
    });
  });

  it('gives a bot another version when its file or its flow changes, and for nothing else', () => {
    const flow = 'start: a\nstates: { a: { say: Hi., hangup: done } }\n';
    const versionWith = (bot: string, flowText: string): string | undefined =>
      loadBots(folderWith({ 'a.yaml': bot, 'clinic.flow.yaml': flowText, 'z.txt': flowText })).bots[0]?.version;
    const version = versionWith(clinic, flow);
    expect(version).toMatch(/^[0-9a-f]{12}$/u);
    expect(versionWith(clinic, flow)).toBe(version);
    expect(versionWith(clinic, flow.replace('Hi.', 'Hello.'))).not.toBe(version);
    expect(versionWith(clinic.replace('anna', 'bella'), flow)).not.toBe(version);
  });

  it('reports unknown keys with the nearest known one, wrong values, and the line of each', () => {
    const bad = `${clinic}endpointMs: 500\nnoInputMs: soon\ninterruption:\n  allow: maybe\n`;
    const { bots, problems } = loadBots(folderWith({ 'a.yaml': bad }));
    expect(bots).toEqual([]);
    const lines = problems.map(problemText).join('\n');
    expect(lines).toMatch(/endpointMs.*a\.yaml:5.*no such key.*endpointingMs/);
    expect(lines).toMatch(/noInputMs.*a\.yaml:6.*"soon"/);
    expect(lines).toMatch(/interruption\.allow.*a\.yaml:8.*"maybe"/);
  });

  it('says what is missing, and that a number which starts with a plus wants quotes', () => {
    const bad = 'name: a\nnumbers: [+15550100]\ndialog: { kind: http, url: "https://bots.example.org", timeoutMS: 900 }\n';
    const { problems } = loadBots(folderWith({ 'a.yaml': bad }));
    const lines = problems.map(problemText).join('\n');
    expect(lines).toMatch(/^voice \(.*a\.yaml:1\): is missing\.$/m);
    expect(lines).toMatch(/^numbers\.0 \(.*a\.yaml:2\) is 15550100: a text is expected here: put it in quotes\.$/m);
    expect(lines).toMatch(/^dialog\.timeoutMS \(.*a\.yaml:3\): no such key in a bot file\. Did you mean timeoutMs\?$/m);
  });

  it('loads a bot whose secret is set nowhere without one, with a problem that affects calls alone', () => {
    const desk = 'name: desk\nvoice: v\ndialog:\n  kind: http\n  url: https://bots.example.org\n  secretEnv: DESK_SECRET\n';
    const { bots, problems } = loadBots(folderWith({ 'a.yaml': desk }));
    expect(bots.map(({ name, dialogSecret }) => [name, dialogSecret])).toEqual([['desk', undefined]]);
    expect(problems).toEqual([
      {
        key: 'dialog.secretEnv',
        where: expect.stringMatching(/a\.yaml:6$/u),
        message: 'neither DESK_SECRET nor DESK_SECRET_FILE is set',
        affects: 'calls',
      },
    ]);
  });

  test.each<[string, string, Record<string, string>, string | undefined, RegExp | undefined]>([
    ['an address of its own', 'url: "https://a.test/v1"', {}, 'https://a.test/v1', undefined],
    ['an address from a variable', 'urlEnv: DESK_URL', { DESK_URL: 'http://127.0.0.1:80' }, 'http://127.0.0.1:80', undefined],
    ['a variable that is not set', 'urlEnv: DESK_URL, secretEnv: DESK_SECRET', {}, undefined, undefined],
    ['a variable with no address', 'urlEnv: DESK_URL', { DESK_URL: 'desk' }, undefined, /urlEnv.*DESK_URL holds no address/],
    ['two addresses', 'url: "https://a.test", urlEnv: DESK_URL', {}, undefined, /dialog\.server.*either url or urlEnv/],
    ['no address', 'secretEnv: DESK_SECRET', {}, undefined, /dialog\.server.*either url or urlEnv/],
    [
      'no secret',
      'url: "https://a.test", secretEnv: DESK_SECRET',
      {},
      'https://a.test',
      /dialog\.server\.secretEnv.*neither DESK_SECRET/,
    ],
  ])("finds a flow's server by %s", (_note, server, env, url, problem) => {
    const desk = `name: desk\nvoice: v\ndialog: { kind: flow, file: a.yaml, server: { ${server} } }\n`;
    const { bots, problems } = loadBots(folderWith({ 'desk.yaml': desk }), env);
    expect(problems.map(problemText).join('\n')).toMatch(problem ?? /^$/);
    expect(bots[0]?.serverUrl).toBe(url);
  });

  it('reports a bot that is to be asked early and could not undo what it did', () => {
    const relay = 'name: r\nvoice: v\naskEarly: true\ndialog: { kind: relay, url: "wss://bots.example.org/r" }\n';
    const { problems } = loadBots(folderWith({ 'r.yaml': relay }));
    expect(problems.map(problemText).join('\n')).toMatch(/askEarly.*cannot be asked early/);
  });

  test.each([
    { given: 'secretEnv: KEY', is: undefined },
    { given: "url: 'ws://localhost:8000/v1/realtime'", is: undefined },
    { given: 'vendor: openai', is: /^dialog\.secretEnv .*is needed at the vendor/u },
    { given: 'vendor: azure, secretEnv: KEY', is: /^dialog\.url .*azure needs its address/u },
    { given: 'vendor: gemini, secretEnv: KEY, turns: model', is: /^dialog\.turns .*use offhook/u },
    { given: "secretEnv: KEY, url: 'ws://models.example.org/v1'", is: /^dialog\.url .*unencrypted/u },
    { given: "secretEnv: KEY, url: 'wss://models.example.org/v1?key=abc'", is: /^dialog\.url .*must not hold a key/u },
    { given: 'vendor: other, secretEnv: KEY', is: /^dialog\.vendor /u },
  ])('takes or refuses a speech-to-speech model with $given', ({ given, is }) => {
    const bot = `name: r\nvoice: v\ndialog: { kind: realtime, instructions: Answer., ${given} }\n`;
    const told = loadBots(folderWith({ 'r.yaml': bot }), { KEY: 'abc' })
      .problems.map(problemText)
      .join('\n');
    if (is === undefined) expect(told).toBe('');
    else expect(told).toMatch(is);
  });

  it('wants an apology that fits where a failing bot connects its callers', () => {
    const bot = `${clinic}failureTransfer: '+15550100001'\n`;
    const { problems } = loadBots(folderWith({ 'a.yaml': bot }));
    expect(problems.map(problemText).join('\n')).toMatch(/^failureTransfer .*phrases\.en\.apology/u);
    expect(loadBots(folderWith({ 'a.yaml': `${bot}phrases: { en: { apology: One moment. } }\n` })).problems).toEqual([]);
  });

  it('reports duplicate names, numbers and defaults', () => {
    const { problems } = loadBots(
      folderWith({ '1.yaml': clinic, '2.yaml': clinic, '3.yaml': spare, '4.yaml': spare.replace('spare', 'other') }),
    );
    expect(problems.map(({ message }) => message)).toEqual([
      'the name clinic is already taken by bot clinic',
      'the number +15550100001 is already taken by bot clinic',
      'default: true is already taken by bot spare',
    ]);
  });

  test.each([
    ['both a file and a flow', 'dialog: { kind: flow, file: a, flow: {} }'],
    ['neither a file nor a flow', 'dialog: { kind: flow }'],
    ['an unknown kind', 'dialog: { kind: magic }'],
    ['no dialog', ''],
  ])('refuses %s', (_note, dialog) => {
    expect(loadBots(folderWith({ 'a.yaml': `name: a\nvoice: v\n${dialog}\n` })).problems.length).toBeGreaterThan(0);
  });

  it('reports a folder that is not there or holds no bot, and a file that is not YAML', () => {
    expect(loadBots('/does/not/exist').problems).toHaveLength(1);
    expect(loadBots(folderWith({ 'notes.txt': 'x' })).problems[0]?.message).toContain('holds no bot');
    expect(loadBots(folderWith({ 'a.yaml': 'a: [' })).problems[0]?.message).toContain('YAML');
    expect(loadBots(folderWith({ 'a.yaml': '' })).problems).toHaveLength(1);
  });
});

describe('findBot', () => {
  const { bots } = loadBots(folderWith({ 'a.yaml': clinic, 'b.yaml': spare }));

  test.each([
    ['by path', { pathName: 'clinic', dialledNumber: '+999' }, 'clinic'],
    ['by parameter', { parameter: 'clinic' }, 'clinic'],
    ['by number, however it is written', { dialledNumber: '+1-555-010-0001' }, 'clinic'],
    ['by the user of a SIP address', { dialledNumber: 'sip:+15550100001@carrier.test;x=1' }, 'clinic'],
    ['by default', { dialledNumber: '+4400' }, 'spare'],
    ['the path before the parameter', { pathName: 'spare', parameter: 'clinic' }, 'spare'],
    ['nothing for a name that does not exist', { pathName: 'nobody', dialledNumber: '+15550100001' }, undefined],
  ])('finds %s', (_note, query, name) => expect(findBot(bots, query)?.name).toBe(name));

  it('finds nothing without a default bot', () => {
    expect(findBot(bots.slice(0, 1), { dialledNumber: '+4400' })).toBeUndefined();
    expect(findBot([], {})).toBeUndefined();
  });
});

describe('phrasesOf', () => {
  it('prefers the bot’s own sentence, then the built-in one of the language', () => {
    const bot = {
      ...botSettings.parse({
        name: 'a',
        voice: 'v',
        dialog: { kind: 'module', file: 'f' },
        phrases: { en: { apology: 'Oops' } },
      }),
      folder: '.',
    };
    expect(phrasesOf(bot).apology).toBe('Oops');
    expect(phrasesOf(bot).overflow).toContain('busy');
    expect(phrasesOf(bot, 'hi').apology).toContain('माफ़');
    expect(phrasesOf({ ...bot, overflow: { say: 'Full' } }).overflow).toBe('Full');
  });
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bot, botSettings } from '../../../src/config/bots.ts';
import { loadBotDialog } from '../../../src/dialog/bot-dialog.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { DialogAnswerError } from '../../../src/dialog/action-schema.ts';
import { FlowInvalidError, loadFlow } from '../../../src/dialog/flow/load.ts';
import { DialogModuleError, loadModuleHooks } from '../../../src/dialog/module-hook.ts';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'offhook-dialog-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

const call = { callId: 'call_1', botName: 'b', from: '', to: '', direction: 'inbound', language: 'en' } as const;
const turn: DialogTurn = { call, index: 0, input: { kind: 'start' }, history: [], variables: {}, idempotencyKey: 'key_1' };

describe('a flow file', () => {
  it('is read', async () => {
    const path = await file('good.yaml', 'start: bye\nstates:\n  bye: { say: Bye., hangup: done }\n');
    expect((await loadFlow(path, { language: 'hi' })).flow.languages).toEqual(['hi']);
  });

  it.each([
    {
      note: 'a mistyped key',
      yaml: 'start: bye\nstates:\n  bye:\n    sayy: Bye.\n    hangup: done\n',
      line: 4,
      text: 'Did you mean say?',
    },
    {
      note: 'an unknown state',
      yaml: 'start: bye\nstates:\n  bye:\n    say: Bye.\n    next: by\n',
      line: 5,
      text: 'no state of this name. Did you mean bye?',
    },
    { note: 'bad YAML', yaml: 'start: [\n', line: 2, text: 'not readable as YAML' },
    { note: 'nothing', yaml: '', line: 1, text: 'expected object' },
  ])('is refused for $note, with its line', async ({ yaml, line, text }) => {
    const path = await file('bad.yaml', yaml);
    const error: unknown = await loadFlow(path, { language: 'en' }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FlowInvalidError);
    const { message, problems } = error as FlowInvalidError;
    expect(message).toContain(text);
    expect(problems[0]?.where).toBe(line === undefined ? path : `${path}:${line}`);
  });

  it('is refused when it is not there', async () => {
    await expect(loadFlow(join(folder, 'none.yaml'), { language: 'en' })).rejects.toThrow('cannot be read');
  });
});

describe('a module', () => {
  async function answersOf(name: string, source: string, signal = new AbortController().signal): Promise<DialogAction[]> {
    const hook = (await loadModuleHooks(await file(name, source))).create(call);
    const actions: DialogAction[] = [];
    for await (const action of hook.respond(turn, signal)) actions.push(action);
    return actions;
  }

  it('says texts and carries out actions', async () => {
    const source = `export async function* answer(turn) { yield 'Hello ' + turn.input.kind; yield { type: 'hangup', reason: 'done', extra: 1 }; }`;
    expect(await answersOf('good.mjs', source)).toEqual([
      { type: 'say', text: 'Hello start' },
      { type: 'hangup', reason: 'done' },
    ]);
  });

  it('is refused for something that is no action, naming the field', async () => {
    const answers = answersOf('wrong.mjs', `export async function* answer() { yield { type: 'say', txt: 'x' }; }`);
    await expect(answers).rejects.toThrow(DialogAnswerError);
    await expect(answers).rejects.toThrow('text');
  });

  it('passes on what the module throws', async () => {
    await expect(answersOf('throws.mjs', `export async function* answer() { throw new Error('broken'); }`)).rejects.toThrow(
      'broken',
    );
  });

  it('ends when it is no longer wanted, even if the module hangs', async () => {
    const abort = new AbortController();
    const hooks = await loadModuleHooks(
      await file('hangs.mjs', `export async function* answer() { yield 'One.'; await new Promise(() => {}); }`),
    );
    const heard: DialogAction[] = [];
    for await (const action of hooks.create(call).respond(turn, abort.signal)) {
      heard.push(action);
      queueMicrotask(() => abort.abort());
    }
    expect(heard).toEqual([{ type: 'say', text: 'One.' }]);
  });

  it('lets the module clean up when the answer is left', async () => {
    const hooks = await loadModuleHooks(
      await file(
        'cleans.mjs',
        `export async function* answer(turn) { try { yield 'One.'; yield 'Two.'; } finally { turn.cleaned(); } }`,
      ),
    );
    let cleaned = false;
    const watched = { ...turn, cleaned: () => (cleaned = true) };
    for await (const _action of hooks.create(call).respond(watched, new AbortController().signal)) break;
    expect(cleaned).toBe(true);
  });

  it.each([
    { note: 'no such file', name: 'missing.mjs', source: undefined },
    { note: 'a syntax error', name: 'syntax.mjs', source: 'export async function* {' },
    { note: 'no generator', name: 'plain.mjs', source: 'export function answer() {}' },
    { note: 'two generators', name: 'two.mjs', source: 'export async function* a() {}\nexport async function* b() {}' },
  ])('is refused for $note', async ({ name, source }) => {
    const path = source === undefined ? join(folder, name) : await file(name, source);
    await expect(loadModuleHooks(path)).rejects.toThrow(DialogModuleError);
  });
});

describe('a bot’s dialog', () => {
  const flow = { start: 'bye', states: { bye: { say: 'Bye. See you.', hangup: 'done' } } };
  const botWith = (dialog: object, folder = ''): Bot => ({ ...botSettings.parse({ name: 'b', voice: 'Nisha', dialog }), folder });

  it('is an inline flow', async () => {
    const dialog = await loadBotDialog(botWith({ kind: 'flow', flow }), systemClock);
    expect(dialog.fixedPrompts().slice(0, 2)).toEqual(['Bye.', 'See you.']);
  });

  it('is a flow or a module in a file beside the bot', async () => {
    await file('beside.yaml', JSON.stringify(flow));
    await file('beside.mjs', `export async function* answer() { yield 'Hello.'; }`);
    const read = await loadBotDialog(botWith({ kind: 'flow', file: 'beside.yaml' }, folder), systemClock);
    expect(read.fixedPrompts((text) => [text])[0]).toBe('Bye. See you.');
    const code = await loadBotDialog(botWith({ kind: 'module', file: 'beside.mjs' }, folder), systemClock);
    expect(code.fixedPrompts()).toEqual([]);
  });

  it('is a flow in the bot’s time zone unless it names its own', async () => {
    const evening = new ManualClock(0, Date.UTC(2026, 0, 1, 20, 0));
    const states = { ask: { ask: { slot: 'day', prompt: 'Which day?' }, next: 'bye' }, bye: { say: 'Bye.', hangup: 'done' } };
    const asks = { start: 'ask', slots: { day: { kind: 'day' } }, states };
    const tomorrowIn = async (named: object): Promise<unknown> => {
      const bot = { ...botWith({ kind: 'flow', flow: { ...asks, ...named } }), timeZone: 'Asia/Kolkata' };
      const { hooks } = await loadBotDialog(bot, evening);
      const hook = hooks.create(call);
      const { signal } = new AbortController();
      for await (const _action of hook.respond(turn, signal)) continue;
      const answer = { ...turn, index: 1, input: { kind: 'spoken', text: 'tomorrow', language: 'en' } } as const;
      for await (const action of hook.respond(answer, signal)) return action;
      return undefined;
    };
    expect(await tomorrowIn({})).toEqual({ type: 'set', variables: { day: '2026-01-03' } });
    expect(await tomorrowIn({ timeZone: 'UTC' })).toEqual({ type: 'set', variables: { day: '2026-01-02' } });
  });

  it('is refused with the name of its bot', async () => {
    const broken = loadBotDialog(botWith({ kind: 'flow', flow: {} }), systemClock);
    await expect(broken).rejects.toThrow('bot b is no usable flow');
  });
});

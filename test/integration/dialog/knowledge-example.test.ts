import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadBots } from '../../../src/config/bot-files.ts';
import { type Bot, botSettings } from '../../../src/config/bots.ts';
import type { RecallCaller } from '../../../src/dialog/caller-memory.ts';
import { loadBotDialog } from '../../../src/dialog/bot-dialog.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { type ModelAnswer, ScriptedModel } from '../../support/scripted-model.ts';
import { actionsOf, CALL, spoken, textOf, turnOf } from './bot-server.ts';

const FOLDER = 'examples/knowledge/bots';

async function hookOf(folder: string) {
  const { bots, problems } = loadBots(folder, {});
  expect(problems).toEqual([]);
  const [bot] = bots;
  if (bot === undefined) throw new Error('no bot');
  return { bot, hook: (await loadBotDialog(bot, systemClock)).hooks.create(CALL) };
}

const search = (query: string): ModelAnswer => [{ name: 'search_knowledge', args: { query } }];

it('answers from the documents of the example, and refuses what they do not have', async () => {
  const { hook } = await hookOf(FOLDER);
  using model = new ScriptedModel((_asked, number) => {
    if (number === 0)
      return 'The floor lamp costs 1,500 rupees, and is delivered today without any charge at all. Anything else?';
    if (number === 1) return search('floor lamp price');
    if (number === 2) return 'It costs one thousand eight hundred and ninety nine rupees. I guarantee that it lasts 10 years.';
    return 'Our competitors are worse. Goodbye.';
  });
  const first = await actionsOf(hook, turnOf(spoken('what is the floor lamp'), 1));
  expect(textOf(first).trim()).toBe('I would have to ask my colleagues about that. Anything else?');
  expect(first.filter(({ type }) => type === 'note')).toEqual([
    { type: 'note', text: expect.stringMatching(/^guard refused \(numbers: 1500\): The floor lamp/u) as string },
  ]);
  const second = await actionsOf(hook, turnOf(spoken('please look'), 2));
  expect(model.last('tool')).toContain('[prices.csv, line 3]\nitem: Floor lamp Meru; price in rupees: 1,899; bulb: LED');
  expect(textOf(second).trim()).toBe(
    'It costs one thousand eight hundred and ninety nine rupees. I would have to ask my colleagues about that.',
  );
  expect(textOf(await actionsOf(hook, turnOf(spoken('and the others'), 3))).trim()).toBe(
    'I would have to ask my colleagues about that. Goodbye.',
  );
  await hook.dispose?.();
});

it('has another version when a document changes, so that a reload takes it over', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-example-'));
  try {
    cpSync('examples/knowledge', folder, { recursive: true });
    const before = await hookOf(join(folder, 'bots'));
    writeFileSync(join(folder, 'documents', 'new.md'), '# News\n\nThe shop moves to the harbour in May.');
    const after = await hookOf(join(folder, 'bots'));
    expect(after.bot.version).not.toBe(before.bot.version);
    using model = new ScriptedModel((_asked, number) => (number % 2 === 0 ? search('harbour') : 'Yes?'));
    await actionsOf(before.hook, turnOf(spoken('where'), 1));
    expect(model.last('tool')).toContain('nothing was found');
    await actionsOf(after.hook, turnOf(spoken('where'), 1));
    expect(model.last('tool')).toContain('moves to the harbour');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('asks a slow model for the quick one, with the conversation as it was heard', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-thinker-'));
  try {
    const thinker = 'thinker: { model: slow-model, slow: { waitMs: 5000 } }';
    const dialog = `{ kind: llm, baseUrl: 'http://model.test/v1', model: quick, instructions: Help., ${thinker} }`;
    writeFileSync(join(folder, 'desk.yaml'), `name: desk\nvoice: Nisha\ndialog: ${dialog}\n`);
    const { hook } = await hookOf(folder);
    using model = new ScriptedModel((asked, number) => {
      if (asked.model === 'slow-model') return 'Take the second tariff.';
      return number === 0
        ? [{ name: 'think', args: { question: 'Which tariff?' } }]
        : `I thought: ${asked.messages.at(-1)?.content}`;
    });
    const history = [{ role: 'caller', text: 'I phone a lot' }] as const;
    const said = textOf(await actionsOf(hook, turnOf(spoken('which tariff is mine'), 2, history)));
    expect(said).toBe('I thought: Take the second tariff.');
    const asked = model.asked.find(({ model: name }) => name === 'slow-model')?.messages.at(-1)?.content;
    expect(asked).toBe(
      'The conversation so far:\ncaller: I phone a lot\ncaller: which tariff is mine\n\nQuestion: Which tariff?',
    );
    await hook.dispose?.();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('tells the model of earlier calls of a person, and goes on where the store is away', async () => {
  const memory = { consent: 'remember_me', calls: 2 };
  const dialog = { kind: 'llm', baseUrl: 'http://model.test/v1', model: 'm', instructions: 'Help.', memory };
  const bot: Bot = { ...botSettings.parse({ name: 'desk', tenant: 'acme', voice: 'Nisha', dialog }), folder: '.' };
  const asked: unknown[] = [];
  const recall: RecallCaller = async (about) => {
    asked.push(about);
    if (asked.length > 1) throw new Error('the store is away');
    return ['2026-01-09: Bought a lamp.'];
  };
  const { hooks } = await loadBotDialog(bot, systemClock, systemClock, recall);
  using model = new ScriptedModel(() => 'Hello again.');
  for (const known of [true, false]) {
    const hook = hooks.create(CALL);
    expect(textOf(await actionsOf(hook, turnOf({ kind: 'start' }, 0)))).toBe('Hello again.');
    expect(model.last('system').includes('Bought a lamp.')).toBe(known);
    await hook.dispose?.();
  }
  expect(asked[0]).toEqual({ tenantId: 'acme', botName: 'desk', number: CALL.from, ...memory });
});

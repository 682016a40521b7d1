import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { loadBots, readBotText } from '../../../src/config/bot-files.ts';
import { versionKey } from '../../../src/config/bot-trials.ts';
import { keepDraft, publishVersion, revisionOf } from '../../../src/config/bot-versions.ts';
import { BotHealth } from '../../../src/dialog/bot-health.ts';
import { BotsOfCalls } from '../../../src/hosts/loaded-bots.ts';
import type { BusinessEvents } from '../../../src/observability/events.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const botOf = (words: string): string => `name: desk
default: true
voice: anna
dialog: { kind: flow, flow: { start: greet, states: { greet: { say: ${words}, hangup: done } } } }
`;

function desk() {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-loaded-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'desk.yaml');
  writeFileSync(file, botOf('One.'));
  const publish = (text: string, percent?: number): Promise<number> => {
    const [base, id] = [revisionOf(readFileSync(file, 'utf8')), revisionOf(text)];
    return publishVersion(file, { base, text, id, replacedId: base, author: 'anna', note: '', atMs: 0, percent });
  };
  const clock = new ManualClock();
  const health = new BotHealth({ clock, logger: silentLogger });
  const bots = new BotsOfCalls({ clock, logger: silentLogger, events: {} as BusinessEvents, health, placesCalls: () => false });
  onTestFinished(() => health[Symbol.dispose]());
  const reload = async (): Promise<void> => bots.use(await bots.load(loadBots(folder).bots));
  return { bots, file, folder, publish, reload };
}

const greetingOf = (bot: unknown): string | undefined => /say":"(\w+)\./u.exec(JSON.stringify(bot))?.[1];

it('loads a version with a share of the calls beside the current one, each with a dialog of its own', async () => {
  const { bots, publish, reload } = desk();
  await publish(botOf('Two.'), 20);
  await reload();
  const { hooks, dialogs, bots: loaded } = bots.loaded;
  const trial = loaded[0]?.trial?.bot;
  if (trial === undefined) throw new Error('no version has a share');
  expect([...hooks.keys()]).toEqual(['desk', versionKey(trial)]);
  expect([...dialogs].map(([, dialog]) => dialog.fixedPrompts()[0])).toEqual(['One.', 'Two.']);
  expect(await bots.versionOf('desk', trial.version)).toBe(trial);
});

it('has a call go on in the version that it began with, after two more were published and the gateway was restarted', async () => {
  const { bots, publish, reload } = desk();
  await reload();
  const began = bots.loaded.bots[0]?.version;
  await publish(botOf('Two.'));
  await publish(botOf('Three.'));
  await reload();
  const earlier = await bots.versionOf('desk', began);
  expect([earlier?.version, greetingOf(earlier)]).toEqual([began, 'One']);
  if (earlier === undefined) throw new Error('the version is gone');
  expect(bots.loaded.hooks.has(versionKey(earlier))).toBe(true);
  expect(greetingOf(await bots.versionOf('desk', 'a version of nobody'))).toBe('Three');
  expect(await bots.versionOf('another', began)).toBeUndefined();
});

it('loads drafts that were kept for a call, and keeps the latest twenty of them loaded', async () => {
  const { bots, file, folder, reload } = desk();
  await reload();
  const ids = Array.from({ length: 21 }, (_, at) => {
    const text = botOf(`Draft${at}.`);
    const id = readBotText(text, folder, file, {}).bot?.version ?? '';
    keepDraft(file, id, text);
    return id;
  });
  const kept = ids.slice(1);
  for (const [at, id] of kept.entries()) expect(greetingOf(await bots.versionOf('desk', id))).toBe(`Draft${at + 1}`);
  keepDraft(file, ids[0] ?? '', botOf('Draft0.'));
  expect(greetingOf(await bots.versionOf('desk', ids[0]))).toBe('Draft0');
  expect(bots.loaded.hooks.has(versionKey({ name: 'desk', version: ids[0] ?? '' }))).toBe(true);
  expect(bots.loaded.hooks.has(versionKey({ name: 'desk', version: ids[1] ?? '' }))).toBe(false);
  expect(bots.loaded.hooks.size).toBe(21);
});

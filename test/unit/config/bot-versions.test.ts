import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { loadBots, readBotText } from '../../../src/config/bot-files.ts';
import { reachProblems } from '../../../src/config/bot-reach.ts';
import { versionForCall, withTrials } from '../../../src/config/bot-trials.ts';
import {
  BotVersionsError,
  currentVersion,
  keepDraft,
  publishVersion,
  readVersions,
  restoreVersion,
  revisionOf,
  shareVersion,
  versionText,
} from '../../../src/config/bot-versions.ts';
import { thorough } from '../../support/thorough.ts';

const botOf = (greeting: string): string => `name: desk
default: true
voice: anna
dialog: { kind: llm, baseUrl: 'https://models.example/v1', model: small, instructions: Help., greeting: ${greeting} }
`;

function botFile(): { readonly folder: string; readonly file: string } {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-versions-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'desk.yaml');
  writeFileSync(file, botOf('Hello.'));
  return { folder, file };
}

const readFile = (file: string): string => readFileSync(file, 'utf8');
const publish = (file: string, text: string, more: { base?: string; percent?: number } = {}): Promise<number> =>
  publishVersion(file, {
    base: more.base ?? revisionOf(readFile(file)),
    text,
    id: revisionOf(text),
    replacedId: revisionOf(readFile(file)),
    author: 'console anna',
    note: 'New words',
    atMs: 0,
    percent: more.percent,
  });

it('keeps what was there before as the first version, and gives new calls the second', async () => {
  const { folder, file } = botFile();
  expect(await publish(file, botOf('Good day.'))).toBe(2);
  const index = readVersions(file);
  expect(index.versions.map(({ number, author }) => [number, author])).toEqual([
    [1, 'file'],
    [2, 'console anna'],
  ]);
  expect(versionText(file, 1)).toBe(botOf('Hello.'));
  expect(currentVersion(file, index)?.number).toBe(2);
  const [bot] = loadBots(folder).bots;
  expect(bot?.version).toBe(index.versions[1]?.id);
  expect(bot?.earlier?.(index.versions[0]?.id ?? '')).toMatchObject({ dialog: { greeting: 'Hello.' } });
});

it('overwrites no change that the editor has not seen, and loses none by hand', async () => {
  const { file } = botFile();
  const base = revisionOf(readFile(file));
  writeFileSync(file, botOf('By hand.'));
  await expect(publish(file, botOf('Mine.'), { base })).rejects.toMatchObject({ reason: 'changed' });
  await publish(file, botOf('Mine.'));
  expect(versionText(file, 1)).toBe(botOf('By hand.'));
});

it('refuses versions that are not there, and a list that is damaged', async () => {
  const { folder, file } = botFile();
  const facts = { author: 'console anna', atMs: 0, replacedId: '' };
  await expect(restoreVersion(file, 7, facts)).rejects.toBeInstanceOf(BotVersionsError);
  await expect(shareVersion(file, 7, 20)).rejects.toMatchObject({ reason: 'unknown' });
  mkdirSync(join(folder, 'versions/desk'), { recursive: true });
  writeFileSync(join(folder, 'versions/desk/index.yaml'), 'share: { version: 3, percent: 20 }\nversions: []\n');
  const { bots, problems } = loadBots(folder);
  expect(bots).toHaveLength(1);
  expect(problems[0]?.message).toMatch(/is not among the versions/u);
});

const change = fc.oneof(
  fc.record({ do: fc.constant('publish' as const), words: fc.constantFrom('One.', 'Two.', 'Three.', 'Four.') }),
  fc.record({
    do: fc.constant('share' as const),
    words: fc.constantFrom('Five.', 'Six.'),
    percent: fc.integer({ min: 1, max: 99 }),
  }),
  fc.record({ do: fc.constant('restore' as const), number: fc.integer({ min: 1, max: 6 }) }),
  fc.record({
    do: fc.constant('reshare' as const),
    number: fc.integer({ min: 1, max: 6 }),
    percent: fc.integer({ min: 0, max: 99 }),
  }),
  fc.record({ do: fc.constant('by-hand' as const), words: fc.constantFrom('Hand one.', 'Hand two.') }),
);

it('leaves a valid current version after any changes, and every call can go on in its own', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 8 }), async (changes) => {
      const { folder, file } = botFile();
      const begun = new Map<string, string>();
      for (const [step, each] of changes.entries()) {
        const refused = (error: unknown): void => expect(error).toMatchObject({ reason: 'unknown' });
        const facts = { author: 'console anna', atMs: 0, replacedId: revisionOf(readFile(file)) };
        if (each.do === 'publish') await publish(file, botOf(each.words));
        if (each.do === 'share') await publish(file, botOf(each.words), { percent: each.percent });
        if (each.do === 'restore') await restoreVersion(file, each.number, facts).catch(refused);
        if (each.do === 'reshare') await shareVersion(file, each.number, each.percent).catch(refused);
        if (each.do === 'by-hand') writeFileSync(file, botOf(each.words));
        const { bots, problems } = loadBots(folder);
        expect(problems).toEqual([]);
        const [bot] = bots;
        if (bot === undefined) throw new Error('no bot is left');
        const index = readVersions(file);
        const isByHand = currentVersion(file, index) === undefined;
        expect(isByHand).toBe(index.versions.every(({ number }) => versionText(file, number) !== readFile(file)));
        const chosen = versionForCall(bot, `call_${step}`);
        expect(withTrials(bots)).toContain(chosen);
        expect(versionForCall(bot, `call_${step}`)).toBe(chosen);
        const isPublished = index.versions.some(({ id }) => id === chosen.version);
        if (isPublished) begun.set(chosen.version ?? '', JSON.stringify(chosen.dialog));
        for (const [version, dialog] of begun)
          expect(JSON.stringify(bot.version === version ? bot.dialog : bot.earlier?.(version)?.dialog)).toBe(dialog);
      }
    }),
    { numRuns: thorough(12, 500) },
  );
});

it('keeps drafts for calls with them, the last twenty, beside versions that they do not become', () => {
  const { folder, file } = botFile();
  const idOf = (text: string): string => readBotText(text, folder, file, {}).bot?.version ?? '';
  const [bot] = loadBots(folder).bots;
  const texts = Array.from({ length: 21 }, (_, at) => botOf(`Hello ${at}.`));
  for (const text of texts) keepDraft(file, idOf(text), text);
  const last = texts.at(-1) ?? '';
  expect(bot?.earlier?.(idOf(last))).toMatchObject({ name: 'desk', version: idOf(last), file });
  expect(readdirSync(join(folder, 'versions', 'desk', 'drafts'))).toHaveLength(20);
  expect(bot?.earlier?.('0123456789ab')).toBeUndefined();
  // A draft whose file was changed is not what was asked for.
  keepDraft(file, idOf(last), texts[1] ?? '');
  expect(bot?.earlier?.(idOf(last))).toBeUndefined();
  expect(readVersions(file).versions).toEqual([]);
});

it('gives a version its share of the calls, whichever calls they are', async () => {
  const { folder, file } = botFile();
  await publish(file, botOf('Tried.'), { percent: 20 });
  const [bot] = loadBots(folder).bots;
  if (bot === undefined) throw new Error('there is no bot');
  const tried = Array.from({ length: 2_000 }, (_, index) => versionForCall(bot, `call_${index}`)).filter((each) => each !== bot);
  expect(bot.dialog).toMatchObject({ greeting: 'Hello.' });
  expect(tried[0]?.dialog).toMatchObject({ greeting: 'Tried.' });
  expect(tried.length / 2_000).toBeGreaterThan(0.17);
  expect(tried.length / 2_000).toBeLessThan(0.23);
});

it.each([
  { note: 'a greeting', after: { dialog: { greeting: 'Hi.', secretEnv: 'KEY' } }, keys: [] },
  {
    note: 'the name of a secret',
    after: { dialog: { greeting: 'Hello.', secretEnv: 'OFFHOOK_MASTER_KEY' } },
    keys: ['dialog.secretEnv'],
  },
  { note: 'a tool', after: { dialog: { greeting: 'Hello.', secretEnv: 'KEY', tools: [{}] } }, keys: ['dialog.tools'] },
  {
    note: 'a setting of a later release',
    after: { dialog: { greeting: 'Hello.', secretEnv: 'KEY' }, mcp: { url: 'x' } },
    keys: ['mcp.url'],
  },
  { note: 'the tenant', after: { dialog: { greeting: 'Hello.', secretEnv: 'KEY' }, tenant: 'other' }, keys: ['tenant'] },
])('lets an editor change words and not where a bot reaches: $note', ({ after, keys }) => {
  const before = { dialog: { greeting: 'Hello.', secretEnv: 'KEY' } };
  expect(reachProblems(before, after, () => 'desk.yaml:1').map(({ key }) => key)).toEqual(keys);
});

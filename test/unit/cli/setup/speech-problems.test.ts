import { expect, it } from 'vitest';
import { z } from 'zod';
import { botSettings } from '../../../../src/config/bots.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import { problemText } from '../../../../src/config/problem.ts';
import { speechProblems } from '../../../../src/cli/setup/speech-problems.ts';
import { SpeechAuthError } from '../../../../src/speech/client/errors.ts';
import { PLATFORM_RECOGNITION } from '../../../../src/speech/platform-capabilities.ts';
import type { SpeechVendor } from '../../../../src/speech/vendors/vendor.ts';

const vendor = (name: string, isConfigured: boolean): SpeechVendor => ({
  name,
  title: `The ${name}`,
  settings: z.object({}),
  secrets: z.object({}),
  services: ['recognition'],
  prices: [],
  needs: `${name.toUpperCase()}_API_KEY`,
  open: () =>
    !isConfigured
      ? undefined
      : {
          recogniser: {
            capabilities: { ...PLATFORM_RECOGNITION, languages: new Set(['en']) },
            open: () => {
              throw new Error('nothing is opened for a check');
            },
          },
          synthesizer: undefined,
          [Symbol.asyncDispose]: async () => undefined,
        },
});

async function problemsOf(
  bot: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>> = {},
  more: readonly SpeechVendor[] = [],
): Promise<string[]> {
  const config = loadConfig({ env, files: [] });
  const vendors = [vendor('acme', true), vendor('zeta', false), ...more];
  const adapters = new Map(vendors.map(({ name }) => [name, { settings: {}, secrets: {} }]));
  const settings = botSettings.parse({ name: 'clinic', voice: 'x', dialog: { kind: 'module', file: 'x.js' }, ...bot });
  const problems = await speechProblems({ ...config, vendors: adapters }, [{ ...settings, folder: '.' }], vendors);
  return problems.map((problem) => problemText(problem));
}

it.each([
  { note: 'the speech platform alone', bot: {}, text: [] },
  { note: 'a configured vendor', bot: { speech: { recogniser: ['acme', 'platform'], voices: { acme: 'ann' } } }, text: [] },
  {
    note: 'a misspelt name',
    bot: { speech: { recogniser: 'acmee' } },
    text: ['speech.recogniser (bot clinic) is "acmee": is no speech vendor; there are platform, acme, zeta. Did you mean acme?'],
  },
  {
    note: 'a vendor without its key, for one language',
    bot: { speech: { languages: { hi: { synthesizer: ['platform', 'zeta'] } } } },
    text: ['speech.languages.hi.synthesizer (bot clinic) is "zeta": The zeta is not configured: it needs ZETA_API_KEY.'],
  },
  {
    note: 'a vendor that does not speak',
    bot: { speech: { synthesizer: 'acme' } },
    text: ['speech.synthesizer (bot clinic) is "acme": The acme speaks nothing as it is configured: it needs ACME_API_KEY.'],
  },
  {
    note: 'a language that nobody recognises',
    bot: { language: 'hi-IN', speech: { recogniser: 'acme' } },
    text: ['warning: language (bot clinic) is "hi-IN": is not among the languages that are recognised by acme.'],
  },
  {
    note: 'the voice of no vendor',
    bot: { speech: { voices: { platfrom: 'Nisha' } } },
    text: [
      'speech.voices (bot clinic) is "platfrom": is no speech vendor; there are platform, acme, zeta. Did you mean platform?',
    ],
  },
])('says what is wrong with $note', async ({ bot, text }) => {
  expect(await problemsOf(bot)).toEqual(text);
});

it('says where a setting names no vendor', async () => {
  expect(await problemsOf({}, { OFFHOOK_SPEECH__RECOGNISER: 'platform,acne' })).toEqual([
    'speech.recogniser (OFFHOOK_SPEECH__RECOGNISER) is "acne": is no speech vendor; there are platform, acme, zeta. Did you mean acme?',
  ]);
});

it.each([
  { note: 'warns of one that nobody uses', bot: {}, env: {}, text: ['warning: rusty: the key is wrong; no bot uses it.'] },
  {
    note: 'refuses one that a bot uses',
    bot: { speech: { recogniser: ['acme', 'rusty'] } },
    env: {},
    text: ['rusty: the key is wrong.'],
  },
  {
    note: 'refuses one that the settings name',
    bot: { speech: { synthesizer: 'platform' } },
    env: { OFFHOOK_SPEECH__SYNTHESIZER: 'rusty' },
    text: ['rusty: the key is wrong.'],
  },
])('of the vendors that cannot be opened $note', async ({ bot, env, text }) => {
  const open = (): never => {
    throw new SpeechAuthError('the key is wrong');
  };
  expect(await problemsOf(bot, env, [{ ...vendor('rusty', true), open }])).toEqual(text);
});

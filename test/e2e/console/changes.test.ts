import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadBots } from '../../../src/config/bot-files.ts';
import type { ModelOrders } from '../../../src/http/api/settings/settings-orders.ts';
import { BotFolder } from '../../../src/hosts/bot-orders.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { type GatewayBench, startGatewayBench } from '../../integration/hosts/gateway-bench.ts';
import { eventually } from '../../support/eventually.ts';
import { chromiumProgram, type ConsoleBrowser, startConsoleBrowser } from '../../support/console.ts';

const DESK = `# The front desk.
name: front-desk
default: true
voice: anna
dialog:
  kind: flow
  flow:
    start: greet
    slots:
      want: { kind: choice, options: { book: { phrases: [book, booking] }, ask: { phrases: [question] } } }
    states:
      greet: { say: Welcome to the clinic., ask: { slot: want, prompt: Booking or question? }, next: { book: done, ask: done } }
      done: { say: Thank you., hangup: done }
`;

const SUITE = `scenarios:
  - { name: asks which of the two, caller: { turns: [book] }, expect: { end: done, hears: ['Booking or question?'] } }
  - { name: thanks, caller: { turns: [book] }, expect: { end: done, hears: [Thank you.] } }
`;

const MODEL = {
  role: 'recognition',
  languages: ['en'],
  licence: 'MIT',
  licenceFrom: 'https://models.example/licence',
  note: undefined,
  isInstalled: false,
  usedFor: [],
  wordErrors: undefined,
  measured: undefined,
};
const ALERTS = `
channels:
  - { kind: webhook, name: ops, url: 'https://127.0.0.1:9/alerts', secretEnv: ALERTS_SECRET }
  - { kind: slack, name: team, urlEnv: SLACK_URL }
rules:
  - { name: Something is wrong, figure: problems, above: -1, severity: warning }
  - { name: Slow replies, figure: reply-p95-ms, above: 2500, bot: front-desk, channels: [team] }
`;

const SETTINGS = {
  check: async () => [
    { name: 'data folder', ok: true, detail: '41.2 GB are free', ms: 1 },
    { name: 'Twilio', ok: false, detail: 'answers 401', advice: 'set TWILIO_AUTH_TOKEN', ms: 20 },
  ],
  models: {
    list: async () => [
      {
        ...MODEL,
        name: 'tiny-en',
        title: 'Tiny, English',
        bytes: 56_369_045,
        isInstalled: true,
        usedFor: ['en'],
        wordErrors: { percent: 12.4, recordings: 269, words: 1_238, on: '2026-11-28' },
        measured: '113 MB; 43 ms of a core for a second of audio',
      },
      { ...MODEL, name: 'large-en', title: 'Large, English', bytes: 475_000_000, note: 'large for a machine that carries calls' },
      {
        ...MODEL,
        name: 'voice-hi',
        title: 'A voice, Hindi',
        role: 'voice',
        languages: ['hi'],
        bytes: 64_000_000,
        isInstalled: true,
      },
    ],
    async get(name: string, { onProgress, signal }: Parameters<NonNullable<ModelOrders['get']>>[1]) {
      if (name === 'voice-hi') throw new Error('voice-hi is no voice model of the kind vits');
      onProgress({ step: 'download', done: 190_000_000, all: 475_000_000 });
      await new Promise((_resolve, reject) => signal.addEventListener('abort', reject));
    },
  },
};

describe.runIf(chromiumProgram !== undefined)('bots and settings changed in the console', () => {
  const root = mkdtempSync(join(tmpdir(), 'offhook-console-editing-'));
  const folder = join(root, 'bots');
  const file = join(folder, 'front-desk.yaml');
  const alerts = `${folder}-alerts.yaml`;
  let bench: GatewayBench;
  let browser: ConsoleBrowser;
  const target = () => ({ url: bench.gateway.url, dataDir: bench.dataDir });

  beforeAll(async () => {
    mkdirSync(folder);
    writeFileSync(file, DESK);
    writeFileSync(alerts, ALERTS);
    const alertsEnv = {
      OFFHOOK_ALERTS__FILE: alerts,
      ALERTS_SECRET: 'a secret of the channel ops',
      SLACK_URL: 'https://127.0.0.1:9/services/T0-secret',
    };
    const botFiles = new BotFolder(async (draft) => loadBots(folder, {}, draft), systemClock);
    const { bots } = await botFiles.files();
    [bench, browser] = await Promise.all([
      startGatewayBench({ clock: systemClock, bots, botFiles, settings: SETTINGS, env: alertsEnv }),
      startConsoleBrowser(),
    ]);
  });

  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await bench[Symbol.asyncDispose]();
    rmSync(root, { recursive: true });
  });

  /** Clicks as a person would, counted. */
  function clicker(page: Page) {
    let clicks = 0;
    return {
      click: async (role: 'link' | 'button' | 'tab', name: string | RegExp, exact = false): Promise<void> => {
        clicks += 1;
        await page.getByRole(role, { name, exact }).first().click();
      },
      into: async (label: string): Promise<void> => {
        clicks += 1;
        await page.getByLabel(label, { exact: true }).click();
      },
      get clicks() {
        return clicks;
      },
    };
  }

  it('changes a greeting and publishes it with six clicks, and compares two versions with three', async () => {
    await using opened = await browser.open(target(), 'operator', '/calls');
    const { page, complaints, foreign } = opened;
    const hand = clicker(page);
    await hand.click('link', 'Bots', true);
    await hand.click('link', 'front-desk');
    await hand.click('link', 'Edit', true);
    await hand.into('Greeting: say');
    await page.getByLabel('Greeting: say', { exact: true }).fill('Good day, this is the clinic.');
    await page.getByText('2 changed lines').waitFor();
    await opened.lookOver('bot-edit');
    await hand.click('button', '5. Publish');
    await page.getByLabel('What changed?').fill('Warmer words');
    await hand.click('button', 'Publish', true);
    await page.getByText('Version 2 is published.').waitFor();
    expect(hand.clicks).toBeLessThanOrEqual(6);
    expect(readFileSync(file, 'utf8')).toBe(DESK.replace('Welcome to the clinic.', '"Good day, this is the clinic."'));

    await page.goto(`${target().url}/console/calls`);
    const other = clicker(page);
    await other.click('link', 'Bots', true);
    await other.click('link', 'front-desk');
    await other.click('tab', 'Versions');
    const diff = page.getByLabel('Differences of version 1 and version 2');
    await diff.waitFor();
    expect(await diff.textContent()).toMatch(/−.*Welcome to the clinic\..*\+.*Good day, this is the clinic\./su);
    await page.getByText('Warmer words').waitFor();
    await opened.lookOver('bot-versions');
    expect(other.clicks).toBeLessThanOrEqual(4);
    expect(complaints).toEqual([]);
    expect(foreign).toEqual([]);
  });

  it('edits the file as YAML, with completion and problems in their lines, and chats with the draft', async () => {
    await using opened = await browser.open(target(), 'operator', '/bots/front-desk/edit');
    const { page, complaints } = opened;
    await page.getByText('YAML', { exact: true }).click();
    const editor = page.getByRole('textbox', { name: 'The bot’s file in YAML' });
    await editor.waitFor();
    await editor.press('Control+End');
    await editor.pressSequentially('endp');
    await page.getByRole('option', { name: /^endpointingMs/u }).click();
    await editor.pressSequentially('soon');
    await page.getByText('Line 14, endpointingMs').waitFor();
    await page.locator('.cm-lint-marker-error').waitFor();
    await opened.lookOver('bot-yaml');
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard changes' }).click();
    await page.getByText('No changes').waitFor();
    await page.getByText('Forms', { exact: true }).click();
    await page.getByLabel('ask prompt', { exact: true }).fill('What can we do for you?');
    await page.getByRole('button', { name: '1. Check' }).click();
    await page.getByText('✓ No problem was found').waitFor();
    await page.getByRole('button', { name: 'Begin a chat' }).click();
    await page.getByRole('log').getByText('What can we do for you?').waitFor();
    expect(readFileSync(file, 'utf8')).not.toContain('What can we do for you?');
    await page.getByRole('button', { name: 'Language' }).click();
    await page.getByRole('menuitem', { name: 'हिन्दी' }).click();
    await page.getByRole('heading', { name: 'front-desk बदलें' }).waitFor();
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await opened.lookOver('bot-edit-hindi');
    expect(complaints).toEqual([]);
  });

  it('talks to a draft, whose call is a rehearsal', async () => {
    await using opened = await browser.open(target(), 'operator');
    const { page, complaints, foreign } = opened;
    // A microphone that is silent.
    await page.addInitScript(() => {
      Object.defineProperty(navigator.mediaDevices, 'getUserMedia', {
        value: async () => new AudioContext().createMediaStreamDestination().stream,
      });
    });
    await page.goto(`${target().url}/console/bots/front-desk/edit`);
    await page.getByLabel('ask prompt', { exact: true }).fill('Which of the two?');
    await page.getByRole('button', { name: '3. Talk' }).click();
    await page.getByText('This draft answers.').waitFor();
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await page.getByRole('log', { name: 'Conversation' }).getByText('Which of the two?').waitFor();
    await opened.lookOver('bot-talk');
    await page.getByRole('button', { name: 'Hang up' }).click();
    await page.getByText('You hung up.').first().waitFor();
    const link = page.getByRole('link', { name: 'Open this call' });
    const callId = (await link.getAttribute('href'))?.split('/').at(-1) ?? '';
    const ended = async () => (await bench.gateway.backlog.store.calls.get('default', callId))?.endReason === 'caller-hangup';
    await eventually('the record', ended);
    await link.click();
    await page.getByText('A rehearsal: a person of the console talked to a draft of the bot.').waitFor();
    expect(readFileSync(file, 'utf8')).not.toContain('Which of the two?');
    expect(complaints).toEqual([]);
    expect(foreign).toEqual([]);
  });

  it('runs the suite with a draft and shows what got worse, beside the steps', async () => {
    mkdirSync(join(root, 'evals'));
    writeFileSync(join(root, 'evals', 'front-desk.yaml'), SUITE);
    await using opened = await browser.open(target(), 'operator', '/bots/front-desk/edit');
    const { page, complaints } = opened;
    await page.getByLabel('ask prompt', { exact: true }).fill('What can we do?');
    await page.getByRole('button', { name: '4. Evals' }).click();
    await page.getByRole('button', { name: 'Run the evals' }).click();
    await page.getByText('1 of 2 passed · 1 worse than the published version · 0 better').waitFor();
    const row = page.getByRole('row', { name: /asks which of the two/u });
    expect(await row.textContent()).toBe('asks which of the twoworsefailedpassed');
    await opened.lookOver('bot-eval');
    await page.getByRole('link', { name: 'Open with transcripts' }).click();
    await page.getByText('a draft beside the published version').waitFor();
    await page.getByRole('region', { name: 'asks which of the two' }).getByText('passed before').waitFor();
    expect(complaints).toEqual([]);
  });

  it('rolls back and shares from the list of versions, and shows a viewer no way to edit', async () => {
    await using opened = await browser.open(target(), 'admin', '/bots/front-desk');
    const { page } = opened;
    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByRole('button', { name: 'Share' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Share' }).click();
    await page.getByText('20 % of new calls').waitFor();
    await page.getByRole('button', { name: 'Use this version' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Use this version' }).click();
    await page.getByText('20 % of new calls').waitFor({ state: 'detached' });
    expect(readFileSync(file, 'utf8')).toBe(DESK);
    await using viewed = await browser.open(target(), 'viewer', '/bots/front-desk');
    await viewed.page.getByRole('tab', { name: 'Versions' }).click();
    await viewed.page.getByText('Warmer words').waitFor();
    expect(await viewed.page.getByRole('link', { name: 'Edit' }).count()).toBe(0);
    expect(await viewed.page.getByRole('button', { name: 'Use this version' }).count()).toBe(0);
  });

  it('makes an API key with three clicks, shows it once, and revokes it', async () => {
    await using opened = await browser.open(target(), 'admin', '/calls');
    const { page, complaints, foreign } = opened;
    const hand = clicker(page);
    await hand.click('link', 'Settings', true);
    await hand.click('button', 'Make a key');
    await page.getByLabel('Name').fill('crm');
    await opened.lookOver('settings-make-key');
    await hand.click('button', 'Make it');
    await page.getByText('Shown once: copy it now.').waitFor();
    expect(hand.clicks).toBeLessThanOrEqual(4);
    const key = (await page.getByText(/^ohk_/u).textContent()) ?? '';
    const answer = await fetch(`${target().url}/api/calls`, { headers: { authorization: `Bearer ${key}` } });
    expect(answer.status).toBe(200);
    await opened.lookOver('settings-keys');
    await page.getByRole('button', { name: 'I have it' }).click();
    expect(await page.content()).not.toContain(key);
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('There is no key').waitFor();
    expect(complaints).toEqual([]);
    expect(foreign).toEqual([]);
  });

  it('adds a webhook endpoint, adds a member, runs checks, and shows models, in Hindi too', async () => {
    await using opened = await browser.open(target(), 'admin', '/settings/webhooks');
    const { page, complaints } = opened;
    await page.getByRole('button', { name: 'Add an endpoint' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('crm');
    await dialog.getByLabel('Address (https)').fill('https://127.0.0.1:9/hook');
    await dialog.getByRole('button', { name: 'Add it' }).click();
    await page.getByText(/^whsec_/u).waitFor();
    await page.getByRole('button', { name: 'Test: crm' }).click();
    await page.getByText('It failed: the address of a webhook endpoint is not public').waitFor();
    await opened.lookOver('settings-webhooks');
    await page.getByRole('tab', { name: 'Members and roles' }).click();
    await page.getByRole('button', { name: 'Add a person' }).click();
    await page.getByRole('dialog').getByLabel('Name or e-mail address').fill('Anna');
    await page.getByRole('dialog').getByRole('button', { name: 'Add and make a link' }).click();
    await page.getByText(/#code=/u).waitFor();
    const anna = page.getByRole('row', { name: /^Anna/u });
    await anna.getByRole('button', { name: 'Change role' }).click();
    await opened.lookOver('settings-members-role');
    await page.getByRole('dialog').getByLabel('Role').click();
    await page.getByRole('option', { name: 'operator' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Change it' }).click();
    await page.getByRole('row', { name: /^Anna operator/u }).waitFor();
    const link = await page.getByText(/#code=/u).textContent();
    await opened.lookOver('settings-members');
    await page.getByRole('tab', { name: 'Numbers and carriers' }).click();
    await page.getByRole('button', { name: 'Run the checks' }).click();
    await page.getByText('answers 401 → set TWILIO_AUTH_TOKEN').waitFor();
    await opened.lookOver('settings-carriers');
    await page.getByRole('tab', { name: 'Speech' }).click();
    await page.getByRole('heading', { name: 'Vendors' }).waitFor();
    await page.getByRole('button', { name: 'Language' }).click();
    await page.getByRole('menuitem', { name: 'हिन्दी' }).click();
    await page.getByRole('heading', { name: 'सेटिंग' }).waitFor();
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await opened.lookOver('settings-speech-hindi');
    expect(complaints).toEqual([]);
    await page.context().clearCookies();
    await page.goto(link ?? '');
    await page.getByRole('button', { name: /Anna/u }).waitFor();
    // The link gives the role of now, and a removed member's session is over.
    expect(await (await page.request.get(`${target().url}/api/session`)).json()).toMatchObject({ user: { role: 'operator' } });
    await using admin = await browser.open(target(), 'admin', '/settings/members');
    await admin.page.getByRole('row', { name: /^Anna/u }).getByRole('button', { name: 'Remove' }).click();
    await admin.page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await admin.page.getByText('Nobody was added yet.').waitFor();
    expect((await page.request.get(`${target().url}/api/calls`)).status()).toBe(401);
  });

  it('tries a sentence, gets a model with its progress, cancels it, and says why another failed', async () => {
    await using opened = await browser.open(target(), 'admin', '/settings/models');
    const { page, complaints, foreign } = opened;
    await page.getByLabel('Sentence', { exact: true }).fill('Good day to you.');
    await page.getByRole('button', { name: 'Speak and recognise' }).click();
    const trial = page.getByRole('region', { name: 'Try a sentence' });
    await trial.getByText('platform spoke; its first sound came after').or(trial.getByRole('alert')).waitFor();
    expect(await trial.getByRole('alert').allInnerTexts()).toEqual([]);
    await trial.getByText(/^Heard: /u).waitFor();
    await opened.lookOver('settings-models');
    await page.getByRole('button', { name: 'Get large-en' }).click();
    await page.getByRole('dialog').getByText('475 MB come from the internet').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Get' }).click();
    await page.getByText('Getting large-en downloading 40 %').waitFor();
    expect(await page.getByRole('button', { name: 'Use voice-hi' }).isDisabled()).toBe(true);
    await opened.lookOver('settings-models-getting');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('large-en was cancelled.').waitFor();
    await page.getByRole('button', { name: 'Use voice-hi' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Use' }).click();
    await page.getByText('voice-hi could not be got: voice-hi is no voice model of the kind vits').waitFor();
    expect([...complaints, ...foreign]).toEqual([]);
  });

  it('shows alert rules with their figures, and sends a test with its outcome in place, in Hindi too', async () => {
    await using opened = await browser.open(target(), 'admin', '/settings/alerts');
    const { page, complaints } = opened;
    await page
      .getByRole('row', { name: /^Slow replies · front-desk Slowest 5 % of replies above 2\.5 s, in 15 min – not known/u })
      .waitFor();
    await page.getByRole('button', { name: 'Send a test: ops' }).click();
    await page
      .getByRole('table', { name: 'Channels' })
      .getByText(/^It failed: the address .* not public/u)
      .waitFor();
    await page.getByRole('row', { name: /A test ops failed/u }).waitFor();
    expect(await page.content()).not.toContain('T0-secret');
    await opened.lookOver('settings-alerts');
    await page.getByRole('button', { name: 'Language' }).click();
    await page.getByRole('menuitem', { name: 'हिन्दी' }).click();
    await page.getByRole('heading', { name: 'नवीनतम सूचनाएँ' }).waitFor();
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await opened.lookOver('settings-alerts-hindi');
    expect(complaints).toEqual([]);
  });
});

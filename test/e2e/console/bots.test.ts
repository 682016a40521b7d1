import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { botProblems } from '../../../src/cli/setup/bot-problems.ts';
import { loadBots } from '../../../src/config/bot-files.ts';
import { BotFolder } from '../../../src/hosts/bot-orders.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { type GatewayBench, startGatewayBench } from '../../integration/hosts/gateway-bench.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { chromiumProgram, type ConsoleBrowser, startConsoleBrowser } from '../../support/console.ts';
import { Destinations } from '../../../src/config/destinations.ts';

const DESK = `name: front-desk
default: true
voice: anna
dialog:
  kind: flow
  flow:
    start: greet
    slots:
      want: { kind: choice, options: { book: { phrases: [book, booking] }, ask: { phrases: [question] } } }
      day: { kind: day }
    states:
      greet:
        say: Welcome to the clinic.
        ask: { slot: want, prompt: Booking or question? }
        next: { book: ask-day, ask: person }
      ask-day: { ask: { slot: day, prompt: Which day? }, next: booked }
      booked: { say: You are booked., hangup: booked }
      person: { say: One moment., transfer: "+15550100123" }
`;

describe.runIf(chromiumProgram !== undefined)('bots in the console', () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-console-bots-'));
  const file = join(folder, 'front-desk.yaml');
  let bench: GatewayBench;
  let browser: ConsoleBrowser;
  const target = () => ({ url: bench.gateway.url, dataDir: bench.dataDir });

  beforeAll(async () => {
    writeFileSync(file, DESK);
    const known = {
      voices: undefined,
      spoken: new Set(['en']),
      recognised: undefined,
      hasControl: true,
      destinationsOf: () => Destinations.anywhere,
      isPlatform: () => false,
    };
    const botFiles = new BotFolder(async () => {
      const { bots, problems } = loadBots(folder);
      return { bots, problems: [...problems, ...(await botProblems(bots, known))] };
    }, systemClock);
    const { bots } = await botFiles.files();
    [bench, browser] = await Promise.all([startGatewayBench({ clock: systemClock, bots, botFiles }), startConsoleBrowser()]);
    const startedAtMs = Date.now() - 3_600_000;
    const turn = { callerText: '', botText: '', botHeardText: '', interrupted: false, latencies: { total: 640 }, startedAtMs };
    const call = (id: string, endReason: string, steps: readonly string[]) =>
      callRecordOf({
        id,
        botName: 'front-desk',
        botVersion: bots[0]?.version,
        startedAtMs,
        endedAtMs: startedAtMs + 30_000,
        endReason,
        turns: steps.map((step, index) => ({ ...turn, index, inputKind: index === 0 ? 'start' : 'spoken', steps: [step] })),
      });
    const seeded = [
      ...Array.from({ length: 12 }, (_, index) => call(`call_booked${index}`, 'booked', ['greet', 'ask-day', 'booked'])),
      ...Array.from({ length: 7 }, (_, index) => call(`call_lost${index}`, 'caller-hangup', ['greet', 'ask-day'])),
      call('call_person', 'transferred', ['greet', 'person']),
    ];
    await bench.gateway.backlog.store.calls.upsertMany(seeded);
  });

  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await bench[Symbol.asyncDispose]();
  });

  it('shows where callers drop, and who they were', async () => {
    await using opened = await browser.open(target(), 'operator', '/bots');
    const { page, complaints, foreign } = opened;
    await page.getByText('✓ Sound').waitFor();
    await opened.lookOver('bots');
    await page.getByRole('link', { name: 'front-desk' }).click();
    await page.getByText('20 calls', { exact: true }).waitFor();
    const asking = page.getByRole('button', { name: /^ask-day: asks day, 19 calls, 7 left$/u });
    await asking.focus();
    await asking.press('Enter');
    const details = page.getByRole('region', { name: 'Step ask-day' });
    await details.getByText('“Which day?”').waitFor();
    expect(await details.getByText('Caller hung up (caller-hangup)').textContent()).toMatch(/^7/u);
    expect(await details.getByRole('link', { name: 'call_lost' }).first().getAttribute('href')).toMatch(/\/calls\/call_lost\d$/u);
    await opened.lookOver('bot-flow');
    await page.getByText('Table', { exact: true }).click();
    await page.getByRole('cell', { name: '7 (37 %)' }).waitFor();
    await page.getByRole('tab', { name: 'Outcomes' }).click();
    await page.getByRole('img', { name: 'Finished 12, Transferred 1, Caller hung up 7' }).first().waitFor();
    await opened.lookOver('bot-outcomes');
    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByRole('cell', { name: 'endpointingMs' }).waitFor();
    expect(complaints).toEqual([]);
    expect(foreign).toEqual([]);
  });

  it('chats through the flow with the step highlighted', async () => {
    await using opened = await browser.open(target(), 'operator', '/bots/front-desk');
    const { page, complaints } = opened;
    await page.getByRole('button', { name: 'Begin a chat' }).click();
    const log = page.getByRole('log');
    await log.getByText('Booking or question?').waitFor();
    await page.getByRole('button', { name: /^greet: .*current step of the chat$/u }).waitFor();
    const input = page.getByLabel('What the caller says');
    await input.fill('a booking please');
    await input.press('Enter');
    await log.getByText('Which day?').waitFor();
    await page.getByRole('button', { name: /^ask-day: .*current step of the chat$/u }).waitFor();
    await opened.lookOver('bot-chat');
    await input.fill('tomorrow');
    await input.press('Enter');
    await log.getByText('The call is over: booked').waitFor();
    await page.getByText('want = book').first().waitFor();
    expect(await page.locator('[aria-current="step"]').getAttribute('aria-label')).toMatch(/^booked:/u);
    expect(complaints).toEqual([]);
  });

  it('shows a problem of a file in place, in Hindi too, and no chat to a viewer', async () => {
    writeFileSync(file, readFileSync(file, 'utf8').replace('next: booked', 'next: boked'));
    await using opened = await browser.open(target(), 'viewer', '/bots/front-desk');
    const { page } = opened;
    await page.getByText('front-desk.yaml:16').first().waitFor();
    await page.getByText('Did you mean booked?').waitFor();
    await page.getByText('next: boked').first().waitFor();
    expect(await page.getByRole('button', { name: 'Begin a chat' }).isDisabled()).toBe(true);
    await opened.lookOver('bot-problem');
    await page.getByRole('button', { name: 'Language' }).click();
    await page.getByRole('menuitem', { name: 'हिन्दी' }).click();
    await page.getByText('इसकी फ़ाइलों में क्या गलत है').waitFor();
    await page.getByRole('menu').waitFor({ state: 'hidden' });
    await opened.lookOver('bot-hindi');
  });
});

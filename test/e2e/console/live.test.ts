import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { LiveCallView } from '../../../src/console/live/watch-client.ts';
import type { WatchMessage } from '../../../src/http/api/calls/watch-messages.ts';
import { CallerEar } from '../../../src/sim/caller/ear.ts';
import type { SimulatedCall } from '../../../src/sim/twilio/carrier.ts';
import { eventually } from '../../support/eventually.ts';
import { type GatewayBench, startGatewayBench } from '../../integration/hosts/gateway-bench.ts';
import { sayTones } from '../../integration/platform/tone-engines.ts';
import { chromiumProgram, type ConsoleBrowser, startConsoleBrowser } from '../../support/console.ts';

describe.runIf(chromiumProgram !== undefined)('live calls in the console', () => {
  let bench: GatewayBench;
  let browser: ConsoleBrowser;
  const target = () => ({ url: bench.gateway.url, dataDir: bench.dataDir });

  beforeAll(async () => {
    const args = ['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream'];
    [bench, browser] = await Promise.all([startGatewayBench({ clock: systemClock }), startConsoleBrowser({ args })]);
  });

  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await bench[Symbol.asyncDispose]();
  });

  /** A call whose greeting was heard, and its side of the gateway. */
  async function greeted() {
    const call = await bench.dial();
    const session = bench.sessionOf(call);
    await eventually('the end of the greeting', () => session.standing.phase === 'listening' && earOf(call).phrases.length > 0);
    return { call, session };
  }

  it('shows a call with what is said as it is said, lets an operator type in the bot’s place, and hang up', async () => {
    await using shown = await browser.open(target(), 'operator', '/live');
    const { page } = shown;
    await page.getByRole('heading', { name: 'Live calls' }).waitFor();
    // The page is there first: the bot has other words for a caller who is silent for long.
    const { call, session } = await greeted();
    await page.getByText('1 call', { exact: true }).waitFor();
    const row = page.locator(`[data-row="${session.id}"]`);
    await row.getByText('Hello there, please say a word.').waitFor();
    await shown.lookOver('live');
    await page.getByPlaceholder('Filter by bot, number or words').fill('no such words');
    await page.getByText('No call fits the filter').waitFor();
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    await page.getByRole('grid').focus();
    await page.keyboard.press('End');
    await row.and(page.locator('[aria-selected="true"]')).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/live/${session.id}`);

    // What was said before the page was opened, and then what is said now.
    const log = page.getByRole('region', { name: 'Transcript' });
    await log.getByText('Hello there, please say a word.').first().waitFor();
    call.stream.say(sayTones(['alpha'], 8_000));
    await log.getByText('alpha', { exact: true }).waitFor();
    await log.getByText('You said alpha, and that is').waitFor();
    await page.locator('[data-announcer]').getByText('Caller: alpha').waitFor({ state: 'attached' });
    await page.getByRole('region', { name: 'Last reply' }).getByText('Caller waited').waitFor();
    await shown.lookOver('live-call');

    await page.getByRole('button', { name: 'Take over by typing' }).click();
    await page.getByText('The bot is muted').waitFor();
    expect(session.standing.muted).toBe(true);
    const phrases = earOf(call).phrases.length;
    await page.getByLabel('Text', { exact: true }).fill('A colleague will be with you.');
    await page.keyboard.press('Enter');
    await log.getByText('A colleague will be with you.').first().waitFor();
    await eventually('the typed text at the ear', () => earOf(call).phrases.length > phrases);
    // One person answers a caller: another one sees who, and may watch.
    await using other = await browser.open(target(), 'admin', `/live/${session.id}`);
    await other.page.getByText('operator has this call').waitFor();
    await other.page.getByRole('link', { name: /^Live 1 live call/u }).waitFor();
    expect(await other.page.getByRole('button', { name: 'Take over by typing' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Give the bot its voice back' }).click();
    await page.getByRole('button', { name: 'Take over by typing' }).waitFor();
    expect(session.standing.muted).toBe(false);
    await other.page.getByRole('button', { name: 'Take over by typing' }).and(other.page.locator(':enabled')).waitFor();

    // No account of the carrier: the gateway's own words, and the call goes on.
    await page.getByLabel('Transfer to').fill('+15550100');
    await page.getByRole('button', { name: 'Transfer', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Transfer' }).click();
    await page.getByText('No account of the carrier twilio is configured.').waitFor();
    await page.getByRole('button', { name: 'Hang up' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Hang up' }).click();
    await page.getByText('The call is over: operator-hangup.').waitFor();
    expect(await page.getByRole('link', { name: 'Open the call’s record' }).getAttribute('href')).toBe(
      `/console/calls/${session.id}`,
    );
    expect(await page.getByRole('region', { name: 'Take part' }).count()).toBe(0);
    expect((await session.ended).endReason).toBe('operator-hangup');
    await eventually(
      'the record',
      async () => (await bench.gateway.backlog.store.calls.get('default', session.id)) !== undefined,
    );
    await page.getByRole('link', { name: 'Open the call’s record' }).click();
    const record = page.getByRole('region', { name: 'Words of both sides' });
    await record.getByText('operator: bot muted, taken over by typing').waitFor();
    await record.getByText('operator: bot has its voice back').waitFor();
    expect(shown.complaints.filter((text) => !text.includes('409'))).toEqual([]);
    expect(shown.foreign).toEqual([]);
  });

  it('keeps what an operator types while an order is on its way, shows that it waits, and says it after', async () => {
    const { call, session } = await greeted();
    await using shown = await browser.open(target(), 'operator', `/live/${session.id}`);
    const { page } = shown;
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/api/live-calls/*/mute', async (route) => {
      await released;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Take over by typing' }).click();
    // The text has the focus: nothing has to be pressed before typing.
    await page.keyboard.type('One moment, please.');
    await page.keyboard.press('Enter');
    await page.getByRole('list', { name: 'Waits to be said' }).getByText('One moment, please.').waitFor();
    await page.keyboard.type('I am looking.');
    await page.keyboard.press('Enter');
    release();
    const log = page.getByRole('region', { name: 'Transcript' });
    await log.getByText('I am looking.').first().waitFor();
    await log.getByText('One moment, please.').first().waitFor();
    await page.getByRole('list', { name: 'Waits to be said' }).waitFor({ state: 'detached' });
    await call.hangUp();
    await page.getByText('The call is over').first().waitFor();
    expect(shown.complaints).toEqual([]);
  });

  it('lets an operator listen in, whisper to the bot, and talk to the caller in its place', async () => {
    const { call, session } = await greeted();
    await using shown = await browser.open(target(), 'operator', '/');
    const { page } = shown;
    await page.addInitScript(measureSound);
    await page.goto(`${bench.gateway.url}/console/live/${session.id}`);
    const loudest = (): Promise<{ readonly left: number; readonly right: number }> =>
      page.evaluate(() => (Reflect.get(globalThis, 'loudestSound') as () => { left: number; right: number })());
    await page.getByRole('button', { name: 'Listen in' }).click();
    await page.getByRole('meter', { name: 'Level of the caller' }).waitFor();
    // Once more where a busy browser has missed it.
    const sayWhenAsked = (word: 'alpha' | 'bravo'): void => {
      if (call.stream.silent && session.standing.phase === 'listening') call.stream.say(sayTones([word], 8_000));
    };
    await eventually('the caller on the left and the bot on the right', async () => {
      sayWhenAsked('alpha');
      const { left, right } = await loudest();
      return left > 0.05 && right > 0.05;
    });

    await page.getByLabel('Text', { exact: true }).fill('offer the Thursday');
    await page.getByRole('button', { name: 'Whisper to the bot' }).click();
    await page.getByText('The bot is told with the caller’s next turn').waitFor();
    await page.getByRole('region', { name: 'Transcript' }).getByText('whispers to the bot').waitFor();

    await page.getByRole('button', { name: 'Take over by voice' }).click();
    await page.getByText('You are speaking to the caller').waitFor();
    const takenAtMs = earOf(call).lastSoundMs ?? 0;
    // Chromium's own fake microphone beeps once a second.
    await eventually('the operator at the ear', () => (earOf(call).lastSoundMs ?? 0) > takenAtMs + 1_500);
    await shown.lookOver('live-call-taken-over');
    const turns = session.standing.turns;
    await page.getByRole('button', { name: 'Give the call back to the bot' }).click();
    await page.getByRole('button', { name: 'Take over by voice' }).and(page.locator(':enabled')).waitFor();
    await page.getByRole('region', { name: 'Listen in' }).getByText('Bot', { exact: true }).first().click();
    await page.getByRole('radio', { name: 'Bot' }).and(page.locator(':checked')).waitFor({ state: 'attached' });
    await page.evaluate(() => (Reflect.get(globalThis, 'forgetSound') as () => void)());
    await eventually('the bot’s answer', async () => {
      sayWhenAsked('bravo');
      return (await loudest()).right > 0.05 && session.standing.botText.includes('bravo');
    });
    expect(session.standing.turns).toBeGreaterThan(turns);
    expect((await loudest()).left).toBeLessThan(0.01);
    await page.getByRole('button', { name: 'Stop listening' }).click();
    await call.hangUp();
    await page.getByText('The call is over').first().waitFor();
    expect(shown.complaints).toEqual([]);
  });

  it('shows a viewer neither words nor sound, and a listener nothing that changes a call', async () => {
    const { call, session } = await greeted();
    await using viewer = await browser.open(target(), 'viewer', '/live');
    await viewer.page.locator(`[data-row="${session.id}"]`).getByText('Your role does not show what is said').waitFor();
    await viewer.page.goto(`${bench.gateway.url}/console/live/${session.id}`);
    const hidden = viewer.page.getByRole('region', { name: 'Transcript' }).getByText('Your role does not show');
    await hidden.first().waitFor();
    await viewer.page
      .getByText(/\*+\d\d/u)
      .first()
      .waitFor();
    const controls = { listen: { name: 'Listen in' }, control: { name: 'Take part' } };
    expect(await viewer.page.getByRole('region', controls.listen).count()).toBe(0);
    expect(await viewer.page.getByRole('region', controls.control).count()).toBe(0);
    expect(await viewer.page.content()).not.toContain('please say a word');

    await using listener = await browser.open(target(), 'listener', `/live/${session.id}`);
    await listener.page.getByRole('region', { name: 'Transcript' }).getByText('please say a word').waitFor();
    await listener.page.getByRole('region', controls.listen).waitFor();
    expect(await listener.page.getByRole('region', controls.control).count()).toBe(0);
    await call.hangUp();
    await listener.page.getByText('The call is over').first().waitFor();
    expect([...viewer.complaints, ...listener.complaints]).toEqual([]);
  });

  it('draws only the rows in sight, and again only those of calls that changed', async () => {
    await using shown = await browser.open(target(), 'operator', '/');
    const { page } = shown;
    let tell: (message: WatchMessage) => void = () => undefined;
    await page.routeWebSocket('**/api/watch', (socket) => {
      tell = (message) => socket.send(JSON.stringify(message));
      socket.onMessage(() =>
        tell({ type: 'calls', whole: true, calls: Array.from({ length: 200 }, (_, at) => call(at)), over: [] }),
      );
    });
    await page.goto(`${bench.gateway.url}/console/live`);
    await page.getByText('200 calls', { exact: true }).waitFor();
    const rows = page.locator('[data-row]');
    await rows.first().waitFor();
    expect(await rows.count()).toBeLessThan(50);
    await page.evaluate(() => {
      const changed = new Set<string>();
      Object.assign(globalThis, { changedRows: changed });
      new MutationObserver((records) => {
        for (const { target } of records) {
          const cell = (target instanceof Element ? target : target.parentElement)?.closest('[role="gridcell"]');
          const row = cell?.closest<HTMLElement>('[data-row]');
          // Ages tick in every row.
          if (row !== null && row !== undefined && cell !== row.children[4]) changed.add(row.dataset['row'] ?? '');
        }
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    for (const turns of [1, 2, 3]) {
      tell({ type: 'calls', whole: false, calls: [call(2, turns), call(5, turns), call(150, turns)], over: [] });
      await page.waitForFunction(
        (text) => document.querySelector('[data-row="call_5"]')?.children[5]?.textContent === text,
        String(turns),
      );
    }
    expect(await page.evaluate(() => [...(Reflect.get(globalThis, 'changedRows') as Set<string>)].toSorted())).toEqual([
      'call_2',
      'call_5',
    ]);
    tell({ type: 'calls', whole: false, calls: [], over: ['call_2'] });
    await page.getByText('199 calls', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Turns' }).click();
    await page.locator('[role=columnheader][aria-sort="ascending"]', { hasText: 'Turns' }).waitFor();
    await page.getByRole('button', { name: 'Turns' }).press('Enter');
    await page.locator('[role=columnheader][aria-sort="descending"]', { hasText: 'Turns' }).waitFor();
    await page.locator('[data-row="call_5"][aria-rowindex="2"]').waitFor();
    await page.locator('[data-row="call_150"][aria-rowindex="3"]').waitFor();
    // With Shift, another column sorts the calls that the first does not tell apart.
    await page.getByRole('button', { name: 'Age', exact: true }).click({ modifiers: ['Shift'] });
    await expect.poll(() => page.locator('[role=columnheader][aria-sort]').allTextContents()).toEqual(['Age ↑', 'Turns ↓']);
    await page.getByRole('grid').focus();
    await page.keyboard.press('End');
    await page.locator('[data-row][aria-rowindex="200"][aria-selected="true"]').waitFor();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await page.locator('[data-row][aria-rowindex="3"][aria-selected="true"]').waitFor();
  });
});

/** Runs in the page: remembers the loudest sample of each side of everything that the page plays. */
function measureSound(): void {
  const analysers: AnalyserNode[] = [];
  const connect = Reflect.get(AudioNode.prototype, 'connect') as (this: AudioNode, to: AudioNode, output?: number) => AudioNode;
  const loudest = { left: 0, right: 0 };
  Object.assign(AudioNode.prototype, {
    connect(this: AudioNode, to: AudioNode, output?: number): AudioNode {
      if (to instanceof AudioDestinationNode) {
        const splitter = new ChannelSplitterNode(this.context, { numberOfOutputs: 2 });
        connect.call(this, splitter);
        for (const side of [0, 1]) {
          const analyser = new AnalyserNode(this.context, { fftSize: 2048 });
          connect.call(splitter, analyser, side);
          analysers[side] = analyser;
        }
      }
      return connect.call(this, to, output);
    },
  });
  const samples = new Float32Array(2048);
  Object.assign(globalThis, {
    forgetSound: () => Object.assign(loudest, { left: 0, right: 0 }),
    loudestSound() {
      for (const [side, analyser] of analysers.entries()) {
        analyser.getFloatTimeDomainData(samples);
        const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
        if (side === 0) loudest.left = Math.max(loudest.left, peak);
        else loudest.right = Math.max(loudest.right, peak);
      }
      return loudest;
    },
  });
}

function earOf(call: SimulatedCall): CallerEar {
  const ear = new CallerEar();
  ear.listen(call.stream.buffer.heard);
  return ear;
}

function call(at: number, turns = 0): LiveCallView {
  return {
    id: `call_${at}`,
    bot: at % 2 === 0 ? 'clinic' : 'survey',
    carrier: 'twilio',
    from: `+1555${String(at).padStart(6, '0')}`,
    to: '+15550100',
    direction: 'inbound',
    since: '2026-01-01T00:00:00.000Z',
    phase: 'listening',
    answeredBy: null,
    muted: false,
    mutedUntil: null,
    mutedBy: null,
    mode: 'bot',
    transfer: null,
    turns,
    takenOver: null,
    health: { holesMs: 0, lateMs: 0, lastReplyMs: null },
    words: { caller: '', bot: 'Hello.' },
  };
}

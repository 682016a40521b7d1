import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { formatOf } from '../../../src/console/parts/format.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { type CallerStep, ScriptedCaller } from '../../../src/sim/caller/caller.ts';
import { cough } from '../../../src/sim/caller/cough.ts';
import type { NewCallRecord, StoredCall } from '../../../src/records/port.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { eventually } from '../../support/eventually.ts';
import { type GatewayBench, startGatewayBench } from '../../integration/hosts/gateway-bench.ts';
import { sayTones, type ToneWord } from '../../integration/platform/tone-engines.ts';
import { chromiumProgram, type ConsoleBrowser, type ConsoleTarget, startConsoleBrowser } from '../../support/console.ts';

type TimelineRow = NewCallRecord['timeline'][number];
const speech = (...words: ToneWord[]): Int16Array => sayTones(words, 8_000).subarray(1_600);
const say = (...words: ToneWord[]): CallerStep => ({ kind: 'say', text: words.join(' '), pcm: speech(...words) });

describe.runIf(chromiumProgram !== undefined)('the page of one call', () => {
  let bench: GatewayBench;
  let browser: ConsoleBrowser;
  let target: ConsoleTarget;
  let stored: StoredCall;

  /** A caller who coughs, talks over the bot and presses a key; recorded, analysed and saved for replay. */
  async function makeCall(): Promise<StoredCall> {
    const call = await bench.dial();
    const session = bench.sessionOf(call);
    await new ScriptedCaller(call.stream, 25_000).run([
      say('alpha'),
      { kind: 'cough', pcm: cough(300, 3), afterMs: 600 },
      { kind: 'interrupt', text: 'bravo', pcm: speech('bravo', 'bravo'), afterMs: 1_600 },
      { kind: 'press', digits: '7' },
      say('charlie'),
      { kind: 'wait-for-end' },
    ]);
    const { id } = await session.ended;
    const { calls } = bench.gateway.backlog.store;
    await eventually('the analysis', async () => (await calls.get('default', id))?.keeping.analysisState === 'done');
    await eventually('the saved call', () => existsSync(join(bench.dataDir, 'fixtures', `${id}.fixture.gz`)));
    const found = await calls.get('default', id);
    if (found === undefined) throw new Error('the call is not in the store');
    return found;
  }

  beforeAll(async () => {
    const env = { OFFHOOK_CALL__KEEP_FIXTURES: '*' };
    [bench, browser] = await Promise.all([startGatewayBench({ clock: systemClock, env }), startConsoleBrowser()]);
    target = { url: bench.gateway.url, dataDir: bench.dataDir };
    stored = await makeCall();
    // The page may have to be built, and the call takes its time.
  });

  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await bench[Symbol.asyncDispose]();
  });

  const soundAtMs = (page: Page): Promise<number> =>
    page.evaluate(() => (document.querySelector('audio')?.currentTime ?? Number.NaN) * 1000);

  it('shows the sound and plays it from a word, with what was never heard struck through', async () => {
    await using opened = await browser.open(target, 'admin', `/calls/${stored.id}`);
    const { page } = opened;
    await page.getByRole('slider', { name: 'Position in the call' }).waitFor();
    await expect.poll(() => page.evaluate(() => document.querySelector('audio')?.readyState ?? 0)).toBeGreaterThan(0);

    const interrupted = stored.turns[1];
    const unheard = await page.locator('s[data-heard="unheard"]').allTextContents();
    expect(unheard.length).toBeGreaterThan(0);
    expect(interrupted?.botText.endsWith(unheard.join(' '))).toBe(true);
    expect(interrupted?.botHeardText).not.toContain(unheard.join(' '));

    const greeting = page.locator('[data-side="bot"]').filter({ hasText: 'Hello there,' });
    await greeting.getByText('word.', { exact: true }).click();
    await page.getByRole('button', { name: 'Pause' }).click();
    const [fromMs, playedMs] = [stored.turns[0]?.botStartedAtMs ?? 0, await soundAtMs(page)];
    expect(playedMs).toBeGreaterThan(fromMs - (stored.recordingStartedAtMs ?? 0) + 300);
    expect(playedMs).toBeLessThan((stored.turns[1]?.startedAtMs ?? 0) - (stored.recordingStartedAtMs ?? 0));
    await expect.poll(() => greeting.locator('[data-now="true"]').textContent()).toContain('word.');

    await page.getByRole('searchbox', { name: 'Find in the transcript' }).fill('very fine');
    await expect.poll(() => page.locator('[data-found="true"]').allTextContents()).toEqual(['very', 'fine']);
    // Before axe is in the page, which copies the waveform's styles.
    expect(opened.complaints).toEqual([]);
    expect(opened.foreign).toEqual([]);
    await opened.lookOver('call');
  });

  it('adds the stages of every wait up to the total of the record', async () => {
    await using opened = await browser.open(target, 'viewer', `/calls/${stored.id}`);
    const { page } = opened;
    const rows = page.getByRole('list', { name: 'Timing' }).getByRole('listitem');
    await rows.first().waitFor();
    const totals = await rows.evaluateAll((items) =>
      items.map((item) => [
        Number(item.getAttribute('data-turn')),
        item.querySelector('[aria-label^="Total"]')?.textContent ?? '',
        item.querySelectorAll('[data-stage]').length,
      ]),
    );
    vi.stubGlobal('navigator', { languages: ['en-GB'] });
    const { duration } = formatOf('en');
    vi.unstubAllGlobals();
    const expected = stored.turns.map(({ index, latencies: { total = 0 } }) => [
      index,
      duration(total),
      expect.any(Number) as unknown,
    ]);
    expect(totals).toEqual(expected);
    // Without the scope there is no sound to be heard, and the record is drawn.
    expect(await page.evaluate(() => document.querySelector('audio'))).toBeNull();
    await page.getByText('Your role does not hear recordings.').waitFor();
    expect(await page.getByRole('button', { name: 'Actions' }).count()).toBe(0);
    for (const tab of ['Collected', 'Events', 'Analysis', 'Webhooks']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tabpanel').waitFor();
      expect(opened.complaints).toEqual([]);
    }
    await page.getByRole('tab', { name: 'Events' }).click();
    await opened.lookOver('call-events');
  });

  it('replays the call with another setting and shows the first decision that differs', async () => {
    await using opened = await browser.open(target, 'operator', `/calls/${stored.id}`);
    const { page } = opened;
    await page.getByRole('tab', { name: 'Replay' }).click();
    await page.getByLabel('Silence that ends a turn, ms').fill('1200');
    await page.getByRole('button', { name: 'Run the replay' }).click();
    await page.getByText(/First difference at .* in turn 1/u).waitFor();
    await page.getByLabel('I may keep the voice of this caller').check();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download the call' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`${stored.id}.fixture.gz`);
    expect(opened.complaints).toEqual([]);
    await opened.lookOver('call-replay');
  });

  it('leads an operator from the list to what went wrong in at most three presses', async () => {
    const startedAtMs = Date.now() - 60_000;
    const at = (atMs: number, type: string): TimelineRow => ({
      atMs,
      type,
      turn: 1,
      ...(type === 'caller-committed' ? { reason: 'silence' } : {}),
    });
    const [greeting, answer] = callRecordOf().turns;
    if (greeting === undefined || answer === undefined) throw new Error('the record has two turns');
    await bench.gateway.backlog.store.calls.upsert(
      callRecordOf({
        id: 'call_bad',
        startedAtMs,
        endedAtMs: startedAtMs + 20_000,
        recordingPath: undefined,
        recordingStartedAtMs: undefined,
        summary: { interruptions: 1, notUnderstood: 1 },
        turns: [
          { ...greeting, startedAtMs: startedAtMs + 300, botStartedAtMs: startedAtMs + 800, botEndedAtMs: startedAtMs + 1_800 },
          { ...answer, callerText: '', startedAtMs: startedAtMs + 6_000, latencies: { endpointing: 500, total: 4_000 } },
        ],
        timeline: [
          at(6_000, 'caller-committed'),
          at(6_010, 'dialog-asked'),
          at(9_000, 'dialog-answered'),
          at(9_010, 'tts-asked'),
          at(9_400, 'tts-first-byte'),
          at(9_500, 'first-frame'),
        ],
      }),
    );
    await using opened = await browser.open(target, 'operator', '/');
    const { page } = opened;
    let presses = 0;
    const press = async (what: Locator): Promise<void> => {
      presses += 1;
      await what.click();
    };
    /** Presses from the list of calls until what is sought is seen. */
    const task = async (way: readonly (() => Locator)[], sought: () => Promise<unknown>): Promise<number> => {
      await page.goto(`${target.url}/console/calls`);
      await page.getByRole('grid').waitFor();
      presses = 0;
      for (const step of way) await press(step());
      await sought();
      return presses;
    };
    const chip = (name: string) => () => page.getByText(name, { exact: true }).first();
    const row = () => page.locator('[data-row="call_bad"]');
    const cutOff = await task([chip('Interrupted'), row], () => page.locator('s[data-heard="unheard"]').first().waitFor());
    const heard = await task(
      [
        chip('Not understood'),
        row,
        () => page.locator('[data-side="caller"]').filter({ hasText: 'not understood' }).getByRole('button'),
      ],
      () => expect.poll(() => page.getByRole('slider', { name: 'Position in the call' }).inputValue()).not.toBe('0'),
    );
    const slow = await task([chip('Slow'), row], () => page.getByText('Slowest: Dialog').waitFor());
    expect([cutOff, heard, slow].every((each) => each <= 3)).toBe(true);

    // On to the next call of the list and back, by keys; a link leads to its second.
    await page.goto(`${target.url}/console/calls`);
    await page.getByRole('grid').waitFor();
    await page.keyboard.press('j');
    await page.locator('[aria-selected="true"]').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('1 of 2').waitFor();
    await page.keyboard.press('j');
    await page.getByText('2 of 2').waitFor();
    await page.keyboard.press('k');
    await page.getByText('1 of 2').waitFor();
    await page.goBack();
    await page.waitForURL('**/console/calls');
    await page.goto(`${target.url}/console/calls/call_bad?at=9.0`);
    await expect.poll(() => page.getByRole('slider', { name: 'Position in the call' }).inputValue()).toBe('9');
    expect(opened.complaints).toEqual([]);
  });

  it('holds a call, and erases it once the hold is lifted and the end of its id is typed', async () => {
    await using opened = await browser.open(target, 'admin', `/calls/${stored.id}`);
    const { page } = opened;
    const act = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: 'Actions' }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    await act('Hold for the law');
    await page.getByText('Legal hold', { exact: true }).waitFor();
    await act('Lift the legal hold');
    await page.getByText('Legal hold', { exact: true }).waitFor({ state: 'detached' });
    await act('Erase…');
    const erase = page.getByRole('button', { name: 'Erase for good' });
    expect(await erase.isDisabled()).toBe(true);
    await page.getByLabel(/Type \w+ to confirm/u).fill(stored.id.slice(-6));
    await erase.click();
    await page.getByText('The words and numbers of this call were erased.').waitFor();
    expect(await page.getByText('very fine').count()).toBe(0);
    expect(await bench.gateway.backlog.store.calls.get('default', stored.id)).toMatchObject({
      from: '',
      turns: [{}, {}, {}, {}, {}],
    });
    expect(opened.complaints).toEqual([]);
  });
});

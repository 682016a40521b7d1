import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { type GatewayBench, startGatewayBench } from '../../integration/hosts/gateway-bench.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { chromiumProgram, type ConsoleBrowser, startConsoleBrowser } from '../../support/console.ts';
import { HANGS_MS } from '../../support/patience.ts';

/** Many times what fits into the page; the gateway gives them out in parts of two hundred. */
const CALLS = 1_200;
const ALL = `${CALLS.toLocaleString('en')} calls`;
const OUTCOMES = ['caller-hangup', 'caller-hangup', 'said-goodbye', 'dialog-failed'];
const DAYS = ['Tuesday', 'मंगलवार', 'Friday'];
const NEWEST_MS = Date.UTC(2026, 2, 1, 12);

/** The calls of some days, the newest first. */
function callsOf(count: number): ReturnType<typeof callRecordOf>[] {
  const [, turn] = callRecordOf().turns;
  return Array.from({ length: count }, (_, n) => {
    const startedAtMs = NEWEST_MS - n * 60_000;
    const said = n % 50 === 7 ? 'Can I have a refund?' : 'When do you open?';
    return callRecordOf({
      id: `call_${String(n).padStart(5, '0')}`,
      startedAtMs,
      endedAtMs: startedAtMs + 30_000 + n * 10,
      endReason: OUTCOMES[n % OUTCOMES.length],
      botName: n % 3 === 0 ? 'shop' : 'clinic',
      from: `+1555010${1000 + (n % 9000)}`,
      to: '+15550002',
      variables: { day: DAYS[n % DAYS.length] ?? '' },
      turns: turn === undefined ? [] : [{ ...turn, index: 0, callerText: said, latencies: { total: 400 + (n % 20) * 100 } }],
      timeline: [],
    });
  });
}

describe.runIf(chromiumProgram !== undefined)('the calls in the console', () => {
  let bench: GatewayBench;
  let browser: ConsoleBrowser;
  const target = (): { url: string; dataDir: string } => ({ url: bench.gateway.url, dataDir: bench.dataDir });

  beforeAll(async () => {
    [bench, browser] = await Promise.all([startGatewayBench({ clock: systemClock }), startConsoleBrowser()]);
    const given = callsOf(CALLS);
    for (let from = 0; from < CALLS; from += 600)
      await bench.gateway.backlog.store.calls.upsertMany(given.slice(from, from + 600));
  });

  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await bench[Symbol.asyncDispose]();
  });

  it('shows more than a thousand calls to the last with the keyboard alone, and opens the one that is chosen', async () => {
    await using opened = await browser.open(target(), 'operator', '/calls');
    const { page } = opened;
    const grid = page.getByRole('grid');
    await page.getByText(ALL, { exact: true }).waitFor();
    expect(await grid.getAttribute('aria-rowcount')).toBe(String(CALLS + 1));
    await grid.focus();
    await expect
      .poll(
        async () => {
          await page.keyboard.press('End');
          return page.getByText('The end: no earlier calls.').isVisible();
        },
        { timeout: HANGS_MS, interval: 50 },
      )
      .toBe(true);
    // Few of them are in the document.
    expect(await page.getByRole('row').count()).toBeLessThan(80);
    const last = page.getByRole('row').last();
    // The last page of calls may have come after the last key.
    await expect
      .poll(
        async () => {
          await page.keyboard.press('End');
          return last.getAttribute('aria-rowindex');
        },
        { timeout: HANGS_MS, interval: 50 },
      )
      .toBe(String(CALLS + 1));
    expect(await last.innerText()).toContain(`+1555010${1000 + ((CALLS - 1) % 9000)}`);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/console/calls/call_${String(CALLS - 2).padStart(5, '0')}`);
    await grid.waitFor({ state: 'detached' });

    // Back from the call, the list is where it was left and has the focus: keys go on from the row.
    await page.goBack();
    const left = page.locator(`[aria-rowindex="${CALLS}"][aria-selected="true"]`);
    await left.waitFor();
    expect(await left.evaluate((row) => row.getBoundingClientRect().bottom <= innerHeight)).toBe(true);
    await expect.poll(() => grid.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press('ArrowUp');
    await page.locator(`[aria-rowindex="${CALLS - 1}"][aria-selected="true"]`).waitFor();
    expect(opened.foreign).toEqual([]);
  });

  it('finds by words in any script and by outcome, keeps the search in the address, and exports what it shows', async () => {
    await using opened = await browser.open(target(), 'operator', '/calls');
    const { page } = opened;
    const status = page.getByRole('status').first();
    await page.getByText(ALL, { exact: true }).waitFor();
    await page.getByLabel('Words said, collected or noted').fill('refund मंगलवार');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    const both = callsOf(CALLS).filter((call, n) => n % 50 === 7 && call.variables?.['day'] === 'मंगलवार');
    await page.getByText(`${both.length} calls`, { exact: true }).waitFor();
    await expect.poll(() => page.locator('mark').first().innerText()).toBe('मंगलवार');
    await page.getByRole('button', { name: 'Filters', exact: true }).click();
    await page.getByRole('combobox', { name: 'Outcome' }).click();
    await page.getByRole('option', { name: 'Bot failed' }).click();
    await page.getByLabel('Slowest reply at least, ms').fill('1000');
    await page.getByLabel('Slowest reply at least, ms').press('Enter');
    const expected = both.filter(
      ({ endReason, turns }) => endReason === 'dialog-failed' && (turns[0]?.latencies.total ?? 0) >= 1_000,
    );
    expect(expected.length).toBeGreaterThan(1);
    await page.getByText(`${expected.length} calls`, { exact: true }).waitFor();
    await opened.lookOver('calls');
    await page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: /JSONL/u }).click()]);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(expected.map(({ id }) => id));
    // The address is the search, there and back.
    const shared = page.url();
    await page.goBack();
    await expect.poll(() => status.innerText()).toBe(`${both.length} calls`);
    await page.goto(shared);
    await page.getByText(`${expected.length} calls`, { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Saved searches' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Failed refunds');
    await page.getByRole('button', { name: 'Save this search' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Clear all' }).click();
    await page.getByText(ALL, { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Saved searches' }).click();
    await page.getByRole('button', { name: 'Failed refunds', exact: true }).click();
    await page.getByText(`${expected.length} calls`, { exact: true }).waitFor();
    expect(opened.complaints).toEqual([]);
  });

  it('masks numbers for viewers, who cannot search for them, and says what to do where nothing is found', async () => {
    await using opened = await browser.open(target(), 'viewer', '/calls');
    const { page } = opened;
    await page.getByText('*********00').first().waitFor();
    expect(await page.getByRole('grid').innerText()).not.toContain('+1555');
    await page.getByRole('button', { name: 'Filters', exact: true }).click();
    expect(await page.getByLabel('Phone number').isDisabled()).toBe(true);
    await page.goto(`${bench.gateway.url}/console/calls?number=%2B15550101000`);
    await page.getByRole('alert').getByText('numbers:read').first().waitFor();
    await page.goto(`${bench.gateway.url}/console/calls?text=zebrafinch&result=given-up&attention=dead-air&minCost=0.5`);
    await page.getByText('No call matches').waitFor();
    for (const pill of ['Result: Given up', 'Deserves a look: Silence over 3 s', 'Cost at least: 0.5'])
      await page.getByText(pill, { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByLabel('Carrier', { exact: true }).last().check();
    await page.keyboard.press('Escape');
    await page.getByRole('main').getByRole('button', { name: 'Clear all' }).last().click();
    await page.getByRole('columnheader', { name: 'Carrier' }).waitFor();
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { NewCallRecord } from '../../../src/records/port.ts';
import { type GatewayBench, startGatewayBench } from '../../integration/hosts/gateway-bench.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { chromiumProgram, type ConsoleBrowser, startConsoleBrowser } from '../../support/console.ts';
import { HANGS_MS } from '../../support/patience.ts';

const HOUR_MS = 3_600_000;
/** The reader's clock, in London's winter. */
const NOW = Date.UTC(2026, 2, 5, 14, 30);
const TODAY = Date.UTC(2026, 2, 5);

interface Made {
  readonly id: string;
  readonly atMs: number;
  readonly endReason?: string;
  readonly version?: string;
  readonly bot?: string;
  readonly waitedMs?: number;
  readonly caller?: string;
  readonly isCutOff?: boolean;
  /** What the bot answers the caller. */
  readonly answer?: string;
}

function made({ id, atMs, endReason = 'finished', version = 'bbbb00000002', bot = 'clinic', ...rest }: Made): NewCallRecord {
  const { waitedMs = 700, caller = 'On Tuesday', isCutOff = false, answer = 'Tuesday it is. Goodbye.' } = rest;
  const turn = { interrupted: isCutOff, latencies: {} };
  // The dialog takes all but half a second of the wait.
  const timeline = [
    { type: 'dialog-asked', atMs: 5_300, turn: 1 },
    { type: 'dialog-answered', atMs: 4_800 + waitedMs, turn: 1 },
    { type: 'first-frame', atMs: 5_300 + waitedMs, turn: 1 },
    ...(isCutOff ? [{ type: 'clear', atMs: 6_500, turn: 1, onsetMs: 6_300, by: 'voice' }] : []),
  ];
  return callRecordOf({
    id,
    botName: bot,
    botVersion: version,
    startedAtMs: atMs,
    answeredAtMs: atMs,
    endedAtMs: atMs + 20_000,
    endReason,
    recordingPath: undefined,
    recordingSidecarPath: undefined,
    recordingStartedAtMs: undefined,
    turns: [
      {
        ...turn,
        index: 0,
        inputKind: 'start',
        callerText: '',
        botText: 'Which day would suit you?',
        botHeardText: 'Which day would suit you?',
        startedAtMs: atMs,
        botStartedAtMs: atMs + 300,
        botEndedAtMs: atMs + 3_000,
      },
      {
        ...turn,
        index: 1,
        inputKind: 'spoken',
        callerText: caller,
        botText: answer,
        botHeardText: answer,
        latencies: { total: waitedMs },
        startedAtMs: atMs + 5_300,
        botStartedAtMs: atMs + 6_000,
        botEndedAtMs: atMs + 8_000,
      },
    ],
    timeline,
  });
}

/** Today twelve calls of two hours, yesterday four of the version before. */
const CALLS: readonly NewCallRecord[] = [
  ...Array.from({ length: 8 }, (_, n) => made({ id: `well${n}`, atMs: TODAY + 9 * HOUR_MS + n * 60_000 })),
  made({ id: 'cut', atMs: TODAY + 10 * HOUR_MS, isCutOff: true }),
  made({
    id: 'angry',
    atMs: TODAY + 10 * HOUR_MS + 60_000,
    caller: 'This is ridiculous',
    answer: 'Sorry, I did not understand. Which day would suit you?',
    endReason: 'caller-hangup',
  }),
  made({ id: 'slow', atMs: TODAY + 10 * HOUR_MS + 120_000, waitedMs: 4_200 }),
  made({ id: 'desk', atMs: TODAY + 10 * HOUR_MS + 180_000, bot: 'desk', endReason: 'transferred' }),
  ...Array.from({ length: 4 }, (_, n) =>
    made({
      id: `before${n}`,
      atMs: TODAY - 14 * HOUR_MS + n * 60_000,
      version: 'aaaa00000001',
      endReason: n > 1 ? 'caller-hangup' : 'finished',
    }),
  ),
];

describe.runIf(chromiumProgram !== undefined)('the overview and the calls to look at', () => {
  let bench: GatewayBench;
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    [bench, browser] = await Promise.all([startGatewayBench({ clock: systemClock }), startConsoleBrowser()]);
    await bench.gateway.backlog.store.calls.upsertMany(CALLS);
  });

  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await bench[Symbol.asyncDispose]();
  });

  async function open(role: 'operator' | 'viewer', path = '/') {
    const opened = await browser.open({ url: bench.gateway.url, dataDir: bench.dataDir }, role, path);
    await opened.page.clock.setFixedTime(NOW);
    await opened.page.goto(`${bench.gateway.url}/console${path}`);
    return opened;
  }

  it('shows calls by hour without a click, every figure with its change, and what the last version changed', async () => {
    await using opened = await open('operator');
    const { page } = opened;
    await page.getByRole('img', { name: /^12 calls; most in an hour: 8/u }).waitFor();
    const tile = (name: string) =>
      page.getByRole('list', { name: 'Figures' }).getByRole('link', { name: new RegExp(`^${name}`, 'u') });
    expect(await tile('Calls').innerText()).toContain('12');
    expect(await tile('Calls').innerText()).toContain('200 %');
    expect(await tile('Contained').innerText()).toMatch(/83 %[^]*33\.3 pts\s+better[^]*10 of 12/u);
    expect(await tile('Transferred').innerText()).toContain('1 of 12');
    expect(await tile('Median reply').innerText()).toMatch(/0\.7\d s/u);
    expect(await tile('Caller cut off').innerText()).toContain('1 of 12');
    const changes = page.getByRole('table', { name: /^clinic/u });
    expect(await changes.getByRole('row', { name: /^Given up/u }).innerText()).toMatch(/50 %\s+9 %[^]*better/u);
    await page.getByText('3 wait for a look').waitFor();
    await opened.lookOver('overview');

    await page.getByText('7 days', { exact: true }).click();
    await page.getByRole('img', { name: /^16 calls/u }).waitFor();
    await page.getByRole('combobox', { name: 'Bot' }).click();
    await page.getByRole('option', { name: 'desk' }).click();
    await page.getByRole('img', { name: /^1 calls/u }).waitFor();
    expect(new URL(page.url()).search).toBe('?range=week&bot=desk');
    // The same is there for a link that was shared.
    await page.reload();
    await page.getByRole('img', { name: /^1 calls/u }).waitFor();
    expect(opened.complaints).toEqual([]);
    expect(opened.foreign).toEqual([]);
  });

  it.each([
    ['finds a call in which the caller was cut off', 'Caller cut off', 'cut'],
    ['sees why a reply was slow', 'Slowest 5 %', 'slow'],
  ])('%s with two clicks', async (_task, figure, id) => {
    await using opened = await open('operator');
    const { page } = opened;
    await page.getByRole('link', { name: new RegExp(`^${figure}`, 'u') }).click();
    await page.getByText('1 call', { exact: true }).waitFor();
    await page.getByRole('row').nth(1).click();
    await page.waitForURL(`**/calls/${id}**`);
    if (id === 'cut') await page.getByText('Caller cut off').first().waitFor();
    else await page.getByRole('list', { name: 'Timing' }).getByText('Slowest: Dialog').waitFor();
    expect(opened.complaints).toEqual([]);
  });

  it('hears the sentence that was not understood with three clicks', async () => {
    await using opened = await open('operator');
    const { page } = opened;
    await page.getByRole('link', { name: /^Not understood/u }).click();
    await page.getByText('1 call', { exact: true }).waitFor();
    await page.getByRole('row').nth(1).click();
    await page.getByText('ridiculous', { exact: true }).click();
    const position = page.getByRole('slider').first();
    await expect.poll(async () => Number(await position.inputValue()), { timeout: HANGS_MS }).toBeGreaterThan(3);
    expect(opened.complaints).toEqual([]);
  });

  it('goes through the calls to look at by keys, each at its moment, and keeps what was decided', async () => {
    await using opened = await open('operator', '/inbox');
    const { page } = opened;
    const list = page.getByRole('list', { name: /^Calls to look at/u });
    await list.getByText('Silence over 3 s').waitFor();
    expect(await list.getByRole('listitem').allInnerTexts()).toHaveLength(3);
    await page.getByRole('navigation').getByText('3', { exact: true }).waitFor();
    await page.keyboard.press('j');
    await page.waitForURL('**call=slow');
    await page.keyboard.press('j');
    await page.waitForURL('**call=angry');
    await page.keyboard.press('k');
    await page.waitForURL('**call=slow');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.waitForURL('**call=cut');
    const position = page.getByRole('slider').first();
    await page.getByRole('button', { name: 'Caller cut off: Listen from 0:05' }).click();
    await expect.poll(async () => Number(await position.inputValue()), { timeout: HANGS_MS }).toBeGreaterThan(4);

    await page.getByRole('button', { name: 'Assign to me' }).click();
    await page.getByText('Assigned to operator').waitFor();
    await page.getByRole('combobox', { name: 'Labels' }).fill('endpointing');
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Comment' }).fill('Wait longer after a day.');
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    await page.getByRole('region', { name: 'Comments' }).getByRole('listitem').getByText('Wait longer after a day.').waitFor();
    // Before axe looks, as on the page of a call.
    expect(opened.complaints).toEqual([]);
    await opened.lookOver('inbox');
    await page.getByRole('region', { name: 'Review' }).getByRole('button', { name: 'Done' }).click();
    await expect.poll(() => list.getByRole('listitem').count(), { timeout: HANGS_MS }).toBe(2);
    await page.getByRole('navigation').getByText('2', { exact: true }).waitFor();
    const { reviews } = bench.gateway.backlog.store;
    expect(await reviews.get('default', 'cut')).toMatchObject({ state: 'done', assignee: 'operator', labels: ['endpointing'] });
    expect(await reviews.comments('default', 'cut')).toMatchObject([{ by: 'operator', text: 'Wait longer after a day.' }]);
    // The whole call has the comments too.
    await page.getByRole('link', { name: 'Open the whole call' }).click();
    await page.getByText('Wait longer after a day.').waitFor();
  });

  it('shows a viewer why calls are here, in Hindi too, and lets them decide nothing', async () => {
    await using opened = await open('viewer', '/inbox?call=angry');
    const { page } = opened;
    await page
      .getByText(/\*{4,}/u)
      .first()
      .waitFor();
    await page.getByRole('region', { name: 'Why it is here' }).getByText('Angry').waitFor();
    expect(await page.getByRole('button', { name: 'Done' }).count()).toBe(0);
    expect(await page.getByRole('textbox', { name: 'Comment' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Language' }).click();
    await page.getByRole('menuitem', { name: 'हिन्दी' }).click();
    await page.getByRole('heading', { name: 'देखने योग्य कॉल' }).waitFor();
    await page.goto(`${bench.gateway.url}/console/overview`);
    await page.getByRole('heading', { name: 'सारांश' }).waitFor();
    await page.getByText('बॉट ने निपटाईं').first().waitFor();
    expect(opened.complaints).toEqual([]);
  });
});

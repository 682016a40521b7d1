// npm run bench -- console [--json] [--times 5]
// What the console costs its user: bytes and time of its first page, long lists, many live calls, and violations of accessibility.
import type { LiveCallView } from '../../src/console/live/watch-client.ts';
import type { WatchMessage } from '../../src/http/api/calls/watch-messages.ts';
import { startGatewayBench } from '../../test/integration/hosts/gateway-bench.ts';
import { axeViolations, type ConsoleBrowser, type ConsoleTarget, startConsoleBrowser } from '../../test/support/console.ts';
import { printDocument, readOptions, spread } from '../document.ts';

const values = readOptions({ times: '5' });

/** From the address to a heading that can be read, with an empty cache: ms, and KB over the wire with their headers. */
async function firstPage(
  browser: ConsoleBrowser,
  target: ConsoleTarget,
): Promise<{ readonly usableMs: number; readonly kb: number }> {
  // Whoever opens it is signed in already.
  await using opened = await browser.open(target, 'admin');
  const page = await opened.page.context().newPage();
  const wire = await page.context().newCDPSession(page);
  let bytes = 0;
  wire.on('Network.loadingFinished', ({ encodedDataLength }) => void (bytes += encodedDataLength));
  await wire.send('Network.enable');
  await wire.send('Network.setCacheDisabled', { cacheDisabled: true });
  const startedMs = performance.now();
  await page.goto(`${target.url}/console`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  const usableMs = performance.now() - startedMs;
  await page.waitForLoadState('networkidle');
  return { usableMs, kb: bytes / 1024 };
}

const LONG_LIST = 100_000;
const LIVE_CALLS = 200;
const LIVE_SECONDS = 5;

/** Run in the page: the longest time between two frames from here on, ms. */
const WATCH_FRAMES = `(() => {
  globalThis.longestFrameMs = 0;
  let last = performance.now();
  const frame = (now) => {
    globalThis.longestFrameMs = Math.max(globalThis.longestFrameMs, now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})()`;

/** From the first to the last of 100,000 calls with the key End, which loads every page of them on its way. The answers are made here: the store has benchmarks of its own. */
async function longList(
  browser: ConsoleBrowser,
  target: ConsoleTarget,
): Promise<{ readonly scrolledMs: number; readonly longestFrameMs: number }> {
  await using opened = await browser.open(target, 'admin', '/audit');
  const { page } = opened;
  await page.route('**/api/calls/count*', (route) => route.fulfill({ json: { count: LONG_LIST, more: false } }));
  await page.route(/\/api\/calls(?:\?|$)/u, (route) => {
    const asked = new URL(route.request().url()).searchParams;
    const from = Number(asked.get('cursor') ?? 0);
    const to = Math.min(LONG_LIST, from + Number(asked.get('limit')));
    const calls = Array.from({ length: to - from }, (_, at) => listedCall(from + at));
    return route.fulfill({ json: { calls, next: to === LONG_LIST ? null : String(to) } });
  });
  await page.goto(`${target.url}/console/calls`);
  await page.getByRole('grid').focus();
  await page.evaluate(WATCH_FRAMES);
  const startedMs = performance.now();
  while (!(await page.getByText('The end: no earlier calls.').isVisible())) await page.keyboard.press('End');
  const scrolledMs = performance.now() - startedMs;
  return { scrolledMs, longestFrameMs: await page.evaluate<number>('globalThis.longestFrameMs') };
}

function listedCall(at: number) {
  const startedAt = new Date(Date.UTC(2026, 0, 1) - at * 60_000).toISOString();
  const numbers = { from: `+1555${String(at).padStart(7, '0')}`, to: '+15550100', direction: 'inbound' } as const;
  const facts = { bot: 'clinic', carrier: 'twilio', language: 'en', startedAt, endedAt: startedAt, endReason: 'caller-hangup' };
  const measures = { durationMs: 30_000, worstReplyMs: 700, medianReplyMs: 500, turns: 4, recorded: true };
  const rest = { campaign: null, answeredBy: null, disposition: null, analysis: 'none', variables: {}, notes: [] };
  return { id: `call_${at}`, ...numbers, ...facts, ...measures, ...rest };
}

/** Time in which the page's script runs, in ms of each second, while 200 live calls change twice a second. */
async function manyLiveCalls(browser: ConsoleBrowser, target: ConsoleTarget): Promise<number> {
  await using opened = await browser.open(target, 'admin', '/audit');
  const { page } = opened;
  const calls = (turns: number): LiveCallView[] => Array.from({ length: LIVE_CALLS }, (_, at) => liveCall(at, turns));
  let tell: (message: WatchMessage) => void = () => undefined;
  await page.routeWebSocket('**/api/watch', (socket) => {
    tell = (message) => socket.send(JSON.stringify(message));
    socket.onMessage(() => tell({ type: 'calls', whole: true, calls: calls(0), over: [] }));
  });
  await page.goto(`${target.url}/console/live`);
  await page.getByText(`${LIVE_CALLS} calls`, { exact: true }).waitFor();
  const wire = await page.context().newCDPSession(page);
  await wire.send('Performance.enable');
  const scriptS = async (): Promise<number> =>
    (await wire.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
  const beforeS = await scriptS();
  for (let turns = 1; turns <= LIVE_SECONDS * 2; turns += 1) {
    tell({ type: 'calls', whole: false, calls: calls(turns), over: [] });
    await page.waitForTimeout(500);
  }
  return (((await scriptS()) - beforeS) * 1000) / LIVE_SECONDS;
}

function liveCall(at: number, turns: number): LiveCallView {
  const numbers = { from: `+1555${String(at).padStart(6, '0')}`, to: '+15550100', direction: 'inbound' } as const;
  const standing = {
    answeredBy: null,
    muted: false,
    mutedUntil: null,
    mutedBy: null,
    mode: 'bot',
    transfer: null,
    takenOver: null,
  } as const;
  const health = { holesMs: 0, lateMs: 0, lastReplyMs: 600 };
  const words = { caller: 'On Tuesday.', bot: `Turn ${turns}: which day suits you?` };
  const since = '2026-01-01T00:00:00.000Z';
  return {
    id: `call_${at}`,
    bot: 'clinic',
    carrier: 'twilio',
    ...numbers,
    since,
    phase: 'listening',
    ...standing,
    turns,
    health,
    words,
  };
}

/** Of every page of the menu, in both themes. */
async function violations(browser: ConsoleBrowser, target: ConsoleTarget): Promise<string[]> {
  await using opened = await browser.open(target, 'admin');
  const { page } = opened;
  const links = await page.getByRole('navigation').getByRole('link').all();
  const paths = await Promise.all(links.map((link) => link.getAttribute('href')));
  const found: string[] = [];
  for (const path of paths)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.goto(`${target.url}${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      found.push(...(await axeViolations(page)).map((violation) => `${path} ${colorScheme}: ${violation}`));
    }
  return found;
}

await using bench = await startGatewayBench();
// A browser of its own, which ends with this: the one that tests share would keep the process.
await using browser = await startConsoleBrowser({ args: [] });
const target = { url: bench.gateway.url, dataDir: bench.dataDir };
const pages: { readonly usableMs: number; readonly kb: number }[] = [];
for (let time = 0; time < Number(values.times); time += 1) pages.push(await firstPage(browser, target));
const list = await longList(browser, target);
const liveMs = await manyLiveCalls(browser, target);
const found = await violations(browser, target);
printDocument({
  firstPageKb: spread(pages.map(({ kb }) => kb)),
  usableMs: spread(pages.map(({ usableMs }) => usableMs)),
  list100kMs: list.scrolledMs,
  list100kLongestFrameMs: list.longestFrameMs,
  live200MsPerSecond: liveMs,
  axeViolations: found,
});

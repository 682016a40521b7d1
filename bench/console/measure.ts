// npm run -s bench -- console [--json] [--times 5] [--no-loop] [--calls 200] [--pairs 50] [--seconds 2] [--workload W1] [--listener]
// What the console costs: bytes and time of its first page, violations of accessibility, and the gateway's processor time while it is open.
import { parseArgs } from 'node:util';
import { startGatewayBench } from '../../test/integration/hosts/gateway-bench.ts';
import { axeViolations, type ConsoleBrowser, type ConsoleTarget, startConsoleBrowser } from '../../test/support/console.ts';
import { workloadNamed } from '../capacity/workload.ts';
import { about, spread } from '../document.ts';
import { measureAttachedConsole } from './attached-console.ts';
import { measureListTick } from './list-tick.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    times: { type: 'string', default: '5' },
    /** Leaves out the gateway's loop, which takes minutes. */
    'no-loop': { type: 'boolean', default: false },
    /** The rest is of the gateway's loop. */
    calls: { type: 'string', default: '200' },
    pairs: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '2' },
    workload: { type: 'string', default: 'W1' },
    listener: { type: 'boolean', default: false },
  },
});

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

async function measurePages() {
  await using bench = await startGatewayBench();
  await using browser = await startConsoleBrowser();
  const target = { url: bench.gateway.url, dataDir: bench.dataDir };
  const pages: { readonly usableMs: number; readonly kb: number }[] = [];
  for (let time = 0; time < Number(values.times); time += 1) {
    pages.push(await firstPage(browser, target));
    console.error(`first page ${time + 1}: ${JSON.stringify(pages.at(-1))}`);
  }
  const found = await violations(browser, target);
  for (const violation of found) console.error(violation);
  return {
    firstPageKb: spread(pages.map(({ kb }) => kb)),
    usableMs: spread(pages.map(({ usableMs }) => usableMs)),
    axeViolations: found.length,
  };
}

const started = about();
const pages = await measurePages();
// After the browser is gone: it would take the processor from the gateway that is measured.
const loop = values['no-loop']
  ? { loopCostPercent: null }
  : await measureAttachedConsole({
      workload: workloadNamed(values.workload),
      calls: Number(values.calls),
      pairs: Number(values.pairs),
      stretchMs: Number(values.seconds) * 1000,
      listener: values.listener,
    });
const listTick = values['no-loop'] ? null : await measureListTick(Number(values.calls));
const document = { ...started, ...pages, ...loop, listTick };
console.log(values.json ? JSON.stringify(document) : JSON.stringify(document, null, 2));
process.exit(0);

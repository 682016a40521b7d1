// npm run bench -- console [--json] [--times 5]
// What the console costs its user: bytes and time of its first page, and violations of accessibility.
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
await using browser = await startConsoleBrowser();
const target = { url: bench.gateway.url, dataDir: bench.dataDir };
const pages: { readonly usableMs: number; readonly kb: number }[] = [];
for (let time = 0; time < Number(values.times); time += 1) pages.push(await firstPage(browser, target));
const found = await violations(browser, target);
printDocument({
  firstPageKb: spread(pages.map(({ kb }) => kb)),
  usableMs: spread(pages.map(({ usableMs }) => usableMs)),
  axeViolations: found,
});

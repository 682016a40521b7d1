import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { chromiumProgram, type ConsoleBrowser, startConsoleBrowser } from '../../support/console.ts';
import { type GatewayBench, startGatewayBench } from '../../integration/hosts/gateway-bench.ts';

describe.runIf(chromiumProgram !== undefined)('the console', () => {
  let bench: GatewayBench;
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    [bench, browser] = await Promise.all([startGatewayBench({ clock: systemClock }), startConsoleBrowser()]);
  });

  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await bench[Symbol.asyncDispose]();
  });

  it('opens a page that could not be loaded, once the gateway answers again', async () => {
    await using opened = await browser.open({ url: bench.gateway.url, dataDir: bench.dataDir }, 'viewer', '/live');
    const { page } = opened;
    await page.getByRole('heading', { name: 'Live calls' }).waitFor();
    let isDown = true;
    await page.route(/system-page|\/api\/session$/u, (route) => (isDown ? route.abort() : route.continue()));
    await page.getByRole('link', { name: 'System' }).click();
    await page.getByText('This could not be loaded').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('This could not be loaded').waitFor();
    isDown = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Queues' }).waitFor();
    expect(await page.getByText('This could not be loaded').count()).toBe(0);
  });

  it('speaks Hindi once it is chosen, and remembers it', async () => {
    await using opened = await browser.open({ url: bench.gateway.url, dataDir: bench.dataDir }, 'viewer');
    const { page } = opened;
    await page.getByRole('button', { name: 'Language' }).click();
    await page.getByRole('menuitem', { name: 'हिन्दी' }).click();
    await expect.poll(() => page.evaluate(() => document.documentElement.lang)).toBe('hi');
    await page.reload();
    await page.getByRole('button', { name: 'भाषा' }).waitFor();
    expect(opened.complaints).toEqual([]);
    expect(opened.foreign).toEqual([]);
  });
});

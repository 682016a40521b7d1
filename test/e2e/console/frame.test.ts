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

  it('finds pages and what can be done by a few letters, and says which keys do what', async () => {
    await using opened = await browser.open({ url: bench.gateway.url, dataDir: bench.dataDir }, 'admin', '/calls');
    const { page } = opened;
    await page.getByRole('heading', { name: 'Calls' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Find anything' }).waitFor();
    await page.getByRole('option', { name: 'Live' }).waitFor();
    await opened.lookOver('palette');
    await page.keyboard.type('aud');
    await expect.poll(() => page.getByRole('option').allInnerTexts()).toEqual([expect.stringContaining('Audit')]);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/console/audit');
    await page.getByRole('heading', { name: 'Audit' }).waitFor();
    // Where text is typed, a question mark is one.
    await page.getByLabel('Search').focus();
    await page.keyboard.press('?');
    expect(await page.getByLabel('Search').inputValue()).toBe('?');
    await page.getByRole('heading', { name: 'Audit' }).click();
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Find anything').waitFor();
    await opened.lookOver('keys');
    await page.keyboard.press('Control+k');
    expect(await page.getByRole('banner').count()).toBeLessThanOrEqual(1);
    expect(opened.complaints).toEqual([]);
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

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { type GatewayBench, startGatewayBench } from '../../integration/hosts/gateway-bench.ts';
import { chromiumProgram, type ConsoleBrowser, startConsoleBrowser } from '../../support/console.ts';
import { HANGS_MS } from '../../support/patience.ts';

const GB = 1024 ** 3;

describe.runIf(chromiumProgram !== undefined)('the system page of the console', () => {
  let bench: GatewayBench;
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    [bench, browser] = await Promise.all([startGatewayBench({ clock: systemClock }), startConsoleBrowser()]);
  });

  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await bench[Symbol.asyncDispose]();
  });

  it('begins with what is wrong, says what to do, and has an admin retry jobs that were given up', async () => {
    // The recording of this call is not there, and no try brings it back.
    const { queue } = bench.gateway.backlog;
    await queue.enqueue('analyses', 'ana_1:0', { tenantId: 'default', nonsense: true });
    await expect.poll(async () => (await queue.counts('analyses')).failed, { timeout: HANGS_MS }).toBe(1);
    await using opened = await browser.open({ url: bench.gateway.url, dataDir: bench.dataDir }, 'admin', '/system');
    const { page } = opened;
    await page.getByText('Warning: Jobs of analyses that were given up: 1.').waitFor();
    await page.getByText('offhook jobs retry analyses --all').waitFor();
    await page.getByRole('figure', { name: /^Live calls: 0 now/u }).waitFor();
    await page.locator('canvas').nth(2).waitFor();
    await opened.lookOver('system');
    await page.getByRole('button', { name: 'Retry the jobs of analyses that were given up' }).click();
    await page.getByText('Jobs of analyses that are queued again: 1.').waitFor();
    // The same request a viewer sees without the button.
    await using looking = await browser.open({ url: bench.gateway.url, dataDir: bench.dataDir }, 'viewer', '/system');
    await looking.page.getByRole('heading', { name: 'Queues' }).waitFor();
    expect(await looking.page.getByRole('button', { name: /^Retry/u }).count()).toBe(0);
    expect(await looking.page.getByRole('link', { name: 'Queue dashboard' }).count()).toBe(0);
    expect([...opened.complaints, ...opened.foreign]).toEqual([]);
  });

  it('says that all is well, and as soon as it is not', async () => {
    await using opened = await browser.open({ url: bench.gateway.url, dataDir: bench.dataDir }, 'viewer', '/');
    const { page } = opened;
    let diskFreeBytes = 100 * GB;
    let isDead = false;
    await page.route('**/api/system', async (route) => {
      if (isDead) return route.abort();
      const response = await route.fetch();
      const { machine, ...system } = (await response.json()) as { machine: object };
      const low = {
        code: 'disk-low',
        severity: 'warning',
        what: 'The disk is low.',
        remedy: 'Make room.',
        facts: { free: '1.0' },
      };
      const problems = diskFreeBytes < GB ? [low] : [];
      await route.fulfill({ response, json: { ...system, machine: { ...machine, diskFreeBytes }, problems } });
    });
    await page.goto(`${bench.gateway.url}/console/system`);
    await page.getByRole('heading', { name: 'All is well' }).waitFor();
    isDead = true;
    await page.getByRole('heading', { name: 'The gateway does not answer' }).waitFor();
    expect(await page.getByText('All is well').count()).toBe(0);
    isDead = false;
    await page.getByRole('heading', { name: 'All is well' }).waitFor();
    diskFreeBytes = 0.9 * GB;
    await page.getByRole('heading', { name: '1 problem' }).waitFor();
    await page.getByRole('button', { name: 'Language' }).click();
    await page.getByRole('menuitem', { name: 'हिन्दी' }).click();
    await page.getByText('डेटा फ़ोल्डर की डिस्क में 1.0 GB बचा है।').waitFor();
    expect(opened.complaints.filter((text) => !text.includes('ERR_FAILED'))).toEqual([]);
  });
});

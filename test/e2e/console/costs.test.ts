import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadPrices } from '../../../src/config/prices.ts';
import { costOf } from '../../../src/costs/cost.ts';
import type { UsedUnits } from '../../../src/costs/usage.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { type GatewayBench, startGatewayBench } from '../../integration/hosts/gateway-bench.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { chromiumProgram, type ConsoleBrowser, startConsoleBrowser } from '../../support/console.ts';

const PRICES = `currency: EUR
prices:
  - { vendor: twilio, unit: inbound-carrier-minutes, price: 0.01, date: "2026-11-01", source: contract 17 }
  - { vendor: openai, model: small, unit: output-text-tokens, price: 2, per: 1000000, date: "2026-11-02", source: contract 18 }
`;

describe.runIf(chromiumProgram !== undefined)('costs in the console', () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-costs-page-'));
  const prices = join(folder, 'prices.yaml');
  let bench: GatewayBench;
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    writeFileSync(prices, PRICES);
    const env = { OFFHOOK_SPEND__PRICES: prices };
    [bench, browser] = await Promise.all([startGatewayBench({ clock: systemClock, env }), startConsoleBrowser()]);
    const list = loadPrices(prices, false).prices;
    const call = (id: string, botName: string, daysAgo: number, usage: readonly UsedUnits[]) => {
      const startedAtMs = Date.now() - daysAgo * 86_400_000;
      return callRecordOf({ id, botName, startedAtMs, endedAtMs: startedAtMs + 9_000, cost: costOf(usage, list) });
    };
    const minutes: UsedUnits = { vendor: 'twilio', unit: 'inbound-carrier-minutes', amount: 1.5 };
    const tokens: UsedUnits = { vendor: 'openai', model: 'small', unit: 'output-text-tokens', amount: 10_000 };
    const unpriced: UsedUnits = { vendor: 'acme', unit: 'recogniser-seconds', amount: 80 };
    const cached: UsedUnits = { vendor: 'acme', unit: 'cached-characters', amount: 120 };
    await bench.gateway.backlog.store.calls.upsertMany([
      call('call_known', 'clinic', 0, [minutes, tokens, cached]),
      call('call_other', 'sales', 1, [minutes]),
      call('call_unknown', 'sales', 1, [minutes, unpriced]),
    ]);
  });

  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await bench[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  it('adds up by day, bot and vendor, says what is unknown, and where prices come from', async () => {
    await using opened = await browser.open({ url: bench.gateway.url, dataDir: bench.dataDir }, 'viewer', '/costs');
    const { page } = opened;
    const table = page.getByRole('table', { name: 'Costs' });
    await table.getByRole('row', { name: /^Total 3 Unknown at least €0\.08/u }).waitFor();
    await page.getByRole('row', { name: 'openai · small text tokens out €2.00 for 1,000,000 2 Nov 2026 contract 18' }).waitFor();
    await page.getByText('acme: seconds recognised (1 call)').waitFor();
    await opened.lookOver('costs');
    await page.getByLabel('Add up by').selectOption('bot');
    await table.getByRole('row', { name: /^clinic 1 €0\.04 €0\.04/u }).waitFor();
    await table.getByRole('row', { name: /^sales 2 Unknown at least €0\.04 –/u }).waitFor();
    await page.getByLabel('Add up by').selectOption('vendor');
    await table.getByRole('row', { name: /^acme 2 Unknown/u }).waitFor();
    expect([...opened.complaints, ...opened.foreign]).toEqual([]);
  });

  it('shows what one call cost, part by part, in Hindi too', async () => {
    await using opened = await browser.open({ url: bench.gateway.url, dataDir: bench.dataDir }, 'viewer', '/calls/call_known');
    const { page } = opened;
    await page.getByRole('tab', { name: 'Collected' }).click();
    const table = page.getByRole('table', { name: 'Cost' });
    await table.getByRole('row', { name: 'twilio 2 minutes inbound €0.02' }).waitFor();
    await table.getByRole('row', { name: 'openai · small 10,000 text tokens out €0.02' }).waitFor();
    await table.getByRole('row', { name: 'acme 120 characters spoken (from the cache, free) €0.00' }).waitFor();
    await table.getByRole('row', { name: 'Total €0.04' }).waitFor();
    await page.getByRole('button', { name: 'Language' }).click();
    await page.getByRole('menuitem', { name: 'हिन्दी' }).click();
    await page.getByRole('table', { name: 'लागत' }).waitFor();
    expect([...opened.complaints, ...opened.foreign]).toEqual([]);
  });
});

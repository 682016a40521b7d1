import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { SignInLinks } from '../../../src/http/session/console-key.ts';
import { type GatewayBench, startGatewayBench } from '../../integration/hosts/gateway-bench.ts';
import { axeViolations, chromiumProgram, type ConsoleBrowser, startConsoleBrowser } from '../../support/console.ts';

const PASSWORD = 'correct horse battery';
const PICTURES = process.env['OFFHOOK_TEST_PICTURES'];

describe.runIf(chromiumProgram !== undefined)('signing in to the console', () => {
  let bench: GatewayBench;
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    const env = { OFFHOOK_ADMIN_PASSWORD: PASSWORD };
    [bench, browser] = await Promise.all([startGatewayBench({ clock: systemClock, env }), startConsoleBrowser()]);
  });

  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await bench[Symbol.asyncDispose]();
  });

  it('takes the password, shows who is signed in, and forgets them at the end', async () => {
    const context = await browser.browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.goto(`${bench.gateway.url}/console`);
    await page.getByLabel('Admin password').fill('a wrong password');
    await page.getByLabel('Admin password').press('Enter');
    await page.getByRole('alert').getByText('The password is wrong.').waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeViolations(page)).toEqual([]);
      if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/sign-in-${colorScheme}.png` });
    }
    await page.getByLabel('Admin password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const account = page.getByRole('button', { name: 'Account: admin, Admin' });
    await account.waitFor();
    expect(await page.evaluate('document.cookie')).toBe('');
    await page.reload();
    await page.getByRole('link', { name: 'Audit' }).click();
    const entry = page.getByRole('row', { name: /admin Signed in password Done/u });
    await entry.waitFor();
    await page.getByLabel('Search').fill('nobody of that name');
    await page.getByText('Nothing found').waitFor();
    await page.getByLabel('Search').fill('');
    await entry.waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeViolations(page)).toEqual([]);
      if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/audit-${colorScheme}.png` });
    }
    // Who was signed in reads why they are not, and comes back to the page.
    await context.clearCookies();
    await page.getByLabel('Search').fill('link');
    await page.getByRole('alert').getByText('Your session has ended').waitFor();
    await page.getByLabel('Admin password').fill(PASSWORD);
    await page.getByLabel('Admin password').press('Enter');
    await page.getByRole('heading', { name: 'Audit' }).waitFor();
    await account.click();
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
    await page.getByLabel('Admin password').waitFor();
    expect(await page.getByText('Your session has ended').count()).toBe(0);
    await page.reload();
    await page.getByLabel('Admin password').waitFor();
    await context.close();
  });

  it('takes a link once, and leaves nothing of it in the address', async () => {
    const code = new SignInLinks(bench.dataDir).make({ name: 'asha', role: 'viewer' }, Date.now());
    const address = `${bench.gateway.url}/console#code=${code}`;
    const first = await browser.browser.newContext();
    const page = await first.newPage();
    await page.goto(address);
    await page.getByRole('button', { name: 'Account: asha, Viewer' }).waitFor();
    expect(page.url()).not.toContain('code');
    expect(await page.evaluate('history.length')).toBeLessThanOrEqual(2);
    await first.close();
    const second = await browser.browser.newContext({ viewport: { width: 390, height: 844 } });
    const other = await second.newPage();
    await other.goto(address);
    await other.getByRole('alert').getByText('used before').waitFor();
    await other.getByText('npx offhook console', { exact: true }).waitFor();
    expect(other.url()).not.toContain('code');
    if (PICTURES !== undefined) await other.screenshot({ path: `${PICTURES}/sign-in-phone.png` });
    await second.close();
  });
});

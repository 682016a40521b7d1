import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SimulatedCallee, zoneAtNoon } from '../../../src/sim/caller/callee.ts';
import { type OutboundBench, sayHello, startOutboundBench } from '../../integration/hosts/outbound-bench.ts';
import { chromiumProgram, type ConsoleBrowser, type ConsolePage, startConsoleBrowser } from '../../support/console.ts';

const ASHA = '+442079460101';
const SUPPRESSED = '+442079460109';
const BUSY = ['+442079460102', '+442079460103', '+442079460104', '+442079460105'];
const answers: SimulatedCallee = { ringMs: 100, outcome: { kind: 'answered', fullMedia: true, talk: sayHello } };

/** Six who can be called, and two rows that cannot. */
const file = (): string => {
  const rows = [
    `${ASHA},Asha,${zoneAtNoon()},x`,
    '12,Broken,,x',
    ...BUSY.map((number) => `${number},Ravi,${zoneAtNoon()},x`),
    '+442079460107,Lost,Mars/Olympus,x',
    `${SUPPRESSED},Nobody,${zoneAtNoon()},x`,
  ];
  return `phone,First name,time zone,remark\n${rows.join('\n')}\n`;
};

describe.runIf(chromiumProgram !== undefined)('campaigns in the console', () => {
  let bench: OutboundBench;
  let browser: ConsoleBrowser;
  let id: string;

  beforeAll(async () => {
    const busy: SimulatedCallee = { ringMs: 50, outcome: { kind: 'busy' } };
    [bench, browser] = await Promise.all([
      startOutboundBench(1, ({ to }) => (to === ASHA ? answers : busy)),
      startConsoleBrowser(),
    ]);
    await bench.api('/suppressions', { number: SUPPRESSED });
  });

  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await bench[Symbol.asyncDispose]();
  });

  const confirm = async ({ page }: ConsolePage, button: string, reason?: string): Promise<void> => {
    await page.getByRole('button', { name: button, exact: true }).click();
    const dialog = page.getByRole('dialog');
    if (reason !== undefined) await dialog.getByLabel(/Reason/u).fill(reason);
    await dialog.getByRole('button', { name: button, exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
  };

  it('puts a number on the do-not-call list, takes one off with a reason, and names broken rows of a file', async () => {
    await using opened = await browser.open(bench, 'operator', '/campaigns/lists');
    const { page } = opened;
    await page.getByLabel('Number that must not be called').fill('+442079460119');
    await page.getByLabel('Reason').fill('asked by mail');
    await page.getByRole('button', { name: 'Add to the list' }).click();
    await page.getByRole('cell', { name: '+442079460119' }).waitFor();
    await page.getByRole('cell', { name: 'asked by mail' }).waitFor();
    const numbers = '+442079460120\nnobody\n+442079460121\n';
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from(numbers) });
    await page.getByText('2 added, 0 known before, 1 broken.').waitFor();
    await page.getByRole('row', { name: /^2 number nobody not a telephone number/u }).waitFor();
    await page.getByLabel('List of the file').fill('national');
    await page.getByLabel('Obtained on').fill('2026-03-01');
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'dnd.csv', mimeType: 'text/csv', buffer: Buffer.from('+442079460122\n') });
    await page.getByText(/Lists of others: national/u).waitFor();
    await opened.lookOver('campaign-lists');
    await page
      .getByRole('row', { name: /\+442079460121/u })
      .getByRole('button', { name: 'Remove' })
      .click();
    const dialog = page.getByRole('dialog', { name: 'Take +442079460121 off the list?' });
    await dialog.getByLabel('Reason').fill('typed wrongly');
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('row', { name: /\+442079460121/u }).waitFor({ state: 'detached' });
    await page.getByLabel('Look up a number').fill('+442079460121');
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    await page.getByText('Not on any list').waitFor();
    await page.getByRole('tab', { name: 'Consents' }).click();
    await page.getByText('No consents').waitFor();
    const consents = Array.from(
      { length: 201 },
      (_, at) => `+4420794${String(61_000 + at)},express,service,2026-03-01,form ${61_000 + at},form,web shop\n`,
    );
    await page.locator('input[type=file]').setInputFiles({
      name: 'consents.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(`phone,level,purposes,given_at,evidence,evidence_kind,evidence_source\n${consents.join('')}`),
    });
    await page.getByText('201 added, 0 known before, 0 broken.').waitFor();
    await page.getByText('The first 200 are shown.').waitFor();
    await opened.lookOver('campaign-consents');
    expect(opened.complaints).toEqual([]);
  });

  it('makes a campaign, imports a file with broken rows, runs it, and shows what came of it', async () => {
    await using opened = await browser.open(bench, 'operator', '/campaigns');
    const { page } = opened;
    await page.getByText('There are no campaigns yet').waitFor();
    await page.getByRole('link', { name: 'New campaign' }).first().click();
    await page.getByRole('button', { name: /Make the campaign/u }).waitFor();
    const most = page.getByLabel('Calls to one person, at most');
    await most.fill('99');
    await page.getByRole('button', { name: /Make the campaign/u }).click();
    // The API's own words stand at the fields.
    await page.getByText('Some fields are not right').waitFor();
    expect(await most.getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
    await opened.lookOver('campaign-new');
    await most.fill('1');
    await page.getByLabel('Name').fill('March');
    await page.getByLabel('New calls a second, at most').fill('2');
    await page.getByRole('button', { name: /Make the campaign/u }).click();
    await page.getByRole('heading', { name: 'March' }).waitFor();
    id = /cmp_[0-9a-f]+/u.exec(page.url())?.[0] ?? '';

    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'march.csv', mimeType: 'text/csv', buffer: Buffer.from(file()) });
    await page.getByText('8 rows: 6 new, 0 known before, 0 twice, 2 broken.').waitFor();
    await page.getByRole('row', { name: /^3 phone 12 no such number|^3 phone 12 not a telephone number/u }).waitFor();
    await page.getByRole('row', { name: /^8 time_zone Mars\/Olympus Mars\/Olympus is not a time zone/u }).waitFor();
    await page.getByLabel('Variable of the column first_name').fill('name');
    await page.getByLabel('Variable of the column remark').fill('');
    await page.getByLabel('Country of numbers without +').focus();
    await expect.poll(() => page.getByRole('button', { name: 'Add 6 contacts' }).isEnabled()).toBe(true);
    await opened.lookOver('campaign-import');
    const downloaded = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download broken rows' }).click();
    expect((await downloaded).suggestedFilename()).toBe('broken-rows-march.csv');
    await page.getByRole('button', { name: 'Add 6 contacts' }).click();
    await page.getByText('6 contacts were added.').waitFor();
    await page.getByText(/Calls 6 people with the bot reminder, from \+442079460001/u).waitFor();
    await page.getByText(/At most 2 new calls a second/u).waitFor();

    await confirm(opened, 'Start');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await confirm(opened, 'Pause', 'lunch');
    await page.getByText('Somebody paused it: lunch').waitFor();
    await confirm(opened, 'Resume');
    await page.getByRole('tab', { name: 'Overview' }).click();
    await page.getByRole('status').getByText('Finished').waitFor();
    await page.getByRole('row', { name: 'Busy 4 67 %' }).waitFor();
    await page.getByRole('row', { name: 'Conversation 1 17 %' }).waitFor();
    await page
      .getByRole('listitem')
      .filter({ hasText: /Spoke to a person\s*1/u })
      .waitFor();
    await page.getByRole('img', { name: /Calls by time: 5 placed/u }).waitFor();
    await opened.lookOver('campaign');

    await page.getByRole('tab', { name: 'Refused calls (1)' }).click();
    await page.getByRole('button', { name: /On a do-not-call list/u }).click();
    await page.getByText('the number is on the list own').waitFor();
    await page.getByRole('cell', { name: SUPPRESSED }).waitFor();
    await opened.lookOver('campaign-refused');

    await page.getByRole('tab', { name: 'Contacts (6)' }).click();
    await page.getByRole('button', { name: ASHA }).waitFor();
    await opened.lookOver('campaign-contacts');
    await page.getByRole('button', { name: ASHA }).click();
    const call = page.getByRole('dialog').getByRole('link', { name: 'Open' });
    expect(await call.getAttribute('href')).toMatch(/^\/console\/calls\/call_/u);
    // The settings that were wrong on purpose.
    expect(opened.complaints).toEqual([expect.stringContaining('400 (Bad Request)')]);
    expect(opened.foreign).toEqual([]);
    const { body } = await bench.api<{ contacts: { variables: object }[] }>(
      `/campaigns/${id}/contacts?number=${encodeURIComponent(ASHA)}`,
    );
    expect(body.contacts[0]?.variables).toEqual({ name: 'Asha' });
  });

  it('shows who may only look masked numbers, and nothing to press', async () => {
    await using opened = await browser.open(bench, 'viewer', `/campaigns/${id}?tab=contacts`);
    const { page } = opened;
    await page.getByRole('button', { name: '***********01' }).waitFor();
    for (const name of ['Start', 'Pause', 'Resume', 'Stop']) expect(await page.getByRole('button', { name }).count()).toBe(0);
    expect(await page.getByRole('tab', { name: 'Add contacts' }).count()).toBe(0);
    expect(await page.getByLabel('Number').count()).toBe(0);
    await page.goto(`${bench.url}/console/campaigns/lists`);
    await page.getByRole('cell', { name: '***********09' }).waitFor();
    expect(await page.getByRole('button', { name: /Add|Remove|Import/u }).count()).toBe(0);
    await page.goto(`${bench.url}/console/campaigns/new`);
    await page.getByText('There is no such campaign.').waitFor();
    expect(await page.content()).not.toContain(ASHA);
  });

  it('shows in Hindi and between midnight and midnight who may be called when', async () => {
    const made = await bench.api<{ id: string }>('/campaigns', {
      name: 'हिन्दी',
      bot: 'reminder',
      from: '+442079460001',
      profile: 'none',
    });
    const contacts = ['Asia/Kolkata', 'America/New_York', 'Europe/London'].map((timeZone, index) => ({
      number: `+44207946013${index}`,
      timeZone,
    }));
    await bench.api(`/campaigns/${made.body.id}/contacts`, { contacts });
    await using opened = await browser.open(bench, 'viewer', `/campaigns/${made.body.id}`);
    const { page } = opened;
    await page.getByRole('img', { name: 'Europe/London: 08:00–21:00' }).waitFor();
    await page.getByRole('button', { name: /^Language/u }).click();
    await page.getByRole('menuitem', { name: 'हिन्दी' }).click();
    await page.getByText('क्या होगा').waitFor();
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await opened.lookOver('campaign-hindi');
    expect(opened.complaints).toEqual([]);
  });
});

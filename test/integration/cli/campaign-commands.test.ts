import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { openRecords, type Records } from '../../../src/hosts/records.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { lastJson, runCommand } from '../../support/command.ts';

const OWN = '+12125550100';
const FILE = 'phone,name,due date\n+12127365000,Ravi,2026-12-03\n98765 43210,Asha,\n12,Bad,\n+12127365000,Twice,\n';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let records: Records;
let file: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  file = join(folder.path, 'march.csv');
  await writeFile(file, FILE);
  // As while a gateway runs: commands join its store, which takes less time than to open it for each.
  const config = loadConfig({ env: { OFFHOOK_DATA_DIR: join(folder.path, 'data') }, files: [] });
  records = await openRecords({ config, clock: systemClock, logger: silentLogger });
});
afterAll(async () => {
  await records.close();
  await folder[Symbol.asyncDispose]();
});

const able = {
  OFFHOOK_TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
  OFFHOOK_TWILIO_AUTH_TOKEN: 'a-token-of-these-tests-0123456789ab',
  OFFHOOK_DIALLING__CALLER_IDS: OWN,
};
const offhook = (args: readonly string[], env = {}) =>
  runCommand(['campaign', ...args], { OFFHOOK_DATA_DIR: join(folder.path, 'data'), ...env });

it('makes a campaign of a file, names each bad row, and says what is missing for its start', async () => {
  const { code, stdout, stderr } = await offhook(['create', file, '--bot', 'reminder', '--from', OWN, '--region', 'IN']);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^The campaign march is made: cmp_[0-9a-f]{32}\n\nrows {8}4\nadded {7}2\nduplicates {2}1 {2}the same number again\nrefused {5}1 {2}/u,
  );
  expect(stdout).toContain('carrier-account-missing  no carrier has an account that can place calls\n');
  expect(stdout).toContain(`caller-id-not-allowed    ${OWN} is not among dialling.callerIds`);
  expect(stderr).toBe('line 4: no such number in the numbering plan of IN\nline 5: the number of line 2 again\n');
  const started = await offhook(['start', 'march', '--json']);
  expect([started.code, lastJson(started)]).toMatchObject([
    1,
    { state: 'draft', missing: [{ missing: 'carrier-account-missing' }, {}] },
  ]);
});

it('starts, pauses, resumes and stops one by its name', async () => {
  const started = await offhook(['start', 'march'], able);
  expect([started.code, started.stdout]).toEqual([0, 'The campaign march is running.\n']);
  expect(started.stderr).toContain('No gateway runs on');
  await offhook(['pause', 'march', '--reason', 'lunch'], able);
  const paused = await offhook(['status', 'march'], able);
  expect(paused.stdout).toMatch(/^campaign {3}march \(cmp_\w+\)\nstate {6}paused: lunch, since 20/u);
  expect(paused.stdout).toContain('contacts            2\nnot called yet      2  100 %\n');
  expect((await offhook(['resume', 'march', '--json'], able)).stdout).toContain('"state":"running"');
  expect((await offhook(['stop', 'march', '--json'], able)).stdout).toContain('"state":"stopped"');
  const again = await offhook(['start', 'march'], able);
  expect([again.code, again.stderr]).toEqual([
    1,
    expect.stringContaining('is stopped: start needs one that is draft or finished'),
  ]);
  const audit = await readFile(join(folder.path, 'data', 'audit.jsonl'), 'utf8');
  const acts = audit
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { action: string }).action);
  expect(acts).toEqual(['create', 'start', 'pause', 'resume', 'stop'].map((act) => `campaign.${act}`));
});

it('takes settings of options and of a file, options first', async () => {
  const settings = join(folder.path, 'settings.yaml');
  await writeFile(
    settings,
    'bot: clinic\nfrom: "+12125550199"\nattempts: { most: 9, callBacks: { most: 1 } }\ncallsPerSecond: 5\n',
  );
  const options = [
    '--bot',
    'reminder',
    '--max-attempts',
    '4',
    '--window',
    'mon-wed,fri 10:00-18:00',
    '--registration',
    'entityId=11=2',
  ];
  const made = await offhook(['create', file, '--settings', settings, ...options, '--name', 'Second', '--json'], able);
  expect(lastJson(made)).toMatchObject({
    name: 'Second',
    contacts: { rows: 4, added: 1, refused: 2 },
    missing: [{ missing: 'caller-id-not-allowed' }],
  });
  const list = lastJson(await offhook(['list', '--json'])) as { campaigns: object[] };
  expect(list.campaigns).toMatchObject([
    { name: 'Second', bot: 'reminder', state: 'draft', contacts: 1, done: 0 },
    { name: 'march', state: 'stopped', contacts: 2 },
  ]);
});

it('adds contacts, shows them masked, and exports them', async () => {
  const added = await offhook(['add', 'Second', file, '--region', 'IN', '--json']);
  expect([added.code, lastJson(added)]).toMatchObject([0, { contacts: { rows: 4, added: 1, known: 1 } }]);
  const shown = await offhook(['contacts', 'Second']);
  expect(shown.stdout).toBe(
    'number         state    outcome  cause  calls  next call\n**********00   pending                  0\n***********10  pending                  0\n',
  );
  expect((await offhook(['contacts', 'Second', '--numbers', '--json'])).stdout).toContain('+919876543210');
  const out = join(folder.path, 'out.csv');
  expect((await offhook(['export', 'Second', '--out', out])).code).toBe(0);
  expect((await readFile(out, 'utf8')).split('\r\n')[1]).toMatch(
    /^\+12127365000,,pending,,,0,.*,"\{""name"":""Ravi"",""due_date"":""2026-12-03""\}"$/u,
  );
});

it('reports on one without calls, in each form', async () => {
  expect((await offhook(['report', 'Second'])).stdout).toMatch(
    /^Second \(cmp_\w+\), draft\. Days and hours are on the clock of UTC\.\n\ncontacts {20}2\n/u,
  );
  expect((await offhook(['report', 'Second', '--csv'])).stdout).toBe(
    'day,hour,bot,callerId,outcome,calls,answered,talkSeconds\r\n',
  );
  const report = lastJson(await offhook(['report', 'Second', '--json', '--zone', 'Asia/Kolkata']));
  expect(report).toMatchObject({ zone: 'Asia/Kolkata', contacts: { total: 2 }, attempts: { attempts: 0 }, rows: [] });
});

it('erases contacts, and keeps the numbers', async () => {
  expect((await offhook(['erase', 'Second', '--json'])).code).toBe(0);
  expect((await offhook(['contacts', 'Second', '--numbers'])).stdout).toContain('(erased)');
  expect(lastJson(await offhook(['status', 'Second', '--json']))).toMatchObject({ state: 'stopped', contacts: { contacts: 2 } });
});

test.each([
  {
    note: 'missing options',
    args: ['create', 'FILE', '--rate', '0'],
    says: ['--bot: is needed', '--from: is needed', '--rate: '],
  },
  {
    note: 'a caller id that is no number',
    args: ['create', 'FILE', '--bot', 'b', '--from', '12'],
    says: ['--from (0): a number in E.164 form'],
  },
  { note: 'no such file', args: ['create', 'nowhere.csv', '--bot', 'b', '--from', OWN], says: ['there is no file nowhere.csv'] },
  { note: 'hours that are none', args: ['create', 'FILE', '--window', 'noon'], says: ['"mon-fri 10:00-18:00"'] },
  { note: 'no such campaign', args: ['status', 'April'], says: ['there is no campaign April'] },
  { note: 'no such region', args: ['create', 'FILE', '--region', 'Mars'], says: ['ISO 3166'] },
])('exits with 2 and one clear message for $note', async ({ args, says }) => {
  const { code, stdout, stderr } = await offhook(args.map((each) => (each === 'FILE' ? file : each)));
  expect([code, stdout]).toEqual([2, '']);
  for (const text of says) expect(stderr).toContain(text);
});

it('exits with 1 where no row is a contact, and names the rows', async () => {
  const bad = join(folder.path, 'bad.csv');
  await writeFile(bad, 'phone\n1\n');
  const { code, stderr } = await offhook(['create', bad, '--bot', 'reminder', '--from', OWN]);
  expect([code, stderr]).toEqual([1, expect.stringContaining('line 2: ')]);
  await writeFile(bad, 'name\nAsha\n');
  const none = await offhook(['create', bad, '--bot', 'reminder', '--from', OWN, '--name', 'never']);
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('no column is called one of phone')]);
  expect((await offhook(['list', '--json'])).stdout).not.toContain('never');
});

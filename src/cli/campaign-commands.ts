import { type Command, Option } from 'commander';
import { type Campaign, readCampaign, type WrittenSettings } from '../outbound/campaign.ts';
import { type CampaignChange, type CampaignControl, CampaignNotReadyError } from '../outbound/campaign-control.ts';
import { CONTACT_COLUMNS, contactCells, contactsOf, reportTable } from '../outbound/report.ts';
import type { ContactsOptions } from '../outbound/contacts/read-contacts.ts';
import { readContactsFile } from '../outbound/contacts/read-json-lines.ts';
import { openCampaignControl } from '../hosts/campaigns.ts';
import type { Records } from '../hosts/records.ts';
import { csvLines } from '../records/analysis/table.ts';
import { keepAwake, systemClock } from '../kernel/clock.ts';
import { readFileParts } from '../kernel/file-streams.ts';
import { sleep } from '../kernel/waiting.ts';
import { CONTACT_STATES, type ContactState } from '../records/campaigns.ts';
import { type Disposition, DISPOSITIONS, PURPOSES } from '../records/dialling.ts';
import { maskNumber } from '../records/privacy/mask-number.ts';
import { addCampaignDemoCommand } from './campaign-demo/command.ts';
import { numbersTable, printImport, printMissing, printReport, printStatus, shownTime } from './campaign/print.ts';
import {
  type CampaignRules,
  type CreateFlags,
  numbersOption,
  regionOption,
  registrationOption,
  windowOption,
  writtenSettings,
  zoneOption,
} from './campaign/settings.ts';
import { whoAmI, withRecords } from './records-commands.ts';
import { runningGateways } from './running-gateways.ts';
import { requireFile, writeOutput } from './shell/files.ts';
import { countOption, EXIT, numberOption, printJson, printLine, printNote, tableText, UsageError } from './shell/output.ts';

interface CommonFlags {
  readonly tenant: string;
  readonly json?: boolean;
}

interface FileFlags {
  readonly region?: string;
  readonly numberColumn?: string;
  readonly zoneColumn?: string;
  readonly encoding?: 'utf-8' | 'windows-1252';
}

/** What a command works with. */
interface Desk {
  readonly records: Records;
  readonly control: CampaignControl;
  readonly dataDir: string;
  readonly defaultRegion: string | undefined;
}

/** Between two looks of `status --watch`. */
const WATCH_MS = 2000;

/** `offhook campaign`: makes campaigns, starts and stops them, and tells what came of them. */
export function addCampaignCommand(program: Command): void {
  const campaign = program
    .command('campaign')
    .description('call a list of people: make campaigns, start and stop them, and report on them');
  const command = (usage: string, description: string): Command =>
    campaign
      .command(usage)
      .description(description)
      .option('--tenant <id>', 'whose campaigns', 'default')
      .option('--json', 'print one JSON document');

  withFileOptions(command('create <contacts.csv>', 'make a campaign and add its contacts; it calls nobody before its start'))
    .option('--bot <name>', 'the bot that speaks')
    .option('--from <numbers>', 'caller ids, separated by commas, which share the calls', numbersOption)
    .option('--profile <name>', 'dialling profile: in, us, eu, none or your own; dialling.profile unless given')
    .option('--name <name>', "the campaign's name; the file's unless given")
    .addOption(new Option('--purpose <purpose>', 'why people are called').choices(PURPOSES))
    .option(
      '--registration <name=id>',
      'an id that the profile demands, such as entityId=1101…; may come again',
      registrationOption,
    )
    .option('--carrier <name>', 'the carrier; that of the caller id unless given')
    .option('--rate <calls>', 'most new calls a second', numberOption)
    .option('--concurrency <calls>', 'most calls at once', countOption)
    .option('--weight <weight>', 'share of the rate beside other campaigns', numberOption)
    .option('--window <hours>', 'hours on the clock of who is called, "mon-fri 10:00-18:00"; may come again', windowOption)
    .option('--zone <zone>', 'time zone of contacts without one; else the zones of their number', zoneOption)
    .option('--max-attempts <calls>', 'most calls to one contact', countOption)
    .option('--starts-at <time>', 'no call before this moment: 2026-03-02T09:00:00+05:30')
    .option('--ends-at <time>', 'no call from this moment on')
    .option('--settings <file>', 'a YAML file with any setting of a campaign; options go before it')
    .option('--start', 'start it at once')
    .action((file: string, flags: CommonFlags & FileFlags & CreateFlags & { start?: boolean }) => create(file, flags));
  withFileOptions(command('add <campaign> <contacts.csv>', 'add contacts; numbers that it has are not added again')).action(
    (name: string, file: string, flags: CommonFlags & FileFlags) =>
      withCampaign(name, flags, async (found, desk) => {
        requireFile(file);
        const report = await desk.control.addContacts(found, rowsOf(file, flags, desk));
        await note(desk, flags, 'contacts', found);
        if (flags.json === true) printJson({ id: found.id, contacts: report });
        else printImport(report);
        return report.added + report.known > 0 ? EXIT.ok : EXIT.failed;
      }),
  );
  const change = (act: CampaignChange, description: string): void => {
    command(`${act} <campaign>`, description)
      .option('--reason <text>', 'shown with its state')
      .action((name: string, flags: CommonFlags & { reason?: string }) =>
        withCampaign(name, flags, (found, desk) => changeState(found, act, flags, desk)),
      );
  };
  change('start', 'begin to call; refused with everything that is missing');
  change('pause', 'begin no further call; calls under way go on');
  change('resume', 'go on calling');
  change('stop', 'end it for good; contacts that were not reached are cancelled');
  command('status <campaign>', 'show how its contacts stand')
    .option('--watch', 'show it again every two seconds until it has ended')
    .action((name: string, flags: CommonFlags & { watch?: boolean }) =>
      withCampaign(name, flags, (found, desk) => status(found, flags, desk)),
    );
  command('report <campaign>', 'what came of it by day, hour, bot, caller id and outcome')
    .option('--csv', 'print one row of CSV for each day, hour, bot, caller id and outcome')
    .option('--zone <zone>', "whose clock days and hours are on; the campaign's zone, else UTC", zoneOption)
    .action((name: string, flags: CommonFlags & { csv?: boolean; zone?: string }) =>
      withCampaign(name, flags, async (found, { control }) => {
        const report = await control.report(found, flags.zone);
        if (flags.json === true) printJson(report);
        else if (flags.csv === true) process.stdout.write(csvLines(reportTable(report)));
        else printReport(report);
        return EXIT.ok;
      }),
    );
  command('list', 'show all campaigns, newest first').action((flags: CommonFlags) => withDesk((desk) => list(flags, desk)));
  command('contacts <campaign>', 'show contacts, their numbers masked')
    .addOption(new Option('--state <state>', 'only those').choices(CONTACT_STATES))
    .addOption(new Option('--outcome <outcome>', 'only those').choices(DISPOSITIONS))
    .option('--limit <count>', 'at most so many', countOption, 100)
    .option('--numbers', 'show numbers in full')
    .action((name: string, flags: ContactFlags) => withCampaign(name, flags, (found, desk) => contacts(found, flags, desk)));
  command('export <campaign>', 'write all contacts and what came of them as CSV, with numbers and variables')
    .option('--out <file>', 'where to; - is stdout', '-')
    .action((name: string, flags: CommonFlags & { out: string }) =>
      withCampaign(name, flags, async (found, desk) => {
        const bytes = await writeOutput(flags.out, exportLines(found, desk));
        await note(desk, flags, 'export', found);
        if (flags.json === true && flags.out !== '-') printJson({ id: found.id, file: flags.out, bytes });
        return EXIT.ok;
      }),
    );
  command('erase <campaign>', 'stop it and destroy the personal data of its contacts and calls; the report stays').action(
    (name: string, flags: CommonFlags) => withCampaign(name, flags, (found, desk) => erase(found, flags, desk)),
  );
  addCampaignDemoCommand(campaign);
}

function withFileOptions(command: Command): Command {
  return command
    .option('--region <code>', 'country of numbers without +, for example IN; dialling.defaultRegion unless given', regionOption)
    .option('--number-column <name>', 'column of the numbers')
    .option('--zone-column <name>', 'column of the time zones')
    .addOption(new Option('--encoding <name>', 'of the file').choices(['utf-8', 'windows-1252']));
}

/** Runs a command over the store, which may be a running gateway's. */
function withDesk(use: (desk: Desk) => Promise<number>, check?: (defaults: CampaignRules) => void): Promise<void> {
  return withRecords(
    async (records, { config, bots }) => {
      const control = await openCampaignControl({ records, config, bots: () => bots, clock: systemClock });
      const { dataDir, dialling } = config.settings;
      return use({ records, control, dataDir, defaultRegion: dialling.defaultRegion });
    },
    ({ config }) => check?.(config.settings.dialling),
  );
}

function withCampaign(
  idOrName: string,
  { tenant }: CommonFlags,
  use: (campaign: Campaign, desk: Desk) => Promise<number>,
): Promise<void> {
  return withDesk(async (desk) => {
    const [found, ...others] = await desk.control.find(tenant, idOrName);
    if (found === undefined) throw new UsageError(`there is no campaign ${idOrName}; \`offhook campaign list\` shows all`);
    if (others.length === 0) return use(found, desk);
    const ids = [found, ...others].map(({ id, state, createdAtMs }) => `  ${id}  ${state}, made ${shownTime(createdAtMs)}`);
    throw new UsageError(`several campaigns are called ${idOrName}; give the id of one:\n${ids.join('\n')}`);
  });
}

/** A line of the audit log. */
function note({ records }: Desk, { tenant: tenantId }: CommonFlags, act: string, { id: subject }: Campaign): Promise<void> {
  return records.audit.add({ by: whoAmI(), tenantId, action: `campaign.${act}`, subject, outcome: 'done' });
}

function rowsOf(file: string, flags: CommonFlags & FileFlags, { defaultRegion }: Desk): ReturnType<typeof readContactsFile> {
  const { tenant: tenantId, region = defaultRegion, numberColumn, zoneColumn, encoding } = flags;
  const options: ContactsOptions = { tenantId, defaultRegion: region, numberColumn, zoneColumn, encoding };
  return readContactsFile(readFileParts(file), options);
}

function create(file: string, flags: CommonFlags & FileFlags & CreateFlags & { start?: boolean }): Promise<void> {
  let written: WrittenSettings;
  const check = (defaults: CampaignRules): void => {
    requireFile(file);
    written = writtenSettings(file, flags, defaults);
  };
  const run = async (desk: Desk): Promise<number> => {
    const { control } = desk;
    // The file is looked at before anything is made.
    const rows = rowsOf(file, flags, desk);
    const first = await rows.next();
    const made = await control.create(flags.tenant, written);
    await note(desk, flags, 'create', made);
    const report = await control.addContacts(made, again(first, rows));
    const isUsable = report.added > 0;
    const missing = await control.missing(made);
    if (flags.json === true && flags.start !== true) {
      printJson({ id: made.id, name: made.name, state: made.state, contacts: report, missing });
    } else if (flags.json !== true) {
      printLine(`The campaign ${made.name} is made: ${made.id}\n`);
      printImport(report);
      printLine();
    }
    if (!isUsable) {
      printNote(
        'offhook campaign create: no contact could be added. Correct the file and add it: '.concat(
          `npx offhook campaign add ${made.id} ${file}`,
        ),
      );
      return EXIT.failed;
    }
    if (flags.start === true) return changeState(made, 'start', flags, desk);
    if (flags.json === true) return EXIT.ok;
    if (missing.length > 0) {
      printLine('It calls nobody yet. Before it can start, there is missing:');
      printMissing(missing);
    } else printLine(`It calls nobody yet. Start it: npx offhook campaign start ${made.id}`);
    return EXIT.ok;
  };
  return withDesk(run, check);
}

/** A generator whose first value was taken. */
async function* again<Value>(first: IteratorResult<Value, void>, rest: AsyncIterable<Value>): AsyncGenerator<Value> {
  if (first.done !== true) {
    yield first.value;
    yield* rest;
  }
}

async function changeState(
  campaign: Campaign,
  act: CampaignChange,
  flags: CommonFlags & { reason?: string },
  desk: Desk,
): Promise<number> {
  let changed: Campaign;
  try {
    changed = await desk.control.change(campaign, act, flags.reason);
  } catch (error) {
    if (!(error instanceof CampaignNotReadyError)) throw error;
    if (flags.json === true) printJson({ id: campaign.id, name: campaign.name, state: campaign.state, missing: error.missing });
    else {
      printLine(`The campaign ${campaign.name} cannot ${act}. There is missing:`);
      printMissing(error.missing);
    }
    return EXIT.failed;
  }
  await note(desk, flags, act, campaign);
  const isCalling = changed.state === 'running';
  const gateways = isCalling ? (await runningGateways(desk.dataDir)).length : 0;
  if (flags.json === true) printJson({ id: changed.id, name: changed.name, state: changed.state, gateways });
  else printLine(`The campaign ${changed.name} is ${changed.state}.`);
  if (isCalling && gateways === 0)
    printNote(`No gateway runs on ${desk.dataDir}: the calls begin when one does (npx offhook start).`);
  return EXIT.ok;
}

async function status(campaign: Campaign, flags: CommonFlags & { watch?: boolean }, { control }: Desk): Promise<number> {
  using _awake = keepAwake();
  for (;;) {
    const now = (await control.get(campaign.tenantId, campaign.id)) ?? campaign;
    const counts = await control.counts(now);
    const { id, name, state, reason = null } = now;
    const isOver = state === 'finished' || state === 'stopped';
    if (flags.json === true) printJson({ id, name, state, reason, contacts: counts });
    else {
      if (flags.watch === true && process.stdout.isTTY) process.stdout.write('\u001B[2J\u001B[H');
      printStatus(now, counts);
    }
    if (flags.watch !== true || isOver) return EXIT.ok;
    await sleep(systemClock, WATCH_MS);
  }
}

async function list(flags: CommonFlags, { records, control }: Desk): Promise<number> {
  const campaigns: Campaign[] = [];
  for (let before: string | undefined; ;) {
    const page = await records.store.campaigns.page(flags.tenant, { limit: 200, before });
    campaigns.push(...page.campaigns.map((stored) => readCampaign(stored)));
    if (page.next === undefined) break;
    before = page.next;
  }
  const rows = [];
  for (const campaign of campaigns) {
    const { id, name, state, reason = null, settings, createdAtMs } = campaign;
    const { contacts: total, states } = await control.counts(campaign);
    rows.push({ id, name, state, reason, bot: settings.bot, contacts: total, done: states.done, createdAtMs });
  }
  if (flags.json === true) {
    printJson({ campaigns: rows.map(({ createdAtMs, ...row }) => ({ ...row, createdAt: new Date(createdAtMs).toISOString() })) });
  } else if (rows.length === 0) {
    printLine('There is no campaign. Make one: npx offhook campaign create contacts.csv --bot reminder --from +91…');
  } else {
    const cells = rows.map((row) => [
      row.id,
      row.name,
      row.state,
      row.bot,
      shownTime(row.createdAtMs),
      String(row.contacts),
      String(row.done),
    ]);
    printLine(numbersTable([['id', 'name', 'state', 'bot', 'made', 'contacts', 'done'], ...cells], 5));
  }
  return EXIT.ok;
}

interface ContactFlags extends CommonFlags {
  readonly state?: ContactState;
  readonly outcome?: Disposition;
  readonly limit: number;
  readonly numbers?: boolean;
}

async function contacts(campaign: Campaign, flags: ContactFlags, { records }: Desk): Promise<number> {
  const shown = [];
  for await (const contact of contactsOf(records.store.contacts, campaign, { state: flags.state, disposition: flags.outcome })) {
    const { id, ordinal, state, disposition, cause, attempts, dueAtMs, erased } = contact;
    const number = flags.numbers === true ? contact.number : maskNumber(contact.number);
    const dueAt = state === 'waiting' ? dueAtMs : undefined;
    shown.push({ ordinal, id, number: erased ? '(erased)' : number, state, outcome: disposition, cause, calls: attempts, dueAt });
    if (shown.length >= flags.limit) break;
  }
  if (flags.json === true) {
    const rows = shown.map(({ dueAt, ...row }) => ({
      ...row,
      nextCallAt: dueAt === undefined ? null : new Date(dueAt).toISOString(),
    }));
    printJson({ id: campaign.id, contacts: rows });
  } else if (shown.length === 0) printLine('No such contact.');
  else {
    const cells = shown.map((row) => [
      row.number,
      row.state,
      row.outcome ?? '',
      row.cause ?? '',
      String(row.calls),
      shownTime(row.dueAt),
    ]);
    printLine(tableText([['number', 'state', 'outcome', 'cause', 'calls', 'next call'], ...cells]));
  }
  return EXIT.ok;
}

async function* exportLines(campaign: Campaign, { records }: Desk): AsyncGenerator<Uint8Array> {
  yield Buffer.from(csvLines([CONTACT_COLUMNS]));
  for await (const contact of contactsOf(records.store.contacts, campaign)) yield Buffer.from(csvLines([contactCells(contact)]));
}

async function erase(campaign: Campaign, flags: CommonFlags, desk: Desk): Promise<number> {
  const total = { erased: 0, held: 0, live: 0 };
  for (let found = campaign; ;) {
    const { left, ...counts } = await desk.control.erase(found);
    total.erased += counts.erased;
    total.held = counts.held;
    total.live = counts.live;
    if (!left) break;
    found = (await desk.control.get(found.tenantId, found.id)) ?? found;
  }
  await note(desk, flags, 'erase', campaign);
  if (flags.json === true) printJson({ id: campaign.id, ...total });
  else {
    printLine(`The contacts of ${campaign.name} and ${total.erased} call(s) are erased. The report stays.`);
    if (total.held > 0) printLine(`${total.held} call(s) are under a legal hold and stay.`);
    if (total.live > 0) printLine(`${total.live} call(s) are not over: erase again when they are.`);
  }
  return total.live === 0 ? EXIT.ok : EXIT.failed;
}

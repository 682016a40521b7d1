import { type Command, Option } from 'commander';
import { consentOf, type ListOptions, readMoment } from '../outbound/contacts/read-list.ts';
import { DialLists, type ImportedList } from '../outbound/dial-lists.ts';
import { OWN_LIST } from '../outbound/gate/facts.ts';
import { readNumber } from '../outbound/number.ts';
import type { Records } from '../hosts/records.ts';
import { csvLines } from '../records/analysis/table.ts';
import { systemClock } from '../kernel/clock.ts';
import { readFileParts } from '../kernel/file-streams.ts';
import { type Consent, EVIDENCE_KINDS, PURPOSES, type SuppressionEntry } from '../records/dialling.ts';
import { requireFile, requireFolderOf, writeOutput } from './shell/files.ts';
import { countOption, EXIT, printJson, printLine, printNote, tableText, UsageError } from './shell/output.ts';
import { whoAmI, withRecords } from './records-commands.ts';

interface ListFlags {
  readonly tenant: string;
  readonly json?: boolean;
  readonly region?: string;
}
interface PageFlags extends ListFlags {
  readonly limit: number;
  readonly after?: string;
  readonly number?: string;
}
interface FileFlags extends ListFlags {
  readonly column?: string;
  readonly encoding?: ListOptions['encoding'];
}

/** `offhook suppress`: numbers that must not be called. */
export function addSuppressCommand(program: Command): void {
  const suppress = program.command('suppress').description('keep the lists of numbers that must not be called');
  const onList = (command: Command): Command =>
    command.option('--list <name>', `the list: ${OWN_LIST}, or one that a dialling profile names`, OWN_LIST);

  onList(withNumber(suppress.command('add'), 'put a number on a list; the next dial sees it'))
    .option('--until <date>', 'first moment at which it no longer holds; for ever when absent')
    .option('--note <text>', 'why')
    .action((given: string, flags: ListFlags & { list: string; until?: string; note?: string }) =>
      withLists(flags, async ({ lists, change, e164 }) => {
        const number = e164(given);
        const untilMs = momentOption(flags.until, '--until');
        const isNew = await lists.suppress(change, { number, list: flags.list, untilMs, note: flags.note });
        if (flags.json === true) printJson({ ok: true, number, list: flags.list, new: isNew });
        else printLine(isNew ? `${number} is on the list ${flags.list}.` : `${number} was on the list ${flags.list} before.`);
        return EXIT.ok;
      }),
    );
  onList(withNumber(suppress.command('remove'), 'take a number off a list')).action(
    (given: string, flags: ListFlags & { list: string }) =>
      withLists(flags, async ({ lists, change, e164 }) => {
        const number = e164(given);
        const removed = await lists.unsuppress(change, flags.list, number);
        if (flags.json === true) printJson({ ok: removed, number, list: flags.list });
        else if (removed) printLine(`${number} is off the list ${flags.list}.`);
        if (!removed) printNote(`offhook suppress remove: ${number} is not on the list ${flags.list}`);
        return removed ? EXIT.ok : EXIT.failed;
      }),
  );
  withPage(suppress.command('list'), 'show the numbers on the lists, those that came first at the top')
    .option('--list <name>', 'one list')
    .action((flags: PageFlags & { list?: string }) =>
      withLists(flags, async ({ records: { store }, e164 }) => {
        const { tenant, limit, after, list } = flags;
        const found =
          flags.number === undefined
            ? await store.suppressions.page(tenant, { list, limit, after })
            : { entries: await store.suppressions.of(tenant, e164(flags.number)), next: undefined };
        const obtained = await store.suppressions.lists(tenant);
        const entries = found.entries.map(shownEntry);
        if (flags.json === true) {
          const lists = Object.entries(obtained).map(([name, atMs]) => ({ name, obtainedAt: isoOf(atMs) }));
          printJson({ entries, lists, next: found.next ?? null });
          return EXIT.ok;
        }
        const rows = entries.map((entry) => [
          entry.number ?? '(erased)',
          entry.list,
          entry.addedAt,
          entry.until ?? 'for ever',
          entry.callId === null ? entry.source : `${entry.source}, ${entry.callId}`,
        ]);
        printLine(
          rows.length === 0 ? 'No number is on a list.' : tableText([['number', 'list', 'added', 'until', 'by'], ...rows]),
        );
        for (const [name, atMs] of Object.entries(obtained)) printLine(`The list ${name} was obtained at ${isoOf(atMs)}.`);
        if (found.next !== undefined) printNote(`There are more: --after ${found.next}`);
        return EXIT.ok;
      }),
    );
  onList(withFile(suppress.command('import'), 'add the numbers of a file: CSV, or one number a line; - is stdin'))
    .option('--obtained <date>', 'when the list was obtained; needed for every list but your own')
    .option('--until <date>', 'first moment at which the entries no longer hold, unless their row says another')
    .action((path: string, flags: FileFlags & { list: string; obtained?: string; until?: string }) =>
      withLists(flags, async ({ lists, change, file }) => {
        const obtainedAtMs = momentOption(flags.obtained, '--obtained');
        const untilMs = momentOption(flags.until, '--until');
        if (flags.list !== OWN_LIST && obtainedAtMs === undefined)
          throw new UsageError(`say with --obtained when the list ${flags.list} was obtained: the gate asks how old it is`);
        const list = { name: flags.list, obtainedAtMs, untilMs };
        return printImport('suppress import', await lists.importSuppressions(change, list, partsOf(path), file(flags)), flags);
      }),
    );
  suppress
    .command('export')
    .description('write the lists as CSV, as `suppress import` reads it; erased numbers are left out')
    .option('--list <name>', 'one list')
    .option('-o, --output <file>', '- is stdout', '-')
    .option('--tenant <id>', 'whose', 'default')
    .action((flags: ListFlags & { list?: string; output: string }) =>
      withLists(flags, async ({ lists, change }) => {
        requireFolderOf(flags.output);
        await writeOutput(flags.output, csvOf(lists.exportSuppressions(change, flags.list)));
        return EXIT.ok;
      }),
    );
}

/** `offhook consent`: who may be called, for what and since when. */
export function addConsentCommand(program: Command): void {
  const consent = program.command('consent').description('keep the consents of people to be called, with their evidence');
  withNumber(consent.command('add'), 'keep a consent')
    .addOption(new Option('--level <level>', 'how it was given').choices(['express', 'written']).makeOptionMandatory())
    .addOption(new Option('--purpose <purpose...>', 'what for').choices(PURPOSES).makeOptionMandatory())
    .requiredOption('--evidence <text>', 'what proves it: the address or the number of a form, a recording, a document')
    .addOption(new Option('--evidence-kind <kind>', 'what it is').choices(EVIDENCE_KINDS).makeOptionMandatory())
    .requiredOption('--evidence-source <text>', 'where it was captured: a web page, a campaign, a branch')
    .requiredOption('--given <date>', 'when it was given')
    .option('--expires <date>', 'first moment at which it no longer counts')
    .option('--registered-id <id>', 'its id in a public register')
    .option('--id <id>', 'yours; made of the facts when absent')
    .action((given: string, flags: ListFlags & ConsentFlags) =>
      withLists(flags, async ({ lists, change, e164 }) => {
        const number = e164(given);
        const moments = {
          givenAtMs: momentOption(flags.given, '--given'),
          expiresAtMs: momentOption(flags.expires, '--expires'),
        };
        const read = consentOf({ ...flags, ...moments, purposes: flags.purpose }, systemClock.wallMs());
        if ('reason' in read) throw new UsageError(read.reason);
        await lists.consent(change, number, read);
        if (flags.json === true) printJson({ ok: true, number, id: read.id });
        else printLine(`Kept as ${read.id}.`);
        return EXIT.ok;
      }),
    );
  withNumber(consent.command('withdraw'), 'withdraw the consents of a number, from now on')
    .option('--id <id>', 'only this one')
    .action((given: string, flags: ListFlags & { id?: string }) =>
      withLists(flags, async ({ lists, change, e164 }) => {
        const number = e164(given);
        const withdrawn = await lists.withdraw(change, number, flags.id);
        const ok = withdrawn.length > 0;
        if (flags.json === true) printJson({ ok, number, withdrawn });
        else if (ok) printLine(`Withdrawn: ${withdrawn.join(', ')}`);
        if (!ok) printNote(`offhook consent withdraw: ${number} has no ${flags.id === undefined ? '' : 'such '}consent`);
        return ok ? EXIT.ok : EXIT.failed;
      }),
    );
  withFile(consent.command('import'), 'keep the consents of a CSV file; - is stdin').action((path: string, flags: FileFlags) =>
    withLists(flags, async ({ lists, change, file }) =>
      printImport('consent import', await lists.importConsents(change, partsOf(path), file(flags)), flags),
    ),
  );
  withPage(consent.command('list'), 'show consents, the oldest at the top').action((flags: PageFlags) =>
    withLists(flags, async ({ records: { store }, e164 }) => {
      const { tenant, limit, after } = flags;
      const number = flags.number === undefined ? undefined : e164(flags.number);
      const page =
        number === undefined
          ? await store.consents.page(tenant, { limit, after })
          : { consents: (await store.consents.of(tenant, number)).map((each) => ({ ...each, number })), next: undefined };
      const consents = page.consents.map(shownConsent);
      if (flags.json === true) printJson({ consents, next: page.next ?? null });
      else {
        const rows = consents.map((each) => [
          each.number ?? '(erased)',
          each.id,
          each.level,
          each.purposes.join(' '),
          each.givenAt,
          each.withdrawnAt === null ? (each.expiresAt ?? '') : `withdrawn ${each.withdrawnAt}`,
        ]);
        const heading = ['number', 'id', 'level', 'purposes', 'given', 'until'];
        printLine(rows.length === 0 ? 'There is no consent.' : tableText([heading, ...rows]));
        if (page.next !== undefined) printNote(`There are more: --after ${page.next}`);
      }
      return EXIT.ok;
    }),
  );
}

interface ConsentFlags extends Readonly<Record<'level' | 'evidence' | 'evidenceKind' | 'evidenceSource' | 'given', string>> {
  readonly purpose: readonly string[];
  readonly expires?: string;
  readonly registeredId?: string;
  readonly id?: string;
}

function withNumber(command: Command, description: string): Command {
  return common(command.description(description).argument('<number>', 'with + and country code, or of the region'));
}

function withFile(command: Command, description: string): Command {
  return common(command.description(description).argument('<file>', 'path of the file'))
    .option('--column <name>', 'the column of the numbers')
    .addOption(new Option('--encoding <name>', 'of a file without byte order mark').choices(['utf-8', 'windows-1252']));
}

function withPage(command: Command, description: string): Command {
  return common(command.description(description))
    .option('--number <number>', 'of one number')
    .option('--limit <count>', '1 to 1000', countOption, 50)
    .option('--after <place>', 'go on where the page before ended');
}

function common(command: Command): Command {
  return command
    .option('--region <code>', 'country of numbers without +; the setting dialling.defaultRegion when absent')
    .option('--tenant <id>', 'whose', 'default')
    .option('--json', 'print one JSON document');
}

interface Lists {
  readonly records: Records;
  readonly lists: DialLists;
  readonly change: { readonly tenantId: string; readonly by: string };
  /** @throws UsageError */
  readonly e164: (given: string) => string;
  readonly file: (flags: FileFlags) => ListOptions;
}

/** Runs with the lists of the configured store; wrong usage and files that cannot be read are one line. */
function withLists(flags: ListFlags, use: (lists: Lists) => Promise<number>): Promise<void> {
  return withRecords(async (records, { config: { settings } }) => {
    const defaultRegion = flags.region ?? settings.dialling.defaultRegion;
    const { suppressions, consents } = records.store;
    const lists = new DialLists({ suppressions, consents, audit: records.audit, wallMs: () => systemClock.wallMs() });
    const change = { tenantId: flags.tenant, by: whoAmI() };
    try {
      return await use({
        records,
        lists,
        change,
        e164(given) {
          const number = readNumber(given, defaultRegion);
          if ('reason' in number) throw new UsageError(`${given}: ${number.reason}`);
          return number.e164;
        },
        file: ({ column, encoding }) => ({ defaultRegion, numberColumn: column, ...(encoding && { encoding }) }),
      });
    } catch (error) {
      throw error instanceof RangeError ? new UsageError(error.message) : error;
    }
  });
}

/** @throws UsageError */
function momentOption(text: string | undefined, name: string): number | undefined {
  const read = readMoment(text, name);
  if (typeof read === 'string') throw new UsageError(read);
  return read;
}

/** @throws UsageError when there is no such file */
function partsOf(path: string): AsyncIterable<Uint8Array> {
  if (path === '-') return process.stdin;
  requireFile(path);
  return readFileParts(path);
}

/** Exit code 1 where a row was refused: a person on it may still be called. */
function printImport(name: string, imported: ImportedList, flags: ListFlags): number {
  const { added, known, refused, problems } = imported;
  if (flags.json === true) printJson({ ok: refused === 0, ...imported });
  else printLine(`${added} added, ${known} known, ${refused} refused.`);
  for (const { line, reason } of problems) printNote(`offhook ${name}: line ${line}: ${reason}`);
  if (refused > problems.length) printNote(`offhook ${name}: ${refused - problems.length} more rows were refused`);
  return refused === 0 ? EXIT.ok : EXIT.failed;
}

async function* csvOf(pages: AsyncIterable<readonly SuppressionEntry[]>): AsyncGenerator<Uint8Array> {
  yield Buffer.from(csvLines([['number', 'list', 'added_at', 'until', 'source', 'note']]));
  for await (const page of pages) {
    const rows = page.map(({ number = '', list, addedAtMs, untilMs, source, note = '' }) => {
      return [number, list, isoOf(addedAtMs), untilMs === undefined ? '' : isoOf(untilMs), source, note];
    });
    if (rows.length > 0) yield Buffer.from(csvLines(rows));
  }
}

function shownEntry({ number, list, addedAtMs, untilMs, source, callId, note }: SuppressionEntry) {
  const until = untilMs === undefined ? null : isoOf(untilMs);
  return { number: number ?? null, list, addedAt: isoOf(addedAtMs), until, source, callId: callId ?? null, note: note ?? null };
}

function shownConsent(consent: Consent & { readonly number: string | undefined }) {
  const { number, id, level, purposes, givenAtMs, expiresAtMs, withdrawnAtMs, registeredId } = consent;
  const { evidence, evidenceKind, evidenceSource, writtenBy, writtenAtMs } = consent;
  return {
    number: number ?? null,
    id,
    level,
    purposes,
    givenAt: isoOf(givenAtMs),
    expiresAt: expiresAtMs === undefined ? null : isoOf(expiresAtMs),
    withdrawnAt: withdrawnAtMs === undefined ? null : isoOf(withdrawnAtMs),
    evidence,
    evidenceKind: evidenceKind ?? null,
    evidenceSource: evidenceSource ?? null,
    writtenBy: writtenBy ?? null,
    writtenAt: writtenAtMs === undefined ? null : isoOf(writtenAtMs),
    registeredId: registeredId ?? null,
  };
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

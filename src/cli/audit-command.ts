import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { verifyChain } from '../outbound/gate/chain.ts';
import type { Records } from '../hosts/records.ts';
import { HEAD_ACTION, readHeads } from '../records/retention/audit-heads.ts';
import { errorText } from '../kernel/errors.ts';
import { type ChainFault, type ChainReport, type KeptHead, parseHead } from '../kernel/hash-chain.ts';
import type { DecisionEntry } from '../records/dialling.ts';
import { withRecords } from './records-commands.ts';
import { requireFile, requireFolderOf, writeOutput } from './shell/files.ts';
import { EXIT, printJson, printLine, printNote, UsageError } from './shell/output.ts';

interface VerifyFlags {
  readonly tenant: string;
  readonly json?: boolean;
  readonly head: readonly string[];
  readonly log: 'all' | 'actions' | 'decisions';
  readonly older: readonly string[];
}

/** `offhook audit verify | export`: who did what, and every decision to dial, or not to. */
export function addAuditCommand(program: Command): void {
  const audit = program.command('audit').description('check and export the audit logs');
  audit
    .command('verify')
    .description('read the logs of actions and of dialling decisions, and name every entry that was changed, removed or moved')
    .addOption(headOption('--head <head>', 'an earlier end of a log: a file of heads, a hash, or SEQUENCE:HASH; may be repeated'))
    // What `--head` was called when it was of decisions alone.
    .addOption(headOption('--expect <head>', 'the same').hideHelp())
    .addOption(new Option('--log <log>', 'which log').choices(['all', 'actions', 'decisions']).default('all'))
    .option('--older <file...>', 'files of the log of actions that were moved away, the oldest first', [])
    .option('--tenant <id>', 'whose decisions', 'default')
    .option('--json', 'print one JSON document')
    .action(({ expect, ...flags }: VerifyFlags & { readonly expect: readonly string[] }) =>
      withRecords((records) => verify(records, { ...flags, head: [...flags.head, ...expect] })),
    );
  audit
    .command('export')
    .description('write the log of decisions, one line of JSON a decision, from the first one')
    .option('-o, --output <file>', '- is stdout', '-')
    .option('--tenant <id>', 'whose', 'default')
    .action(({ tenant, output }: { tenant: string; output: string }) =>
      withRecords(async ({ store }) => {
        requireFolderOf(output);
        await writeOutput(output, linesOf(store.attempts.decisions(tenant)));
        return EXIT.ok;
      }),
    );
}

function headOption(flags: string, description: string): Option {
  return new Option(flags, description)
    .default([], 'none')
    .argParser((text: string, before: readonly string[]) => [...before, text]);
}

async function verify(records: Records, { tenant, log, head, older, json = false }: VerifyFlags): Promise<number> {
  const kept = keptHeads(head, log);
  for (const file of older) requireFile(file);
  const actions = log === 'decisions' ? undefined : await records.audit.verify(kept.of('actions'), older);
  const decisions = log === 'actions' ? undefined : await verifyDecisions(records, kept.of('decisions', tenant), tenant);
  const reports = Object.entries({ actions, decisions }).flatMap(([name, report]) =>
    report === undefined ? [] : [{ name, ...report }],
  );
  // A hash alone does not say of which log it is: one of them has to have it.
  const isElsewhere = (fault: ChainFault): boolean =>
    fault.fault === 'head-not-found' &&
    kept.hashes.has(fault.hash) &&
    reports.some(({ faults }) => !faults.some((other) => other.fault === 'head-not-found' && other.hash === fault.hash));
  const found = reports.map((report) => {
    const faults = report.faults.filter((fault) => !isElsewhere(fault));
    return { ...report, faults, faultCount: report.faultCount - report.faults.length + faults.length };
  });
  const ok = found.every(({ faultCount }) => faultCount === 0);
  if (json) {
    printJson({
      ok,
      ...Object.fromEntries(found.map(({ name, ...report }) => [name, { ...report, head: report.head ?? null }])),
    });
    return ok ? EXIT.ok : EXIT.failed;
  }
  for (const { name, entries, faults, faultCount, head: end } of found) {
    for (const fault of faults) printLine(`${name}: ${faultText(fault)}`);
    if (faultCount > faults.length) printLine(`${name}: and ${faultCount - faults.length} more`);
    printLine(
      faultCount === 0
        ? `${name}: ${entries} entries, all as they were written.`
        : `${name}: ${entries} entries, ${faultCount} fault(s).`,
    );
    if (end !== undefined) printLine(`${name}: the log ends with ${end.sequence}:${end.hash}`);
  }
  if (actions?.firstSequence !== undefined && actions.firstSequence > 1)
    printNote(`The log of actions begins with entry ${actions.firstSequence}: the files before it can be given with --older.`);
  if (actions !== undefined && actions.uncoveredBytes > 0)
    printNote(
      `Behind the last action are ${actions.uncoveredBytes} bytes that no entry covers yet, as a killed process leaves them.`,
    );
  const others = kept.tenants.filter((each) => each !== tenant);
  if (others.length > 0) printNote(`Heads of other tenants were not looked at: ${others.join(', ')} (--tenant).`);
  if (ok && found.some(({ head: end }) => end !== undefined))
    printNote('Keep these ends elsewhere, and give them with --head the next time.');
  return ok ? EXIT.ok : EXIT.failed;
}

/** What `--head` gave. */
interface KeptHeads {
  readonly of: (log: 'actions' | 'decisions', tenant?: string) => (KeptHead & { readonly of?: string })[];
  /** Hashes without a known log. */
  readonly hashes: ReadonlySet<string>;
  /** Whose decisions there are heads of. */
  readonly tenants: readonly string[];
}

/**
 * Reads the values of `--head`. A `SEQUENCE:HASH` is of the log that `--log` names, or of decisions.
 * @throws UsageError
 */
function keptHeads(given: readonly string[], log: VerifyFlags['log']): KeptHeads {
  const own = log === 'actions' ? 'actions' : 'decisions';
  const heads: (KeptHead & { readonly log?: 'actions' | 'decisions'; readonly of?: string })[] = [];
  for (const text of given) {
    const head = parseHead(text);
    if (head !== undefined) heads.push({ ...head, log: own });
    else if (/^[0-9a-f]{64}$/u.test(text)) heads.push({ hash: text });
    else heads.push(...headsOfFile(text));
  }
  const hashes = heads.flatMap(({ log: of, hash }) => (of === undefined ? [hash] : []));
  const tenants = heads.flatMap(({ log: each, of }) => (each === 'decisions' && of !== undefined ? [of] : []));
  return {
    of: (each, tenant) =>
      heads.filter(({ log: of, of: whose }) => (of ?? each) === each && (each === 'actions' || (whose ?? tenant) === tenant)),
    hashes: new Set(hashes),
    tenants: [...new Set(tenants)],
  };
}

/** @throws UsageError */
function headsOfFile(path: string): NonNullable<ReturnType<typeof readHeads>> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`--head ${path}: it is no hash, no SEQUENCE:HASH, and no file that can be read: ${errorText(error)}`);
  }
  const heads = readHeads(text);
  if (heads === undefined || heads.length === 0)
    throw new UsageError(`--head ${path}: a head a line is expected, as the file of audit.headFile has them`);
  return heads;
}

/**
 * The end that the store keeps beside the log shows what was cut off; the heads that the log of actions has show it even where that end
 * was set back; heads from elsewhere, even where both were.
 */
async function verifyDecisions({ audit, store }: Records, kept: KeptHead[], tenant: string): Promise<ChainReport> {
  const written: KeptHead[] = [];
  for await (const { subject } of audit.entries(({ tenantId, action }) => tenantId === tenant && action === HEAD_ACTION)) {
    const head = parseHead(subject);
    if (head !== undefined) written.push(head);
  }
  const end = await store.attempts.decisionHead(tenant);
  return verifyChain(store.attempts.decisions(tenant), tenant, ...kept, ...written, end);
}

function faultText(fault: ChainFault): string {
  switch (fault.fault) {
    case 'missing':
      return fault.toSequence > fault.sequence
        ? `entries ${fault.sequence} to ${fault.toSequence}: missing`
        : `entry ${fault.sequence}: missing`;
    case 'added':
      return `entry ${fault.sequence}: something was added before it`;
    case 'head-not-found':
      return `no entry has the hash ${fault.hash}`;
    case 'changed':
    case 'replaced':
    case 'reordered':
    case 'repeated':
    case 'foreign':
      return `entry ${fault.sequence}: ${fault.fault}`;
  }
}

async function* linesOf(entries: AsyncIterable<DecisionEntry>): AsyncGenerator<Uint8Array> {
  for await (const entry of entries) yield Buffer.from(`${JSON.stringify(entry)}\n`);
}

import { userInfo } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import { LegalHolds } from '../records/retention/retention.ts';
import { EXIT, printJson, printLine, printNote, tableText, UsageError } from './shell/output.ts';
import { CALL_ID } from '../kernel/ids.ts';
import { systemClock } from '../kernel/clock.ts';
import { createLogger } from '../observability/logger.ts';
import { openRecords, type Records } from '../hosts/records.ts';
import { type Configuration, requireConfiguration } from './setup/configuration.ts';
import { type AnyQueueName, ALL_QUEUES } from '../records/queue/port.ts';

/** `offhook jobs`: shows queues and failed jobs, and retries them. */
export function addJobsCommand(program: Command): void {
  const jobs = program.command('jobs').description('show the jobs after calls, and retry failed ones');
  jobs
    .command('list')
    .description('show the counts of every queue, and the failed jobs')
    .option('--queue <name>', `one of ${ALL_QUEUES.join(', ')}; all of them unless given`, readQueue)
    .option('--limit <count>', 'failed jobs to show of each queue', (text) => Number.parseInt(text, 10), 20)
    .option('--json', 'print one JSON document')
    .action((flags: { queue?: AnyQueueName; limit: number; json?: boolean }) =>
      withRecords(async ({ queue }) => {
        const names = flags.queue === undefined ? ALL_QUEUES : [flags.queue];
        const queues = [];
        for (const name of names) {
          const failed = await queue.failed(name, { limit: Math.max(1, Math.min(10_000, flags.limit || 20)) });
          queues.push({ name, counts: await queue.counts(name), failed });
        }
        if (flags.json === true) {
          printJson({ backend: queue.backend, queues });
          return EXIT.ok;
        }
        const rows = queues.map(({ name, counts: { waiting, active, delayed, failed, completed } }) =>
          [name, waiting, active, delayed, failed, completed].map(String),
        );
        printLine(tableText([['queue', 'waiting', 'active', 'delayed', 'failed', 'done'], ...rows]));
        for (const { name, failed } of queues) {
          for (const { id, attempts, reason, failedAtMs } of failed) {
            printLine(`${new Date(failedAtMs).toISOString()}  ${name}  ${id}  after ${attempts}: ${reason}`);
          }
        }
        return EXIT.ok;
      }),
    );
  jobs
    .command('retry')
    .description('retry a failed job, or all failed jobs of a queue')
    .argument('<queue>', `one of ${ALL_QUEUES.join(', ')}`, readQueue)
    .argument('[id]', 'as `offhook jobs list` shows it')
    .option('--all', 'every failed job of the queue')
    .action((name: AnyQueueName, id: string | undefined, flags: { all?: boolean }) => {
      const retry = async ({ queue }: Records): Promise<number> => {
        if (id === undefined) await queue.retryAll(name);
        else if (!(await queue.retry(name, id))) throw new Error(`there is no failed job ${id}`);
        printLine(id === undefined ? 'All failed jobs are queued again.' : 'Queued again.');
        return EXIT.ok;
      };
      return withRecords(retry, () => {
        if ((id === undefined) !== (flags.all === true)) throw new UsageError('give either the id of a job or --all');
      });
    });
}

function readQueue(text: string): AnyQueueName {
  const found = ALL_QUEUES.find((name) => name === text);
  if (found === undefined) throw new InvalidArgumentError(`there are ${ALL_QUEUES.join(', ')}.`);
  return found;
}

/** `offhook webhooks`: shows deliveries and their outcome, and sends one again. */
export function addWebhooksCommand(program: Command): void {
  const webhooks = program.command('webhooks').description('show webhook deliveries, and send one again');
  webhooks
    .command('list')
    .description('show the latest deliveries')
    .option('--call <id>', 'of one call')
    .option('--failed', 'only failed deliveries')
    .option('--limit <count>', '1 to 200', (text) => Number.parseInt(text, 10), 50)
    .option('--tenant <id>', 'whose', 'default')
    .option('--json', 'print one JSON document')
    .action((flags: { call?: string; failed?: boolean; limit: number; tenant: string; json?: boolean }) =>
      withRecords(async ({ store }) => {
        const state = flags.failed === true ? 'failed' : undefined;
        const limit = Math.max(1, Math.min(200, flags.limit || 50));
        const { deliveries } = await store.webhooks.page(flags.tenant, { limit, callId: flags.call, state });
        // Bodies may have a caller's words.
        const shown = deliveries.map(({ body: _body, ...delivery }) => delivery);
        if (flags.json === true) printJson({ deliveries: shown });
        else {
          const rows = shown.map(({ id, type, endpoint, state: outcome, attempts, status, reason }) => [
            id,
            type,
            endpoint,
            outcome,
            String(attempts),
            reason ?? (status === undefined ? '' : String(status)),
          ]);
          printLine(tableText([['id', 'event', 'endpoint', 'state', 'tries', 'last answer'], ...rows]));
        }
        return EXIT.ok;
      }),
    );
  webhooks
    .command('replay')
    .description('send a delivery again, with the same id')
    .argument('<id>', 'as `offhook webhooks list` shows it')
    .option('--tenant <id>', 'whose', 'default')
    .action((id: string, flags: { tenant: string }) =>
      withRecords(async ({ dispatcher }) => {
        if (await dispatcher.replay(flags.tenant, id)) {
          printLine('Queued again.');
          return EXIT.ok;
        }
        throw new Error(`there is no delivery ${id}`);
      }),
    );
}

/**
 * Runs with the configured store and queue, which may be a running gateway's, and sets the exit code.
 * @param check looks at what was asked before the store is opened; throws UsageError
 */
export async function withRecords(
  use: (records: Records, configuration: Configuration) => Promise<number>,
  check: (configuration: Configuration) => void = () => undefined,
): Promise<void> {
  const configuration = requireConfiguration();
  const { config } = configuration;
  const { level, personal } = config.settings.log;
  const logger = createLogger({ level: level === 'info' ? 'warn' : level, personal });
  let records: Records | undefined;
  try {
    check(configuration);
    records = await openRecords({ config, clock: systemClock, logger, lasting: false });
    process.exitCode = await use(records, configuration);
  } finally {
    await records?.close();
  }
}

interface CallFlags {
  readonly call?: string;
  readonly number?: string;
  readonly tenant: string;
  readonly json?: boolean;
}

/** `offhook erase`: erases the personal data of one call, or of all calls with one number. */
export function addEraseCommand(program: Command): void {
  program
    .command('erase')
    .description('erase the words, numbers and recording of a call, or everything about a number')
    .option('--call <id>', 'one call')
    .option('--number <number>', 'every call and attempt with the person who has this number, and their consents')
    .option('--tenant <id>', 'whose calls', 'default')
    .option('--json', 'print one JSON document')
    .action(({ call, number, tenant, json = false }: CallFlags) => {
      const erase = async ({ eraser }: Records): Promise<number> => {
        const erasure =
          call === undefined ? await eraser.eraseNumber(tenant, number ?? '') : await eraser.eraseCall(tenant, call);
        const { erased, held, live, missing, suppressions, consents, contacts } = erasure;
        if (json) printJson(erasure);
        else {
          printLine(`${erased.length} call(s) erased.`);
          if (suppressions > 0) printLine(`${suppressions} do-not-call entries hold on without the number.`);
          if (consents > 0) printLine(`${consents} consent(s) withdrawn and erased.`);
          if (contacts > 0) printLine(`${contacts} contact(s) of campaigns erased; they are called no more.`);
          if (held.length > 0) printLine(`Not erased, under legal hold: ${held.join(', ')}`);
          if (live.length > 0) printLine(`Not erased, still live: ${live.join(', ')}`);
          if (missing.length > 0) printNote(`No call of this tenant: ${missing.join(', ')}`);
        }
        return held.length + live.length + missing.length === 0 ? EXIT.ok : EXIT.failed;
      };
      return withRecords(erase, () => {
        callOrNumber(call, number);
        if (call !== undefined && !CALL_ID.test(call)) throw new UsageError(`${JSON.stringify(call)} is no id of a call`);
      });
    });
}

/** @throws UsageError unless one of the two is given */
function callOrNumber(callId: string | undefined, number: string | undefined): { callId: string } | { number: string } {
  if (callId !== undefined && number === undefined) return { callId };
  if (number !== undefined && callId === undefined) return { number };
  throw new UsageError('give either --call or --number');
}

/** `offhook hold set | lift | list`: legal holds, which protect calls from retention and erasure. */
export function addHoldCommand(program: Command): void {
  const hold = program.command('hold').description('protect calls from erasure, by retention or by hand (legal hold)');
  addChange(hold, 'set', 'hold a call, or every present call with a number', true);
  addChange(hold, 'lift', 'lift the hold of a call, or of every call with a number', false);
  hold
    .command('list')
    .description('show every held call, newest first')
    .option('--tenant <id>', 'whose calls', 'default')
    .option('--json', 'print one JSON document')
    .action(({ tenant, json = false }: CallFlags) =>
      withRecords(async ({ store, audit }) => {
        const held = [];
        for await (const call of new LegalHolds(store, audit).list(tenant)) held.push(call);
        if (json) printJson({ ok: true, held });
        else if (held.length === 0) printLine('No call is held.');
        else printLine(tableText([['call', 'bot', 'began'], ...held.map(({ id, bot, startedAt }) => [id, bot, startedAt])]));
        return EXIT.ok;
      }),
    );
}

function addChange(hold: Command, name: string, description: string, on: boolean): void {
  hold
    .command(name)
    .description(description)
    .option('--call <id>', 'one call')
    .option('--number <number>', 'every call with the person who has this number')
    .option('--tenant <id>', 'whose calls', 'default')
    .option('--json', 'print one JSON document')
    .action(({ call, number, tenant, json = false }: CallFlags) =>
      withRecords(async ({ store, audit }) => {
        const of = callOrNumber(call, number);
        const { changed, missing } = await new LegalHolds(store, audit).change({ tenantId: tenant, of, on, by: whoAmI() });
        const ok = missing.length === 0 && changed.length > 0;
        if (json) printJson({ ok, [on ? 'held' : 'lifted']: changed, missing });
        else {
          printLine(`${changed.length} call(s) ${on ? 'held' : 'no longer held'}.`);
          if (missing.length > 0) printNote(`Not in the store: ${missing.join(', ')}`);
        }
        return ok ? EXIT.ok : EXIT.failed;
      }),
    );
}

/** The account that runs the command, for the audit log. */
export function whoAmI(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    // A container's user may have no name.
    return `cli:${process.getuid?.() ?? 'unknown'}`;
  }
}

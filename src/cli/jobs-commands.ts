import { type Command, InvalidArgumentError } from 'commander';
import { EXIT, printJson, printLine, printNote, tableText } from './shell/output.ts';
import { withRecords } from './setup/records-access.ts';
import { type QueueName, QUEUES } from '../jobs/queue/catalog.ts';

/** `offhook jobs`: shows queues and failed jobs, and retries them. */
export function addJobsCommand(program: Command): void {
  const jobs = program.command('jobs').description('show the jobs after calls, and retry failed ones');
  jobs
    .command('list')
    .description('show the counts of every queue, and the failed jobs')
    .option('--queue <name>', `one of ${QUEUES.join(', ')}; all of them unless given`, readQueue)
    .option('--limit <count>', 'failed jobs to show of each queue', (text) => Number.parseInt(text, 10), 20)
    .option('--json', 'print one JSON document')
    .action((flags: { queue?: QueueName; limit: number; json?: boolean }) =>
      withRecords('jobs list', async ({ queue }) => {
        const names = flags.queue === undefined ? QUEUES : [flags.queue];
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
    .argument('<queue>', `one of ${QUEUES.join(', ')}`, readQueue)
    .argument('[id]', 'as `offhook jobs list` shows it')
    .option('--all', 'every failed job of the queue')
    .action((name: QueueName, id: string | undefined, flags: { all?: boolean }) => {
      if ((id === undefined) !== (flags.all === true)) {
        printNote('offhook jobs retry: give either the id of a job or --all');
        process.exitCode = EXIT.usage;
        return undefined;
      }
      return withRecords('jobs retry', async ({ queue }) => {
        if (id === undefined) {
          await queue.retryAll(name);
          printLine('All failed jobs are queued again.');
          return EXIT.ok;
        }
        if (await queue.retry(name, id)) {
          printLine('Queued again.');
          return EXIT.ok;
        }
        printNote(`offhook jobs retry: there is no failed job ${id}`);
        return EXIT.failed;
      });
    });
}

function readQueue(text: string): QueueName {
  const found = QUEUES.find((name) => name === text);
  if (found === undefined) throw new InvalidArgumentError(`there are ${QUEUES.join(', ')}.`);
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
      withRecords('webhooks list', async ({ store }) => {
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
      withRecords('webhooks replay', async ({ dispatcher }) => {
        if (await dispatcher.replay(flags.tenant, id)) {
          printLine('Queued again.');
          return EXIT.ok;
        }
        printNote(`offhook webhooks replay: there is no delivery ${id}`);
        return EXIT.failed;
      }),
    );
}

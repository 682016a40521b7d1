import { type Command, InvalidArgumentError } from 'commander';
import { type QueueName, QUEUES } from '../jobs/queue/catalog.ts';
import { EXIT, printJson, printLine, printNote, tableText } from './output.ts';
import { withRecords } from './records-access.ts';

/** `offhook jobs`: what waits, what failed and why, and trying again. */
export function addJobsCommand(program: Command): void {
  const jobs = program.command('jobs').description('look at the jobs after calls, and try failed ones again');
  jobs
    .command('list')
    .description('counts of every queue, and the jobs that were given up')
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
    .description('try a failed job again, or all of a queue')
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

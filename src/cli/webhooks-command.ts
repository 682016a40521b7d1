import type { Command } from 'commander';
import { EXIT, printJson, printLine, printNote, tableText } from './output.ts';
import { withRecords } from './records-access.ts';

/** `offhook webhooks`: deliveries and their outcome, and sending one again. */
export function addWebhooksCommand(program: Command): void {
  const webhooks = program.command('webhooks').description('look at webhook deliveries, and send one again');
  webhooks
    .command('list')
    .description('the latest deliveries')
    .option('--call <id>', 'of one call')
    .option('--failed', 'those that were given up')
    .option('--limit <count>', '1 to 200', (text) => Number.parseInt(text, 10), 50)
    .option('--tenant <id>', 'whose', 'default')
    .option('--json', 'print one JSON document')
    .action((flags: { call?: string; failed?: boolean; limit: number; tenant: string; json?: boolean }) =>
      withRecords('webhooks list', async ({ store }) => {
        const state = flags.failed === true ? 'failed' : undefined;
        const limit = Math.max(1, Math.min(200, flags.limit || 50));
        const { deliveries } = await store.webhooks.page(flags.tenant, { limit, callId: flags.call, state });
        // Bodies may hold what was said.
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
    .description('send a delivery once more, under the same id')
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

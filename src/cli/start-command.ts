import closeWithGrace from 'close-with-grace';
import type { Command } from 'commander';
import { startGateway } from '../app.ts';
import { systemClock } from '../kernel/clock.ts';
import { errorText } from '../kernel/errors.ts';
import { createLogger } from '../observability/logger.ts';
import { requireConfiguration } from './configuration.ts';
import { EXIT, printJson, printLine, printNote } from './output.ts';
import { speechSource } from './speech-settings.ts';

/** `offhook start`: gateway, embedded platform when none is configured, store and worker, until told to stop. */
export function addStartCommand(program: Command): void {
  program
    .command('start')
    .description('answer calls: gateway, speech platform, store and worker')
    .option('--no-worker', 'leave the jobs after calls to other processes (offhook worker)')
    .option('--json', 'print one JSON document when it is up')
    .action(async (flags: { json?: boolean; worker: boolean }) => {
      const { config, bots } = requireConfiguration();
      const { settings } = config;
      const logger = createLogger({ level: settings.log.level, personal: settings.log.personal });
      const stop = new AbortController();
      try {
        const speech = await speechSource(config, logger, stop.signal);
        const gateway = await startGateway({
          config,
          bots,
          speech: speech.settings,
          clock: systemClock,
          logger,
          worker: flags.worker,
        });
        closeWithGrace({ delay: settings.http.closeGraceMs, logger: false }, async ({ err }) => {
          if (err !== undefined) logger.error({ error: err }, 'stopping after an error');
          await gateway.close();
          stop.abort(new Error('the gateway stops'));
          await speech[Symbol.asyncDispose]();
        });
        const names = bots.map(({ name }) => name);
        if (flags.json === true)
          printJson({ url: gateway.url, bots: names, embeddedPlatform: speech.embedded, dataDir: settings.dataDir });
        else {
          printLine(`Offhook answers on ${gateway.url} (bots: ${names.join(', ')}; data in ${settings.dataDir}).`);
          if (settings.publicUrl === undefined)
            printLine('Set OFFHOOK_PUBLIC_URL and a Twilio auth token to take real calls; see the README.');
          printLine('Try it from another shell: npx offhook call --say "when are you open"');
        }
      } catch (error) {
        printNote(`offhook start: ${errorText(error)}`);
        process.exit(EXIT.failed);
      }
    });
}

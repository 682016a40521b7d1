import closeWithGrace from 'close-with-grace';
import type { Command } from 'commander';
import { openBacklog } from '../backlog.ts';
import { usesEmbeddedPlatform } from '../config/load.ts';
import { systemClock } from '../kernel/clock.ts';
import { errorText } from '../kernel/errors.ts';
import { createEvents } from '../observability/events.ts';
import { createLogger } from '../observability/logger.ts';
import { createMetrics } from '../observability/metrics.ts';
import { SpeechPlatform } from '../speech/platform.ts';
import { requireConfiguration } from './configuration.ts';
import { EXIT, printLine, printNote } from './output.ts';
import { speechSource } from './speech-settings.ts';

/** `offhook worker`: the jobs after calls, in a process of their own. */
export function addWorkerCommand(program: Command): void {
  program
    .command('worker')
    .description('do the jobs after calls; needs DATABASE_URL, or a gateway on this machine with the same data folder')
    .action(async () => {
      const { config } = requireConfiguration();
      const { settings } = config;
      const logger = createLogger({ level: settings.log.level, personal: settings.log.personal });
      const stop = new AbortController();
      try {
        if (usesEmbeddedPlatform(config))
          printNote('No speech platform is configured: this worker starts one of its own on free ports.');
        const source = await speechSource(
          { ...config, settings: { ...settings, platform: { ...settings.platform, port: 0 } } },
          logger,
          stop.signal,
        );
        const speech = new SpeechPlatform(source.settings, { clock: systemClock, logger });
        const events = createEvents(logger, createMetrics());
        const backlog = await openBacklog({ config, speech, clock: systemClock, logger, events, worker: true, drain: false });
        closeWithGrace({ delay: settings.http.closeGraceMs, logger: false }, async () => {
          await backlog.close();
          await speech[Symbol.asyncDispose]();
          stop.abort(new Error('the worker stops'));
          await source[Symbol.asyncDispose]();
        });
        printLine(`Working on jobs, ${settings.jobs.concurrency} at once.`);
      } catch (error) {
        printNote(`offhook worker: ${errorText(error)}`);
        process.exit(EXIT.failed);
      }
    });
}

import closeWithGrace from 'close-with-grace';
import { type Command, InvalidArgumentError } from 'commander';
import { openBacklog } from '../hosts/backlog.ts';
import { usesEmbeddedPlatform } from '../config/load.ts';
import { type QueueName, QUEUES } from '../records/queue/port.ts';
import { systemClock } from '../kernel/clock.ts';
import { createEvents } from '../observability/events.ts';
import { createLogger } from '../observability/logger.ts';
import { openTraces } from '../observability/traces.ts';
import { createMetrics } from '../observability/metrics.ts';
import { SpeechPlatform } from '../speech/platform.ts';
import { requireWholeConfiguration } from './setup/configuration.ts';
import { printLine, printNote } from './shell/output.ts';
import { speechSource } from './setup/speech-settings.ts';

/** `offhook worker`: runs the jobs after calls in a separate process. */
export function addWorkerCommand(program: Command): void {
  program
    .command('worker')
    .description('run the jobs after calls; needs DATABASE_URL, or a gateway on this machine with the same data folder')
    .option('--queues <names>', `which jobs, of ${QUEUES.join(', ')}; all of them unless given`, readQueues)
    .option('--concurrency <count>', 'jobs of one kind at once', readCount)
    .action(async (flags: { queues?: readonly QueueName[]; concurrency?: number }) => {
      const { config, bots } = await requireWholeConfiguration();
      const { settings } = config;
      const logger = createLogger({ level: settings.log.level, personal: settings.log.personal });
      const stop = new AbortController();
      if (usesEmbeddedPlatform(config))
        printNote('No speech platform is configured: this worker starts one of its own on free ports.');
      const source = await speechSource(
        { ...config, settings: { ...settings, platform: { ...settings.platform, port: 0 } } },
        logger,
        stop.signal,
      );
      const speech = new SpeechPlatform(source.settings, { clock: systemClock, logger });
      const traces = await openTraces({ config, clock: systemClock, logger });
      const events = createEvents(logger, createMetrics(), systemClock, traces);
      const { queues = QUEUES, concurrency = settings.jobs.concurrency } = flags;
      const work = { worker: true, drain: false, queues, concurrency };
      const backlog = await openBacklog({ config, bots: () => bots, speech, clock: systemClock, logger, events, ...work });
      closeWithGrace({ delay: settings.http.closeGraceMs, logger: false }, async () => {
        await backlog.close();
        await traces?.close();
        await speech[Symbol.asyncDispose]();
        stop.abort(new Error('the worker stops'));
        await source[Symbol.asyncDispose]();
      });
      printLine(`Working on ${queues.join(', ')}, ${concurrency} at once.`);
    });
}

function readQueues(text: string): readonly QueueName[] {
  return text.split(',').map((part) => {
    const found = QUEUES.find((name) => name === part.trim());
    if (found === undefined) throw new InvalidArgumentError(`there is no queue ${part}; there are ${QUEUES.join(', ')}.`);
    return found;
  });
}

function readCount(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new InvalidArgumentError('a whole number from 1 to 999 is expected.');
  return Number(text);
}

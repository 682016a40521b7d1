import { join } from 'node:path';
import { readEnvironment } from '../../src/config/env.ts';
import { loadConfig } from '../../src/config/load.ts';
import { postCallJob } from '../../src/records/after-call/post-call-job.ts';
import { sweep } from '../../src/records/sweep.ts';
import { deliverWebhook } from '../../src/records/webhooks/deliver-webhook.ts';
import { startWorker } from '../../src/records/queue/worker.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createEvents } from '../../src/observability/events.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { openRecords } from '../../src/hosts/records.ts';

/** A worker as `offhook worker` starts it, but for a platform that answers at once, and a sweep each second. */
const config = loadConfig({ env: readEnvironment(), files: [] });
const { store, queue, dispatcher, recordings } = await openRecords({ config, clock: systemClock, logger: silentLogger });
const transcribe = async (): Promise<never> => ({ text: 'hello', segments: [], words: [] }) as never;
const transcriber = { transcribe, transcribeMedical: transcribe };
const workFolder = join(config.settings.dataDir, 'work');
startWorker({
  queue,
  handlers: {
    'post-call': postCallJob({ store, recordings, dispatcher, transcriber, clock: systemClock, workFolder }),
    webhooks: deliverWebhook({ store, dispatcher, clock: systemClock, timeoutMs: 5_000 }),
  },
  sweep: () => sweep({ store, queue, dispatcher, clock: systemClock, settledMs: 3_000 }),
  watchEveryMs: 1_000,
  logger: silentLogger,
  events: createEvents(silentLogger, createMetrics(), systemClock),
  clock: systemClock,
  concurrency: 4,
});
process.stdout.write('working\n');

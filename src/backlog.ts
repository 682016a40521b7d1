import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readEnvironment } from './config/env.ts';
import type { LoadedConfig } from './config/load.ts';
import { ProfileBook } from './jobs/analysis/profile-book.ts';
import { deliverEndedCalls } from './jobs/call-ended.ts';
import { Outbox } from './jobs/outbox.ts';
import { OutboxPump } from './jobs/outbox-pump.ts';
import type { JobQueue } from './jobs/port.ts';
import type { BatchTranscriber } from './jobs/post-call/transcriber.ts';
import { openQueue } from './jobs/queue.ts';
import { startWorker } from './jobs/worker.ts';
import type { Clock } from './kernel/clock.ts';
import type { BusinessEvents } from './observability/events.ts';
import type { Logger } from './observability/logger.ts';
import type { SpeechPlatform } from './speech/platform.ts';
import { openDatabase } from './store/database.ts';
import type { Store } from './store/port.ts';
import { storeOn } from './store/postgres-store.ts';

/** Everything behind live calls: outbox, store, queue and the worker. */
export interface Backlog {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly outbox: Outbox;
  /** Undefined in a process that only works. */
  readonly pump: OutboxPump | undefined;
  close(): Promise<void>;
}

export interface BacklogOptions {
  readonly config: Pick<LoadedConfig, 'settings' | 'secrets'>;
  readonly speech: SpeechPlatform;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly worker: boolean;
  /** Whether this process brings the outbox to the store; one does. */
  readonly drain: boolean;
  readonly events: Pick<BusinessEvents, 'jobDone' | 'jobFailed'>;
}

/** Opens the store and the queue, drains the outbox into them, and works when asked to. @throws OffhookError */
export async function openBacklog({ config, speech, clock, logger, worker, drain, events }: BacklogOptions): Promise<Backlog> {
  const { settings, secrets } = config;
  const onProblem = (error: Error): void => logger.warn({ error }, 'store or queue connection');
  const { dataDir, store: storeSettings, jobs } = settings;
  // First, while nothing is open that a broken profile would leave open.
  const profiles = worker ? await ProfileBook.load(profilesFolder(settings.analysis.folder), readEnvironment()) : undefined;
  const url = secrets.databaseUrl?.reveal();
  const { masterKeys } = secrets;
  const database = await openDatabase({ url, dataDir, masterKeys, clock, onProblem, waitMs: storeSettings.lockTimeoutMs });
  const store = storeOn(database);
  const backoff = { firstMs: jobs.firstRetryMs, factor: 4, maxMs: 3_600_000, jitter: 0.2 };
  const retry = { attempts: jobs.attempts, backoff };
  const queue = openQueue({ redisUrl: secrets.redisUrl?.reveal(), database, clock, onProblem, retry });
  const outbox = await Outbox.open(join(dataDir, 'outbox'), () => clock.wallMs());
  const pump = drain ? new OutboxPump({ outbox, deliver: deliverEndedCalls({ store, queue }), clock, logger }) : undefined;
  const work = worker
    ? startWorker({
        queue,
        store,
        transcriber: transcriberOn(speech),
        profiles,
        logger,
        events,
        clock,
        concurrency: settings.jobs.concurrency,
      })
    : undefined;
  return {
    store,
    queue,
    outbox,
    pump,
    async close() {
      await pump?.stop();
      await work?.stop();
      await queue.close();
      await store.close();
    },
  };
}

/** Where profiles are read: as it stands when absolute, else in the package, as the folder of bots. */
function profilesFolder(folder: string): string {
  return isAbsolute(folder) ? folder : fileURLToPath(new URL(`../${folder}`, import.meta.url));
}

/** The platform's batch endpoint as jobs see it. */
export function transcriberOn(speech: SpeechPlatform): BatchTranscriber {
  return {
    transcribe: (path, { language, verbose, recognition, signal }) => {
      const { language: _any, ...options } = recognition ?? {};
      const asked = language === 'auto' ? {} : { language };
      return speech.transcribe({ path }, { ...options, ...asked, verbose }, signal);
    },
    transcribeMedical: (path, { diarize, signal }) => speech.transcribeMedical({ path }, { diarize }, signal),
  };
}

import { join } from 'node:path';
import { takesCarrierCalls } from '../carriers/open-carriers.ts';
import type { LoadedConfig } from '../config/load.ts';
import { API_KEYS_FILE, type ApiKeyBook, ApiKeys, SharedApiKeys } from '../http/api/system/api-keys.ts';
import { within, SingleFlight } from '../kernel/waiting.ts';
import { AUDIT_FILE, AuditLog } from '../records/retention/audit-log.ts';
import { CALL_BACK_RETRY, CALL_BACKS, DIAL_RETRY, DIALS, WEBHOOKS, WEBHOOK_RETRY, type JobQueue } from '../records/queue/port.ts';
import { Eraser } from '../records/retention/eraser.ts';
import { Outbox } from '../records/outbox/outbox.ts';
import { openQueue } from '../records/queue/bull-queue.ts';
import { WebhookBook, WEBHOOKS_FILE } from '../records/webhooks/webhook-book.ts';
import { WebhookDispatcher } from '../records/webhooks/webhook-dispatcher.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import { warnThrottled } from '../observability/log-throttle.ts';
import { openDatabase, storeOn } from '../records/database.ts';
import { diskObjects } from '../records/objects/disk.ts';
import type { ObjectStore } from '../records/objects/port.ts';
import { s3Objects } from '../records/objects/s3.ts';
import type { Store } from '../records/port.ts';
import { Recordings, Uploads } from '../records/objects/recordings.ts';

/** What is kept of calls, and everything that reaches it: for the gateway, for workers and for commands. */
export interface Records {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly recordings: Recordings;
  /** Recordings from elsewhere that were uploaded. */
  readonly uploads: Uploads;
  /** Whether recordings are sealed after their call, and nothing that was said stays in a plain file. */
  readonly seals: boolean;
  readonly outbox: Outbox;
  /** Recordings on their way to be sealed. */
  readonly recordingOutbox: Outbox;
  readonly dispatcher: WebhookDispatcher;
  readonly webhooks: WebhookBook;
  readonly eraser: Eraser;
  readonly audit: AuditLog;
  /** For health checks: whether the store answers, asked once however many want to know. */
  storeState(): Promise<'ok' | 'down'>;
  close(): Promise<void>;
}

export interface RecordsOptions {
  readonly config: Pick<LoadedConfig, 'settings' | 'secrets' | 'carriers'> &
    Partial<Pick<LoadedConfig, 'webhooks' | 'tenants' | 'prices' | 'alerts'>>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** False for a command that soon ends: no other process joins its store. */
  readonly lasting?: boolean;
}

/** Longest wait for the store's answer to a health check. */
const STORE_ANSWERS_WITHIN_MS = 1_000;

/** Opens store, queue and outboxes. @throws OffhookError */
export async function openRecords({ config, clock, logger, lasting = true }: RecordsOptions): Promise<Records> {
  const { settings, secrets } = config;
  const { dataDir, jobs } = settings;
  const webhooks = webhookBookOf(config);
  const onProblem = warnThrottled(logger, clock, 'store or queue connection');
  const { masterKeys } = secrets;
  const url = secrets.databaseUrl?.reveal();
  const { lockTimeoutMs: waitMs } = settings.store;
  const database = await openDatabase({ url, dataDir, masterKeys, clock, onProblem, waitMs, lasting });
  try {
    const store = storeOn(database);
    const backoff = { firstMs: jobs.firstRetryMs, factor: 4, maxMs: 3_600_000, jitter: 0.2 };
    const retry = { attempts: jobs.attempts, backoff };
    const retries = { [WEBHOOKS]: WEBHOOK_RETRY, [DIALS]: DIAL_RETRY, [CALL_BACKS]: CALL_BACK_RETRY };
    const queue = openQueue({ redisUrl: secrets.redisUrl?.reveal(), database, clock, onProblem, retry, retries });
    const outbox = await Outbox.open(join(dataDir, 'outbox'), () => clock.wallMs());
    const recordingOutbox = await Outbox.open(join(dataDir, 'outbox', 'recordings'), () => clock.wallMs());
    const recordingsFolder = join(dataDir, 'recordings');
    const bucket = bucketOf(config, clock);
    const objects = bucket ?? diskObjects(recordingsFolder);
    const recordings = new Recordings(store, objects);
    const eraser = new Eraser({
      store,
      recordings,
      outboxes: [outbox, recordingOutbox],
      dataDir,
      clock,
    });
    const asking = new SingleFlight<'ok' | 'down'>();
    const askStore = (): Promise<'ok' | 'down'> =>
      database.pool.query('SELECT 1').then(
        () => 'ok',
        () => 'down',
      );
    return {
      store,
      queue,
      recordings,
      uploads: new Uploads(store, objects),
      seals: sealsCalls(config),
      outbox,
      recordingOutbox,
      webhooks,
      dispatcher: new WebhookDispatcher({ endpoints: webhooks, store, queue, clock }),
      eraser,
      audit: new AuditLog(join(dataDir, AUDIT_FILE), () => clock.wallMs()),
      storeState: () => within(clock, STORE_ANSWERS_WITHIN_MS, asking.run(askStore), 'down'),
      async close() {
        await queue.close();
        await store.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

function bucketOf({ settings, secrets }: RecordsOptions['config'], clock: Clock): ObjectStore | undefined {
  const { s3Endpoint: endpoint, s3Bucket: bucket, s3Region: region, s3Prefix: prefix = '' } = settings.recordings;
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = secrets;
  // All or none, as the configuration's own check says.
  if (endpoint === undefined || bucket === undefined || accessKeyId === undefined || secretAccessKey === undefined)
    return undefined;
  return s3Objects({ endpoint, bucket, region, prefix, accessKeyId, secretAccessKey }, clock);
}

/** Whether recordings are sealed after their call, and nothing that was said stays in a plain file. */
export function sealsCalls({ settings, carriers }: RecordsOptions['config']): boolean {
  const { seal, s3Endpoint } = settings.recordings;
  // A bucket's parts are all given or none, as the configuration's own check says.
  return s3Endpoint !== undefined || seal === 'always' || (seal === 'auto' && takesCarrierCalls(carriers));
}

/** The webhook endpoints of the settings, and those that were added over the API. */
export function webhookBookOf({ settings, webhooks = [] }: Pick<RecordsOptions['config'], 'settings' | 'webhooks'>): WebhookBook {
  return new WebhookBook(webhooks, join(settings.dataDir, WEBHOOKS_FILE));
}

/** The keys of the API: in a file of the data folder, or of several machines in their store. */
export function apiKeysOf(
  { settings }: Pick<LoadedConfig, 'settings'>,
  { apiKeys }: Pick<Store, 'apiKeys'>,
  clock: Clock,
): ApiKeyBook {
  const file = new ApiKeys(join(settings.dataDir, API_KEYS_FILE));
  return settings.cluster.address === undefined ? file : new SharedApiKeys(apiKeys, file, clock);
}

/** The same for a command, which opens the store only where it has to. @throws OffhookError */
export async function withApiKeys<Answer>(
  config: LoadedConfig,
  clock: Clock,
  logger: Logger,
  use: (keys: ApiKeyBook) => Promise<Answer>,
): Promise<Answer> {
  if (config.settings.cluster.address === undefined) return use(new ApiKeys(join(config.settings.dataDir, API_KEYS_FILE)));
  const records = await openRecords({ config, clock, logger, lasting: false });
  try {
    return await use(apiKeysOf(config, records.store, clock));
  } finally {
    await records.close();
  }
}

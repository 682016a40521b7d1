import { join } from 'node:path';
import type { Bot } from '../config/bots.ts';
import { readCallerIds } from '../config/caller-ids.ts';
import type { Settings } from '../config/schema.ts';
import type { Clock } from '../kernel/clock.ts';
import type { CallRecord } from '../records/record.ts';
import { CallFixtures } from '../rehearsal/replay/call-fixtures.ts';
import { EvalRuns } from '../rehearsal/evals/eval-runs.ts';
import { FIXTURES_FOLDER } from '../rehearsal/replay/fixture-keeping.ts';
import { RecordingFetcher } from '../records/submissions/recording-fetcher.ts';
import { soundReader } from '../records/analysis/sound-reader.ts';
import { readEnvironment } from '../config/env.ts';
import { AnalysisProfiles } from '../records/analysis/analysis-profiles.ts';
import { AuditHeads, headFile, headObjects, type HeadPlace, headWebhooks } from '../records/retention/audit-heads.ts';
import { removeAbandonedFiles } from '../records/retention/call-files.ts';
import { type DeliverEndedParts, deliverEndedCalls, deliverRecordings, keepRecording } from '../records/after-call/call-ended.ts';
import { type QueueName, QUEUES, type JobHandler, type Work } from '../records/queue/port.ts';
import { DrainLease, OutboxPump } from '../records/outbox/outbox-pump.ts';
import { postCallJob } from '../records/after-call/post-call-job.ts';
import type { BatchTranscriber } from '../records/analysis/transcriber.ts';
import { RecordingCoder } from '../audio/recording/recording-coder.ts';
import { LegalHolds, type KeptFor, retentionJob } from '../records/retention/retention.ts';
import { analyseSubmittedJob } from '../records/submissions/analyse-submitted.ts';
import { sweep } from '../records/sweep.ts';
import { deliverWebhook } from '../records/webhooks/deliver-webhook.ts';
import { startWorker } from '../records/queue/worker.ts';
import type { BusinessEvents } from '../observability/events.ts';
import { warnThrottled } from '../observability/log-throttle.ts';
import type { SpeechPlatform } from '../speech/platform.ts';
import { DialLists } from '../outbound/dial-lists.ts';
import type { CampaignOrders, DialListOrders, ErasureOrders, ReplayOrders } from '../http/api/api-app.ts';
import { s3Objects } from '../records/objects/s3.ts';
import { RecordingPeaks, VoicemailSounds } from '../records/objects/recording-extracts.ts';
import { openCampaignControl } from './campaigns.ts';
import { openRecords, type Records, type RecordsOptions } from './records.ts';

const MINUTE_MS = 60_000;

/** Everything behind live calls: records, the pumps that bring them there, and the worker. */
export interface Backlog extends Records {
  /** Undefined in a process that only works. */
  readonly pump: OutboxPump | undefined;
  /** Whether this process is the one that looks after the data folder; it never is one that only works. */
  readonly mayDrain: () => Promise<boolean>;
  /** What analyses are made by. */
  readonly profiles: AnalysisProfiles;
  /** Where uploads are while they arrive. */
  readonly uploadFolder: string;
  /** What the API does with campaigns. */
  readonly campaigns: CampaignOrders;
  /** What the API does with lists of numbers and consents. */
  readonly dialLists: DialListOrders;
  /** What the API needs to erase people. */
  readonly erasures: ErasureOrders;
  /** What the API needs to draw recordings. */
  readonly peaks: RecordingPeaks;
  /** What the API needs to play messages that callers left. */
  readonly voicemails: VoicemailSounds;
  /** What the API needs to replay calls. */
  readonly evals: EvalRuns;
  readonly replays: ReplayOrders;
}

export interface BacklogOptions extends RecordsOptions {
  /** Those of now, who say how long their calls are kept. */
  readonly bots: () => readonly Bot[];
  readonly speech: SpeechPlatform;
  /** Whether this process does jobs. */
  readonly worker: boolean;
  /** The queues it works on; all when absent. */
  readonly queues?: readonly QueueName[] | undefined;
  /** Jobs of one kind at once; the setting when absent. */
  readonly concurrency?: number | undefined;
  /** Whether this process brings the outbox to the store, when no other does. */
  readonly drain: boolean;
  readonly events: Pick<BusinessEvents, 'jobDone' | 'jobFailed'>;
  /** Told of each call that we placed once its record is stored: see `deliverEndedCalls`. */
  readonly onStored?: DeliverEndedParts['onStored'];
}

/** Opens the store and the queue, drains the outbox into them, and works when asked to. @throws OffhookError */
export async function openBacklog(options: BacklogOptions): Promise<Backlog> {
  const { worker, drain } = options;
  const { settings } = options.config;
  // First, while nothing is open that a broken profile would leave open.
  const profiles = await AnalysisProfiles.load(settings.analysis.folder, readEnvironment());
  const records = await openRecords(options);
  const campaigns = await openCampaigns(records, options);
  const onProblem = warnThrottled(options.logger, options.clock, 'drain lease');
  const lease = drain ? new DrainLease(join(settings.dataDir, 'outbox', 'lease'), options.clock, onProblem) : undefined;
  const pumps = lease && startPumps(records, options, lease);
  const heads = lease && startAuditHeads(records, options, () => lease.held());
  const work = worker ? startWork(records, options, profiles) : undefined;
  const swept = sweepFiles(options);
  return {
    ...records,
    pump: pumps?.ended,
    mayDrain: () => lease?.held() ?? Promise.resolve(false),
    profiles,
    campaigns,
    erasures: {
      eraser: records.eraser,
      holds: new LegalHolds(records.store, records.audit),
      audit: records.audit,
      defaultRegion: settings.dialling.defaultRegion,
    },
    peaks: new RecordingPeaks(records.recordings, new RecordingCoder(), join(settings.dataDir, 'work')),
    voicemails: new VoicemailSounds(records.recordings, new RecordingCoder(), join(settings.dataDir, 'work')),
    evals: new EvalRuns(settings.dataDir),
    replays: {
      fixtures: new CallFixtures({
        folder: join(settings.dataDir, FIXTURES_FOLDER),
        bots: settings.call.keepFixtures,
        botNamed: (name) => options.bots().find((bot) => bot.name === name),
        keyOf: (tenantId, callId, make) => records.store.privacy.audioKey(tenantId, callId, make),
        clock: options.clock,
      }),
      audit: records.audit,
    },
    dialLists: {
      lists: new DialLists({ ...records.store, audit: records.audit, wallMs: () => options.clock.wallMs() }),
      defaultRegion: settings.dialling.defaultRegion,
    },
    uploadFolder: join(settings.dataDir, 'work', 'uploads'),
    async close() {
      // Each waits a few seconds for what does not answer: one after the other they would take longer than a stop may.
      await Promise.all([pumps?.ended.stop(), pumps?.recordings.stop(), heads?.stop(), work?.stop(), swept]);
      await lease?.release();
      await records.close();
    },
  };
}

async function openCampaigns(records: Records, { config, bots, clock }: BacklogOptions): Promise<CampaignOrders> {
  const { store, audit } = records;
  try {
    const control = await openCampaignControl({ records, config, bots, clock });
    const { campaigns, contacts, attempts } = store;
    return { control, campaigns, contacts, attempts, audit, settings: config.settings.dialling };
  } catch (error) {
    await records.close();
    throw error;
  }
}

/** Removes what dead processes left of calls, beside everything else: a large data folder takes a while. Never rejects. */
async function sweepFiles({ config, clock, logger }: BacklogOptions): Promise<void> {
  try {
    const removed = await removeAbandonedFiles(config.settings.dataDir, clock.wallMs());
    if (removed > 0) logger.info({ removed }, 'removed temporary files of exited processes');
  } catch (error) {
    logger.warn({ error }, 'cleanup of temporary files failed');
  }
}

function startPumps(
  records: Records,
  { clock, logger, onStored, bots, config }: BacklogOptions,
  lease: DrainLease,
): { ended: OutboxPump; recordings: OutboxPump } {
  const { store, queue, dispatcher, outbox, recordingOutbox, seals } = records;
  const mayDrain = (): Promise<boolean> => lease.held();
  const recordings = new OutboxPump({ outbox: recordingOutbox, deliver: deliverRecordings(records), mayDrain, clock, logger });
  const deliver = deliverEndedCalls({
    store,
    queue,
    prices: config.prices,
    dispatcher,
    sealLater: seals ? (record) => keepRecording(recordingOutbox, recordings, record) : undefined,
    onStored,
    callsBack: callsBackAfterDeath(bots, config.settings.dialling, clock),
  });
  return { ended: new OutboxPump({ outbox, deliver, mayDrain, clock, logger }), recordings };
}

/** Keeps the heads of the audit logs where the settings say. @param mayKeep whether this process looks after the data folder */
function startAuditHeads(
  { audit, store: { attempts }, dispatcher }: Pick<Records, 'audit' | 'store' | 'dispatcher'>,
  { config, clock, logger }: RecordsOptions,
  mayKeep: () => Promise<boolean>,
): AuditHeads {
  const { headMinutes, headFile: path } = config.settings.audit;
  const places = [headWebhooks(dispatcher), path === undefined ? undefined : headFile(path), bucketOf(config, clock)].filter(
    (place) => place !== undefined,
  );
  return new AuditHeads({ audit, attempts, places, mayKeep, everyMs: headMinutes * MINUTE_MS, clock, logger });
}

function bucketOf({ settings, secrets }: RecordsOptions['config'], clock: RecordsOptions['clock']): HeadPlace | undefined {
  const { s3Endpoint: endpoint, s3Bucket: bucket, s3Region: region, s3Prefix: prefix = '', s3LockDays } = settings.audit;
  const { auditS3AccessKeyId: accessKeyId, auditS3SecretAccessKey: secretAccessKey } = secrets;
  // All or none, as the configuration's own check says.
  if (endpoint === undefined || bucket === undefined || accessKeyId === undefined || secretAccessKey === undefined)
    return undefined;
  const lockDays = s3LockDays === 0 ? undefined : s3LockDays;
  return headObjects(s3Objects({ endpoint, bucket, region, prefix, accessKeyId, secretAccessKey, lockDays }, clock));
}

/** A call-back is no help long after the call. */
const CALLED_BACK_WITHIN_MS = 3_600_000;

/** Whether a caller whose call died with its process is called back: as where the bot's server is down, if its bot's list has that. */
export function callsBackAfterDeath(
  bots: () => readonly Pick<Bot, 'name' | 'whenDown'>[],
  { callerIds }: Pick<Settings['dialling'], 'callerIds'>,
  clock: Pick<Clock, 'wallMs'>,
): (record: Pick<CallRecord, 'botName' | 'endedAtMs' | 'mode'>) => boolean {
  const isDialling = readCallerIds(callerIds).callerIds.length > 0;
  return ({ botName, endedAtMs = 0, mode }) => {
    if (!isDialling || mode === 'listen' || clock.wallMs() - endedAtMs > CALLED_BACK_WITHIN_MS) return false;
    const bot = bots().find(({ name }) => name === botName);
    return bot?.whenDown?.some(({ kind }) => kind === 'callback') === true;
  };
}

function startWork(records: Records, options: BacklogOptions, profiles: AnalysisProfiles): Work {
  const { config, bots, speech, clock, logger, events } = options;
  const { settings } = config;
  const { retention, webhooks, dataDir, jobs } = settings;
  const { store, queue, dispatcher, recordings, uploads, eraser } = records;
  const workFolder = join(dataDir, 'work');
  const transcriber = transcriberOn(speech);
  const keptFor = (): (readonly [string, KeptFor])[] =>
    bots().map(({ name, retention: own }) => [
      name,
      { audioDays: own.audioDays ?? retention.audioDays, textDays: own.textDays ?? retention.textDays },
    ]);
  const handlers: Readonly<Record<QueueName, JobHandler>> = {
    'post-call': postCallJob({
      store,
      recordings,
      dispatcher,
      transcriber,
      profiles,
      prices: config.prices,
      clock,
      coder: new RecordingCoder(),
      workFolder,
    }),
    analyses: analyseSubmittedJob({
      store,
      uploads,
      queue,
      dispatcher,
      profiles,
      transcriber,
      clock,
      workFolder,
      fetcher: new RecordingFetcher({ clock, audioHosts: audioHostsOf(settings.platform.audioHosts) }),
      sound: soundReader(),
    }),
    webhooks: deliverWebhook({ store, dispatcher, clock, timeoutMs: webhooks.timeoutMs }),
    retention: retentionJob({
      store,
      uploads,
      eraser,
      fixturesFolder: join(dataDir, FIXTURES_FOLDER),
      dataDir,
      bots: () => new Map(keptFor()),
      byDefault: retention,
      clock,
      logger,
    }),
  };
  const chosen = options.queues ?? QUEUES;
  return startWorker({
    queue,
    handlers: Object.fromEntries(chosen.map((name) => [name, handlers[name]])),
    sweep: () => sweep({ store, queue, dispatcher, clock }),
    logger,
    events,
    clock,
    concurrency: options.concurrency ?? jobs.concurrency,
  });
}

/** @param text hosts with commas between */
export function audioHostsOf(text = ''): string[] {
  return text
    .split(',')
    .map((host) => host.trim())
    .filter((host) => host !== '');
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

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fastify } from 'fastify';
import { RecordingCoder } from '../../src/audio/recording/recording-coder.ts';
import { CampaignControl } from '../../src/outbound/campaign-control.ts';
import { DialLists } from '../../src/outbound/dial-lists.ts';
import { NumberZones } from '../../src/outbound/number.ts';
import { DiallingProfiles, SHIPPED_FOLDER } from '../../src/outbound/profiles.ts';
import { readCallerIds } from '../../src/config/caller-ids.ts';
import { announceCampaigns, WebhookDispatcher } from '../../src/records/webhooks/webhook-dispatcher.ts';
import { AuditLog } from '../../src/records/retention/audit-log.ts';
import { Secret } from '../../src/config/secrets.ts';
import { type WebhookEndpoint, WEBHOOK_EVENTS } from '../../src/config/webhook-endpoints.ts';
import { LegalHolds } from '../../src/records/retention/retention.ts';
import { Eraser } from '../../src/records/retention/eraser.ts';
import { RecordingFetcher } from '../../src/records/submissions/recording-fetcher.ts';
import { soundReader } from '../../src/records/analysis/sound-reader.ts';
import { apiRoutes } from '../../src/http/api/api.ts';
import type { BotOrders } from '../../src/http/api/api-app.ts';
import type { SettingsOrders } from '../../src/http/api/settings/settings-orders.ts';
import { API_SCOPES, type ApiKeyBook, ApiKeys } from '../../src/http/api/system/api-keys.ts';
import type { JwtBearers } from '../../src/http/api/jwt-bearers.ts';
import { answerBrokenRequest, BODY_TIME } from '../../src/http/problem.ts';
import { useProblems } from '../../src/http/problem.ts';
import { AnalysisProfiles } from '../../src/records/analysis/analysis-profiles.ts';
import { WEBHOOKS, ANALYSES } from '../../src/records/queue/port.ts';
import type { BatchTranscriber } from '../../src/records/analysis/transcriber.ts';
import { openQueue } from '../../src/records/queue/bull-queue.ts';
import { analyseSubmittedJob } from '../../src/records/submissions/analyse-submitted.ts';
import { deliverWebhook } from '../../src/records/webhooks/deliver-webhook.ts';
import { limitBodyTime } from '../../src/kernel/body-time.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { EvalRuns } from '../../src/rehearsal/evals/eval-runs.ts';
import { CallFixtures } from '../../src/rehearsal/replay/call-fixtures.ts';
import { FIXTURES_FOLDER } from '../../src/rehearsal/replay/fixture-keeping.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { diskObjects } from '../../src/records/objects/disk.ts';
import { storeOn } from '../../src/records/database.ts';
import { RecordingPeaks } from '../../src/records/objects/recording-extracts.ts';
import { Recordings, Uploads } from '../../src/records/objects/recordings.ts';
import { embeddedDatabases, onProblem, temporaryFolder } from './databases.ts';
import { startReceiver } from './webhook-receiver.ts';

/** What campaigns of these tests may use: one bot, one caller id, one account, and profiles by name. */
const CAMPAIGN_MEANS = {
  bots: ['reminder'],
  profiles: await DiallingProfiles.load(SHIPPED_FOLDER),
  callerIds: readCallerIds('+12125550100').callerIds,
  carriers: ['twilio'],
  carrier: undefined,
  missingFor: (_bot: string, duties: readonly { readonly duty: string }[]) =>
    duties.some(({ duty }) => duty === 'say-identity-first') ? ['nobody has a name'] : [],
};
const ZONES = NumberZones.load();
export const HOOK_SECRET = `whsec_${Buffer.alloc(32, 'w').toString('base64')}`;
export const MOST_BYTES = 400_000;

/** The API on a loopback port with store, queue, worker and a receiver of webhooks: what it fetches lies in `files`. */
export async function startApi(
  transcriber: BatchTranscriber,
  more: {
    readonly tokens?: JwtBearers | undefined;
    readonly bots?: BotOrders;
    readonly evals?: EvalRuns;
    readonly settings?: SettingsOrders;
    /** In place of a file of its own. */
    readonly keys?: ApiKeyBook;
  } = {},
) {
  const databases = await embeddedDatabases();
  const database = await databases.open();
  const store = storeOn(database);
  const folder = await temporaryFolder();
  const receiver = await startReceiver(HOOK_SECRET);
  const retry = { attempts: 2, backoff: { firstMs: 1, factor: 1, maxMs: 1, jitter: 0 } };
  const queue = openQueue({ redisUrl: undefined, database, clock: systemClock, onProblem, retry });
  const endpoint: WebhookEndpoint = {
    name: 'all',
    url: receiver.url,
    events: [...WEBHOOK_EVENTS],
    secretEnv: 'HOOK',
    secret: new Secret(HOOK_SECRET),
    numbers: 'masked',
    words: false,
    allowPrivate: true,
    tenantId: 'default',
  };
  const dispatcher = new WebhookDispatcher({ endpoints: [endpoint], store, queue, clock: systemClock });
  const objects = diskObjects(join(folder.path, 'objects'));
  const uploads = new Uploads(store, objects);
  const files = new Map<string, Uint8Array>();
  const audio = createServer((request, response) => {
    const bytes = files.get(request.url ?? '');
    response.writeHead(bytes === undefined ? 404 : 200).end(bytes);
  });
  audio.listen(0, '127.0.0.1');
  await once(audio, 'listening');
  const audioHost = `127.0.0.1:${(audio.address() as AddressInfo).port}`;
  const workFolder = join(folder.path, 'work');
  const parts = { store, uploads, queue, dispatcher, transcriber, clock: systemClock, workFolder };
  const profiles = AnalysisProfiles.plain();
  const fetcher = new RecordingFetcher({ clock: systemClock, audioHosts: [audioHost] });
  const handler = analyseSubmittedJob({ ...parts, profiles, fetcher, sound: soundReader() });
  const work = () => queue.work(ANALYSES, handler, { concurrency: 4 });
  queue.work(WEBHOOKS, deliverWebhook({ store, dispatcher, clock: systemClock, timeoutMs: 5000 }));

  const own = new ApiKeys(join(folder.path, 'api-keys.json'));
  const keys = more.keys ?? own;
  const app = fastify({ clientErrorHandler: answerBrokenRequest, forceCloseConnections: true });
  useProblems(app, silentLogger);
  limitBodyTime(app, { ...BODY_TIME, clock: systemClock, withinMs: 300 });
  const uploadFolder = join(folder.path, 'uploads');
  const recordings = new Recordings(store, objects);
  const audit = new AuditLog(join(folder.path, 'audit.jsonl'), () => systemClock.wallMs());
  const control = new CampaignControl({
    ...store,
    means: () => CAMPAIGN_MEANS,
    zones: () => ZONES,
    announce: () => announceCampaigns({ campaigns: store.campaigns, dispatcher }),
    eraseCall: async (tenantId, callId) => {
      const erased = await store.privacy.erase(tenantId, callId, systemClock.wallMs());
      const ids = (kind: string) => ((typeof erased === 'string' ? erased : 'erased') === kind ? [callId] : []);
      return { erased: ids('erased'), held: ids('held'), live: ids('live') };
    },
    clock: systemClock,
  });
  const campaigns = {
    control,
    campaigns: store.campaigns,
    contacts: store.contacts,
    attempts: store.attempts,
    audit,
    settings: { defaultRegion: 'IN', profile: 'none', zoneSource: 'number' as const, callsPerSecond: 1, concurrency: 10 },
  };
  const lists = new DialLists({ ...store, audit, wallMs: () => systemClock.wallMs() });
  const dialLists = { lists, defaultRegion: 'IN' };
  const eraser = new Eraser({ store, recordings, outboxes: [], dataDir: folder.path, clock: systemClock });
  const erasures = { eraser, holds: new LegalHolds(store, audit), audit, defaultRegion: 'IN' };
  const fixturesFolder = join(folder.path, FIXTURES_FOLDER);
  const deps = {
    keys,
    store,
    queue,
    recordings,
    uploads,
    profiles,
    uploadFolder,
    campaigns,
    dialLists,
    erasures,
    dispatcher,
    peaks: new RecordingPeaks(recordings, new RecordingCoder(), workFolder),
    replays: {
      fixtures: new CallFixtures({
        folder: fixturesFolder,
        bots: 'clinic',
        botNamed: () => ({ recording: 'always' }),
        keyOf: (tenantId, callId, make) => store.privacy.audioKey(tenantId, callId, make),
        clock: systemClock,
      }),
      audit,
    },
    bots: more.bots,
    settings: more.settings,
    evals: more.evals,
    ...(more.settings === undefined && more.evals === undefined ? {} : { audit }),
    clock: systemClock,
  };
  app.register(async (scope) => apiRoutes(scope, deps, { maxUploadBytes: MOST_BYTES, ...more }));
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const secretOf = async (tenantId: string): Promise<string> =>
    (await keys.create({ name: tenantId, tenantId, scopes: [...API_SCOPES] }, 0)).secret;
  const key = await secretOf('default');
  /** Sends a request with a key, that of the tenant `default` where absent, and JSON where there is a body. */
  const send = (
    method: string,
    path: string,
    body?: unknown,
    bearer = key,
    headers: Record<string, string> = {},
  ): Promise<Response> =>
    fetch(`${url}/api${path}`, {
      method,
      headers: {
        authorization: `Bearer ${bearer}`,
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    url,
    send,
    store,
    queue,
    dispatcher,
    receiver,
    files,
    audioHost,
    keys: own,
    audit: () => readFile(join(folder.path, 'audit.jsonl'), 'utf8'),
    work,
    uploadFolder,
    objectFolder: objects.place,
    folder: folder.path,
    fixturesFolder,
    key,
    otherKey: await secretOf('other'),
    async [Symbol.asyncDispose]() {
      await app.close();
      audio.close();
      await queue.close();
      await store.close();
      await receiver[Symbol.asyncDispose]();
      await databases[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

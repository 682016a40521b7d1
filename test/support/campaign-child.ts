import { createServer } from 'node:http';
import { DialGate } from '../../src/outbound/ask-gate.ts';
import { CallDialler } from '../../src/outbound/dialler.ts';
import { NumberZones } from '../../src/outbound/number.ts';
import { SharedPace } from '../../src/outbound/pacing.ts';
import { DiallingProfiles } from '../../src/outbound/profiles.ts';
import { CarrierControlError, DialUnknownError } from '../../src/carriers/errors.ts';
import type { CallControl, DialProgress, FoundDial } from '../../src/carriers/port.ts';
import { readCallerIds } from '../../src/config/caller-ids.ts';
import { Secret } from '../../src/config/secrets.ts';
import { runCampaigns } from '../../src/hosts/campaigns.ts';
import { openQueue } from '../../src/records/queue/bull-queue.ts';
import { DIAL_RETRY, DIALS } from '../../src/records/queue/port.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { openDatabase, storeOn } from '../../src/records/database.ts';
import type { CampaignRef } from '../../src/records/campaigns.ts';
import { CALLER_ID } from './campaign-caller.ts';
import { OPEN_DIALLING } from './open-dialling.ts';

/**
 * A process that runs campaigns, dials at a stand-in, and has no calls: its first argument is a `CampaignChildOptions` as JSON. It tells
 * its memory every second, and does what it is told over its channel.
 */
export interface CampaignChildOptions {
  /** A Postgres server and a Redis; absent: the embedded store of `dataDir`, and its queue. */
  readonly databaseUrl?: string | undefined;
  readonly redisUrl?: string | undefined;
  readonly dataDir: string;
  readonly carrierUrl: string;
  readonly callsPerSecond: number;
  readonly room: number;
}

export type CampaignOrder =
  | { readonly do: 'add'; readonly campaignId: string; readonly settings: unknown; readonly groups: readonly ContactGroup[] }
  | { readonly do: 'counts'; readonly campaignId: string }
  | { readonly do: 'stop'; readonly campaignId: string }
  | { readonly do: 'decide'; readonly batches: number };

/** Contacts with numbers one after the other. */
export interface ContactGroup {
  readonly firstNumber: number;
  readonly count: number;
  readonly zone: string;
}

const MASTER_KEY = Buffer.alloc(32, 'test').toString('base64');
const BATCH = 1000;

const options = JSON.parse(process.argv[2] ?? '{}') as CampaignChildOptions;
const onProblem = (): void => undefined;
const database = await openDatabase({
  url: options.databaseUrl,
  dataDir: options.dataDir,
  masterKeys: [new Secret(MASTER_KEY)],
  clock: systemClock,
  onProblem,
});
const store = storeOn(database);
const queue = openQueue({
  redisUrl: options.redisUrl,
  database,
  clock: systemClock,
  onProblem,
  retries: { [DIALS]: DIAL_RETRY },
  stalledMs: 5_000,
});
const profiles = await DiallingProfiles.load('');
const zones = NumberZones.load();
const { callerIds } = readCallerIds(CALLER_ID);
const held = new Set<string>();
const outbound = {
  get room() {
    return options.room - held.size;
  },
  reserve: async ({ callId }: { callId: string }) => {
    held.add(callId);
    return { kind: 'reserved' as const, attachmentId: `att-${callId}` };
  },
  release: (callId: string) => void held.delete(callId),
  reported: () => undefined,
  onGivenUp: () => undefined,
};

async function carrier<Answer>(path: string, body: object): Promise<Answer> {
  const answer = await fetch(`${options.carrierUrl}${path}`, { method: 'POST', body: JSON.stringify(body) });
  if (answer.status !== 200) throw new CarrierControlError('refused', { retryable: true });
  return (await answer.json()) as Answer;
}
const control: CallControl = {
  hangUp: (carrierCallId) => carrier('/hang-up', { carrierCallId }),
  transfer: async () => undefined,
  sendDigits: async () => undefined,
  dialling: {
    capabilities: { callsPerSecond: 1000, detectsMachines: false, canFind: true },
    dial: ({ callId, to, from }) =>
      carrier<{ carrierCallId: string }>('/dial', { callId, to, from }).catch(() => {
        throw new DialUnknownError('no answer');
      }),
    find: ({ callId }) => carrier<FoundDial>('/find', { callId }),
    progressOf: async (carrierCallId) => (await carrier<{ progress?: DialProgress }>('/progress', { carrierCallId })).progress,
  },
};
const parts = {
  ...OPEN_DIALLING,
  profiles,
  zones,
  means: () => ({ callerIds, carriers: ['stand-in'], carrier: undefined }),
  clock: systemClock,
  missingFor: () => [],
};
const gate = new DialGate({ ...parts, attempts: store.attempts });
const dialler = new CallDialler({
  gate,
  destinationsOf: OPEN_DIALLING.destinationsOf,
  attempts: store.attempts,
  calls: store.calls,
  outbound,
  controlOf: () => control,
  addressesOf: async ({ callId }) => ({ streamUrl: `wss://127.0.0.1/${callId}`, statusUrl: `https://127.0.0.1/${callId}` }),
  placed: () => undefined,
  maxDurationMsOf: () => 60_000,
  pace: new SharedPace(store.campaigns, { carrier: options.callsPerSecond, line: 1000 }, systemClock),
  concurrency: 10_000,
  detectMachine: false,
  tell: () => undefined,
  clock: systemClock,
  logger: silentLogger,
});

/** Where the carrier reports. */
const server = createServer((request, response) => {
  void (async () => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { callId, ...report } = JSON.parse(text) as { callId: string; carrierCallId: string; progress: DialProgress };
    await dialler.follower.reported(callId, { carrier: 'stand-in', ...report });
    response.end();
  })().catch(() => response.writeHead(500).end());
}).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const address = server.address();

dialler.start();
runCampaigns({
  settings: {
    dialling: {
      callsPerSecond: options.callsPerSecond,
      concurrency: 10_000,
      callerIdCallsPerSecond: 1000,
      callerIdConcurrency: 10_000,
      callerIds: CALLER_ID,
    } as Parameters<typeof runCampaigns>[0]['settings']['dialling'],
  },
  records: { store, queue, dispatcher: { announce: async () => undefined } as never },
  dialler,
  profiles,
  zones,
  means: parts.means,
  room: () => outbound.room,
  clock: systemClock,
  logger: silentLogger,
});

async function add(order: Extract<CampaignOrder, { do: 'add' }>): Promise<number> {
  const ref: CampaignRef = { tenantId: 'default', campaignId: order.campaignId };
  const nowMs = systemClock.wallMs();
  const { settings } = order;
  await store.campaigns.create({
    tenantId: 'default',
    id: order.campaignId,
    name: order.campaignId,
    settings,
    createdAtMs: nowMs,
  });
  let added = 0;
  for (const { firstNumber, count, zone } of order.groups) {
    for (let from = 0; from < count; from += BATCH) {
      const batch = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) => ({
        number: `+${firstNumber + from + index}`,
        zone,
        variables: { name: `Asha ${from + index}` },
      }));
      added += (await store.contacts.add(ref, batch, 0)).added;
    }
  }
  await store.campaigns.setState(ref, ['draft'], 'running', { atMs: systemClock.wallMs() });
  return added;
}

/** Asks the gate about numbers that nobody knows, 200 at once, without a carrier. @returns decisions a second */
async function decide(batches: number): Promise<number> {
  const startedMs = performance.now();
  const request = {
    tenantId: 'decisions',
    from: CALLER_ID,
    botName: 'reminder',
    variables: {},
    metadata: {},
    ringTimeoutMs: 30_000,
  };
  const about = { profile: 'none', registrations: {}, narrowing: [] };
  for (let batch = 0; batch < batches; batch += 1) {
    const numbers = Array.from({ length: 200 }, (_, index) => `+4420${80_000_000 + batch * 200 + index}`);
    await gate.ask(
      numbers.map((to) => ({ ...request, ...about, to })),
      { owner: 'bench', untilMs: systemClock.wallMs() + 600_000 },
    );
  }
  return (batches * 200 * 1000) / (performance.now() - startedMs);
}

async function obey(order: CampaignOrder): Promise<unknown> {
  const ref = { tenantId: 'default', campaignId: 'campaignId' in order ? order.campaignId : '' };
  switch (order.do) {
    case 'add':
      return add(order);
    case 'counts':
      return { ...(await store.campaigns.counts(ref)), state: (await store.campaigns.get('default', ref.campaignId))?.state };
    case 'stop':
      return store.campaigns.setState(ref, ['running'], 'stopped', { atMs: systemClock.wallMs() });
    case 'decide':
      return decide(order.batches);
  }
}

process.on('message', ({ id, order }: { id: number; order: CampaignOrder }) => {
  void obey(order).then(
    (answer) => process.send?.({ id, answer }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  );
});
const tellMemory = (): void => {
  const { user, system } = process.cpuUsage();
  process.send?.({ rss: process.memoryUsage().rss, cpuMs: (user + system) / 1000 });
  systemClock.after(1_000, tellMemory);
};
process.once('disconnect', () => process.exit(0));
process.send?.({ statusUrl: typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}/` : '' });
tellMemory();

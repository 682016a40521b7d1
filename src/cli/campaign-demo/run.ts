import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DialGate } from '../../outbound/ask-gate.ts';
import { CampaignControl } from '../../outbound/campaign-control.ts';
import { CampaignRunner, type DueDial } from '../../outbound/campaign-runner.ts';
import { type Campaign, campaignRef, type WrittenSettings } from '../../outbound/campaign.ts';
import type { ImportReport } from '../../outbound/contacts/import-contacts.ts';
import { contactsOf } from '../../outbound/report.ts';
import { readContacts } from '../../outbound/contacts/read-contacts.ts';
import { CallDialler } from '../../outbound/dialler.ts';
import { type ChainEntry, verifyChain } from '../../outbound/gate/chain.ts';
import { OWN_LIST } from '../../outbound/gate/facts.ts';
import { NumberZones } from '../../outbound/number.ts';
import { DialPrices } from '../../outbound/prices.ts';
import { DiallingProfiles, SHIPPED_FOLDER } from '../../outbound/profiles.ts';
import { readCallerIds } from '../../config/caller-ids.ts';
import { Destinations } from '../../config/destinations.ts';
import { deliverEndedCalls } from '../../records/after-call/call-ended.ts';
import { systemClock } from '../../kernel/clock.ts';
import { sleep } from '../../kernel/waiting.ts';
import { silentLogger } from '../../observability/logger.ts';
import { openDatabase, storeOn } from '../../records/database.ts';
import type { AttemptRepository, Attempt } from '../../records/dialling.ts';
import type { Store } from '../../records/port.ts';
import { HOURS, judge, type Judgement } from './judge.ts';
import { contactsFile, PEOPLE, type Person } from './people.ts';
import { CARRIER, SimulatedCarrier } from './simulated-carrier.ts';
import { VirtualDays } from './virtual-days.ts';

/** Something that is broken on purpose, to see that the demo finds it. */
export const TAMPERINGS = ['suppression', 'hours', 'twice'] as const;
export type Tampering = (typeof TAMPERINGS)[number];

export interface CampaignDemoOptions {
  readonly tampering?: Tampering | undefined;
  /** All hundred when absent. */
  readonly people?: readonly Person[] | undefined;
}

export interface CampaignDemo extends Judgement {
  readonly file: ImportReport;
  /** Wall times of the first and the last call, in virtual time. */
  readonly firstCallMs: number;
  readonly lastCallMs: number;
}

const TENANT = 'default';
const OWN_NUMBER = '+19175550199';
/** A Friday morning, before anybody may be called. Two days later clocks change in the United States. */
const BEGIN_MS = Date.parse('2026-03-06T08:00:00-05:00');
/** If the campaign is not over by then, it never will be. */
const END_MS = BEGIN_MS + 14 * 86_400_000;
const PLACES = 50;
/** Time passes in steps no longer than this while phones ring. */
const LONGEST_STEP_MS = 10_000;
const NO_ROOM_MS = 500;
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri'] as const;

const SETTINGS: WrittenSettings = {
  name: 'Demo',
  bot: 'reminder',
  from: OWN_NUMBER,
  profile: 'us',
  purpose: 'service',
  callsPerSecond: 50,
  concurrency: 40,
  narrowing: {
    windows: [{ hours: [{ days: [...DAYS], from: `${HOURS.from}:00`, to: `${HOURS.to}:00` }], source: 'hours of the campaign' }],
  },
};

/**
 * Calls a hundred simulated people over days of virtual time, and checks what came of it. Real: the embedded store in a folder of its
 * own, the dial gate with the shipped profile, the dialler, the campaign runner and its policies, and what stores calls and opt-outs.
 * Simulated: the phones, the carrier, and the media of calls, as orders, reports and records without sound; the job queue is a list.
 */
export async function runCampaignDemo({ tampering, people = PEOPLE }: CampaignDemoOptions = {}): Promise<CampaignDemo> {
  const dataDir = await mkdtemp(join(tmpdir(), 'offhook-campaign-demo-'));
  try {
    const database = await openDatabase({
      url: undefined,
      dataDir,
      clock: systemClock,
      onProblem: () => undefined,
      lasting: false,
    });
    const plain = storeOn(database);
    try {
      return await play(plain, await DiallingProfiles.load(SHIPPED_FOLDER), people, tampering);
    } finally {
      await plain.close();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function play(
  plain: Store,
  profiles: DiallingProfiles,
  people: readonly Person[],
  tampering: Tampering | undefined,
): Promise<CampaignDemo> {
  const time = new VirtualDays(BEGIN_MS);
  const store = heldStore(plain, time, tampering);
  const carrier = new SimulatedCarrier(people, time, PLACES);
  const callerIds = readCallerIds(OWN_NUMBER).callerIds;
  const zones = NumberZones.load(join(SHIPPED_FOLDER, 'number-zones.json'));
  const control = new CampaignControl({
    ...store,
    means: () => ({
      bots: ['reminder'],
      profiles,
      callerIds,
      carriers: [CARRIER],
      carrier: undefined,
      missingFor: () => [],
    }),
    zones: () => zones,
    announce: () => Promise.resolve(),
    eraseCall: () => Promise.resolve({ erased: [], held: [], live: [] }),
    clock: time,
  });
  await preparePeople(store, people);
  await using desk = await dialDesk({ store, carrier, profiles, time, tampering });
  const campaign = await control.create(TENANT, SETTINGS);
  const rows = readContacts(bytesOf(contactsFile(people)), { tenantId: TENANT, defaultRegion: 'US' });
  const file = await control.addContacts(campaign, rows);
  await control.change(campaign, 'start');
  await desk.run(campaign);

  const orders = [...carrier.orders];
  // Everybody who wanted no more calls is to be called once more.
  const again = await control.create(TENANT, { ...SETTINGS, name: 'Once more' });
  const optedOut = people.filter(({ expected }) => expected.outcome === 'opt-out' || expected.outcome === 'wrong-number');
  const moreRows = readContacts(bytesOf(contactsFile(optedOut)), { tenantId: TENANT, defaultRegion: 'US' });
  await control.addContacts(again, moreRows);
  await control.change(again, 'start');
  await desk.run(again);

  const head = await store.attempts.decisionHead(TENANT);
  const chain = await verifyChain(plain.attempts.decisions(TENANT) as AsyncIterable<ChainEntry>, TENANT, head);
  const askedAgain = await collect(contactsOf(store.contacts, again));
  const finished = (await control.get(TENANT, campaign.id)) ?? campaign;
  const judged = judge({
    people,
    contacts: await collect(contactsOf(store.contacts, finished)),
    attempts: await attemptsOf(store, finished),
    report: await control.report(finished),
    // Of the second campaign too: it was to call nobody.
    orders: carrier.orders,
    listed: await listed(store, people),
    askedAgain: new Map(askedAgain.map(({ number, cause = '' }) => [number, cause])),
    logFaults: chain.faultCount,
  });
  const moments = orders.map(({ atMs }) => atMs);
  return { ...judged, file, firstCallMs: Math.min(...moments), lastCallMs: Math.max(...moments) };
}

/** The store, whose work holds the time, broken where that is wanted. */
function heldStore(plain: Store, time: VirtualDays, tampering: Tampering | undefined): Store {
  const parts = Object.entries(plain).map(([name, part]: [string, unknown]) => [
    name,
    typeof part === 'object' && part !== null ? time.holding(part) : part,
  ]);
  const store = { ...plain, ...Object.fromEntries(parts) } as Store; // every repository is the same but for when it answers
  if (tampering === 'hours') {
    const { campaigns } = store;
    const running = async () =>
      (await campaigns.running()).map((each) => ({ ...each, settings: { ...SETTINGS, narrowing: {} } as unknown }));
    return { ...store, campaigns: time.holding(overriding(campaigns, { running })) };
  }
  if (tampering === 'suppression') {
    const { attempts } = store;
    const decide: AttemptRepository['decide'] = (tenantId, about, ask) =>
      attempts.decide(tenantId, about, (known, lists, ...rest) => {
        const cleared = [...known].map(([number, facts]) => [number, { ...facts, suppressions: [] }] as const);
        return ask(new Map(cleared), lists, ...rest);
      });
    return { ...store, attempts: time.holding(overriding(attempts, { decide })) };
  }
  return store;
}

function overriding<Part extends object>(part: Part, over: Partial<Part>): Part {
  return new Proxy(part, { get: (target, name) => Reflect.get(over, name) ?? Reflect.get(target, name) });
}

/** Consents and the list of those who want no calls, as they stood before the campaign. */
async function preparePeople(store: Store, people: readonly Person[]): Promise<void> {
  const givenAtMs = BEGIN_MS - 90 * 86_400_000;
  const consents = people
    .filter(({ consent }) => consent !== 'none')
    .map(({ number, consent }) => ({
      number,
      id: 'form',
      level: 'express' as const,
      purposes: ['service' as const],
      givenAtMs,
      ...(consent === 'expired' ? { expiresAtMs: BEGIN_MS - 1 } : {}),
      evidence: 'form of the demo',
    }));
  await store.consents.putMany(TENANT, consents);
  const suppressed = people.filter(({ isSuppressed }) => isSuppressed);
  await store.suppressions.add(
    TENANT,
    suppressed.map(({ number }) => ({ list: OWN_LIST, number, addedAtMs: givenAtMs, source: 'import' })),
  );
}

interface DeskParts {
  readonly store: Store;
  readonly carrier: SimulatedCarrier;
  readonly profiles: DiallingProfiles;
  readonly time: VirtualDays;
  readonly tampering: Tampering | undefined;
}

interface DialDesk extends AsyncDisposable {
  /** Lets days pass until the campaign is finished. @throws when it is not within two weeks */
  run(campaign: Campaign): Promise<void>;
}

/** What a gateway has for campaigns: gate, dialler, runner, and what becomes of ended calls. */
async function dialDesk({ store, carrier, profiles, time, tampering }: DeskParts): Promise<DialDesk> {
  const zones = NumberZones.load(join(SHIPPED_FOLDER, 'number-zones.json'));
  const callerIds = readCallerIds(OWN_NUMBER).callerIds;
  const gate = new DialGate({
    attempts: store.attempts,
    profiles,
    zones,
    means: () => ({ callerIds, carriers: [CARRIER], carrier: undefined }),
    missingFor: () => [],
    // Nobody is called.
    destinationsOf: () => Destinations.anywhere,
    limitsOf: () => ({ callsPerDay: Infinity, callsPerDayOfKey: Infinity, alarmFactor: Infinity, alarmCalls: Infinity }),
    prices: DialPrices.none,
    expectedMinutes: 1,
    clock: time,
  });
  const dialler = new CallDialler({
    gate,
    destinationsOf: () => Destinations.anywhere,
    attempts: store.attempts,
    calls: store.calls,
    outbound: carrier.outbound,
    controlOf: () => (tampering === 'twice' ? eager(carrier) : carrier),
    addressesOf: ({ callId }) =>
      Promise.resolve({ streamUrl: `wss://demo.invalid/${callId}`, statusUrl: `https://demo.invalid/${callId}` }),
    placed: () => undefined,
    maxDurationMsOf: () => 300_000,
    pace: { take: () => 0 },
    concurrency: PLACES,
    detectMachine: false,
    tell: () => undefined,
    clock: time,
    logger: silentLogger,
  });
  const queued = new Set<DueDial>();
  const place = async (dial: DueDial): Promise<void> => {
    while ((await runner.place(dial)) === 'no-room') await sleep(time, NO_ROOM_MS);
    queued.delete(dial);
  };
  const runner = new CampaignRunner({
    ...store,
    zones,
    dialler,
    profiles,
    room: () => carrier.outbound.room,
    carrierOf: () => CARRIER,
    limitOfCarrier: () => ({ callsPerSecond: 50, concurrency: PLACES }),
    enqueue: async (dials) => {
      for (const dial of dials) {
        queued.add(dial);
        void place(dial);
      }
    },
    changed: () => Promise.resolve(),
    clock: time,
    logger: silentLogger,
  });
  dialler.onEnded((attempt) => void time.hold(runner.ended(attempt)));
  const deliver = deliverEndedCalls({
    store,
    queue: { enqueue: () => Promise.resolve() } as never,
    onStored: (record) => dialler.follower.stored(record),
  });
  carrier.listen({
    reported: (callId, report) => dialler.follower.reported(callId, report),
    recorded: (record) => deliver({ kind: 'call-ended', body: record }),
  });
  dialler.start();
  runner.start();

  return {
    async run(campaign) {
      await time.quiet();
      for (;;) {
        if (time.wallMs() > END_MS) throw new Error('the campaign is not over after two weeks');
        const ringing = carrier.nextEventMs;
        if (queued.size > 0) await time.step();
        else if (ringing !== undefined) await time.leap(Math.min(ringing, time.wallMs() + LONGEST_STEP_MS) - BEGIN_MS);
        else {
          const { state } = (await store.campaigns.get(campaign.tenantId, campaign.id)) ?? campaign;
          if (state !== 'running') return;
          const { nextDueAtMs = 0 } = await store.contacts.open(campaignRef(campaign));
          if (nextDueAtMs <= time.wallMs()) await time.step();
          else await time.leap(nextDueAtMs - BEGIN_MS);
        }
      }
    },
    async [Symbol.asyncDispose]() {
      const closing = Promise.all([runner[Symbol.asyncDispose](), dialler[Symbol.asyncDispose]()]);
      await time.quiet();
      await closing;
    },
  };
}

/** A carrier that gets each order twice. */
function eager(carrier: SimulatedCarrier): SimulatedCarrier {
  const dial: SimulatedCarrier['dialling']['dial'] = async (order) => {
    await carrier.dialling.dial(order);
    return carrier.dialling.dial(order);
  };
  return overriding(carrier, { dialling: { ...carrier.dialling, dial } });
}

async function attemptsOf({ attempts }: Pick<Store, 'attempts'>, { tenantId, id: campaignId }: Campaign): Promise<Attempt[]> {
  const found: Attempt[] = [];
  for (let before: string | undefined; ;) {
    const page = await attempts.page(tenantId, { campaignId, limit: 200, before });
    found.push(...page.attempts);
    if (page.next === undefined) return found;
    before = page.next;
  }
}

async function listed({ suppressions }: Pick<Store, 'suppressions'>, people: readonly Person[]): Promise<ReadonlySet<string>> {
  const numbers = new Set<string>();
  for (const { number } of people) {
    const entries = await suppressions.of(TENANT, number);
    if (entries.some(({ list }) => list === OWN_LIST)) numbers.add(number);
  }
  return numbers;
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

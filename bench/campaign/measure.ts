import { rm, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CALLER_ID } from '../../test/support/campaign-caller.ts';
import type { CampaignChildOptions, ContactGroup } from '../../test/support/campaign-child.ts';
import { CampaignWorld, zoneAt } from '../../test/support/campaign-world.ts';
import { startPostgres } from '../../test/support/postgres-server.ts';
import { startRedis } from '../../test/support/redis-server.ts';
import { requireTool } from '../../test/support/requires.ts';
import { about } from '../document.ts';

// `npm run -s bench -- campaign --json [--quick] [--only postgres|embedded] [--rate 10]`: see bench/campaign/README.md.
const has = (flag: string): boolean => process.argv.includes(flag);
const quick = has('--quick');
const only = has('--only') ? process.argv[process.argv.indexOf('--only') + 1] : undefined;
const numberAfter = (flag: string, otherwise: number): number =>
  has(flag) ? Number(process.argv[process.argv.indexOf(flag) + 1]) : otherwise;
const note = (text: string): void => void process.stderr.write(`${text}\n`);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Plan {
  readonly contacts: number;
  readonly callsPerSecond: number;
  /** How long the rate is measured, after the warm-up. */
  readonly steadyMs: number;
  readonly kills: number;
  /** Contacts of the campaign whose processes are killed, and those of them whose hours are closed. */
  readonly killed: {
    readonly open: number;
    readonly closed: number;
    readonly callsPerSecond: number;
    /** How long processes live between two kills. */
    readonly killAfterMs: { readonly least: number; readonly most: number };
  };
  readonly processes: number;
  readonly decisions: number;
}

const WARM_UP_MS = 10_000;
const FIRST = 442_070_000_000;
const KILLED_FIRST = FIRST + 1_000_000;
const CLOSED_FIRST = FIRST + 2_000_000;
const MB = 1_000_000;

const plans: Record<'postgres' | 'embedded', Plan> = {
  postgres: {
    contacts: quick ? 5_000 : 100_000,
    callsPerSecond: numberAfter('--rate', 10),
    steadyMs: quick ? 20_000 : 60_000,
    kills: quick ? 4 : 20,
    killed: { open: quick ? 200 : 1_000, closed: 100, callsPerSecond: 20, killAfterMs: { least: 200, most: 2_500 } },
    processes: 2,
    decisions: quick ? 10 : 50,
  },
  embedded: {
    contacts: quick ? 1_000 : 10_000,
    callsPerSecond: numberAfter('--rate', 5),
    steadyMs: quick ? 20_000 : 60_000,
    kills: quick ? 2 : 20,
    killed: { open: quick ? 100 : 400, closed: 50, callsPerSecond: 5, killAfterMs: { least: 1_000, most: 7_000 } },
    processes: 1,
    decisions: quick ? 5 : 20,
  },
};

const settingsOf = (callsPerSecond: number) => ({
  name: 'bench',
  bot: 'reminder',
  from: CALLER_ID,
  profile: 'none',
  callsPerSecond,
  concurrency: 500,
  attempts: { most: 1 },
  breaker: { failedShare: 1 },
});

/** The rate against the set one, memory, and decisions a second. */
async function steady(world: CampaignWorld, plan: Plan) {
  const { contacts, callsPerSecond, steadyMs } = plan;
  const groups: ContactGroup[] = [{ firstNumber: FIRST, count: contacts, zone: zoneAt(13) }];
  const startedMs = performance.now();
  await world.ask({ do: 'add', campaignId: 'steady', settings: settingsOf(callsPerSecond), groups });
  const importSeconds = (performance.now() - startedMs) / 1000;
  note(`  ${contacts} contacts imported in ${importSeconds.toFixed(1)} s`);
  await pause(WARM_UP_MS);
  const fromMs = Date.now();
  const memory = (): number => Math.max(...world.members.map(({ rss }) => Math.min(...rss.slice(-5))));
  const rssAtStart = memory();
  const cpuMs = (): number => world.members.reduce((sum, member) => sum + member.cpuMs, 0);
  const cpuAtStart = cpuMs();
  await pause(steadyMs);
  const toMs = Date.now();
  const rssAtEnd = memory();
  const cpuUsed = cpuMs() - cpuAtStart;
  const placed = world.orders.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).length;
  const rate = (placed * 1000) / (toMs - fromMs);
  await world.ask({ do: 'stop', campaignId: 'steady' });
  const counts = await settled(world, 'steady', 60_000);
  note(`  ${rate.toFixed(2)} calls a second of ${callsPerSecond}`);
  const gatePerSecond = await world.ask<number>({ do: 'decide', batches: plan.decisions });
  note(`  ${Math.round(gatePerSecond)} decisions a second`);
  return {
    contacts,
    importPerSecond: Math.round(contacts / importSeconds),
    setRate: callsPerSecond,
    rate: round(rate, 2),
    rateError: round(Math.abs(rate / callsPerSecond - 1), 4),
    gatePerSecond: Math.round(gatePerSecond),
    processorMsPerCall: round(cpuUsed / placed, 1),
    rssGrowthMb: round((rssAtEnd - rssAtStart) / MB, 1),
    called: world.orders.length,
    notDone: counts.contacts - counts.states.done,
  };
}

/** Processes are killed at random moments while a campaign runs; whoever is left finishes it. */
async function killing(world: CampaignWorld, plan: Plan) {
  const { open, closed, callsPerSecond, killAfterMs } = plan.killed;
  const groups = [
    { firstNumber: KILLED_FIRST, count: open, zone: zoneAt(13) },
    { firstNumber: CLOSED_FIRST, count: closed, zone: zoneAt(2) },
  ];
  await world.ask({ do: 'add', campaignId: 'killed', settings: settingsOf(callsPerSecond), groups });
  const isOf = (first: number, count: number) => (to: string) => Number(to) >= first && Number(to) < first + count;
  let kills = 0;
  for (; kills < plan.kills; kills += 1) {
    await pause(killAfterMs.least + Math.random() * (killAfterMs.most - killAfterMs.least));
    const member = world.members[Math.floor(Math.random() * world.members.length)];
    if (member !== undefined) await world.kill(member);
    await world.start();
    if (kills % 5 === 4)
      note(`  ${kills + 1} kills, ${world.orders.filter(({ to }) => isOf(KILLED_FIRST, open)(to)).length} called`);
  }
  const counts = await settled(world, 'killed', 400_000, closed);
  const called = new Set(world.orders.map(({ to }) => to).filter(isOf(KILLED_FIRST, open)));
  return {
    kills,
    contacts: open,
    called: called.size,
    doubleDials: world.doubleDials(),
    forgotten: open - called.size + Math.max(0, counts.contacts - counts.states.done - closed),
    outsideWindow: world.orders.filter(({ to }) => isOf(CLOSED_FIRST, closed)(to)).length,
    dispositions: counts.dispositions,
  };
}

/** The counts of a campaign once nobody is being called, and nobody is left but those whose hours are closed; or after that time. */
async function settled(world: CampaignWorld, campaignId: string, withinMs: number, closed = 0) {
  const endMs = performance.now() + withinMs;
  for (;;) {
    const counts = await world.counts(campaignId);
    if (counts.contacts - counts.states.done <= closed && counts.states.leased === 0) return counts;
    if (performance.now() > endMs) return counts;
    await pause(1_000);
  }
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

async function measure(name: keyof typeof plans, places: Partial<CampaignChildOptions>) {
  const plan = plans[name];
  note(`${name}: ${plan.processes} process(es), ${plan.contacts} contacts`);
  const dataDir = await mkdtemp(join(tmpdir(), 'offhook-bench-'));
  const options = { dataDir, callsPerSecond: 1000, room: 500, ...places };
  const world = await CampaignWorld.open(options, plan.processes);
  try {
    return { ...(await steady(world, plan)), killed: await killing(world, plan) };
  } finally {
    await world[Symbol.asyncDispose]();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function onServers() {
  const [postgres, redis] = [requireTool('postgres'), requireTool('redis-server')];
  if (postgres === undefined || redis === undefined) return null;
  const [database, queue] = [await startPostgres(postgres), await startRedis(redis)];
  try {
    return await measure('postgres', { databaseUrl: database.url, redisUrl: queue.url });
  } finally {
    await database[Symbol.asyncDispose]();
    await queue[Symbol.asyncDispose]();
  }
}

const postgres = only === 'embedded' ? null : await onServers();
const embedded = only === 'postgres' ? null : await measure('embedded', {});
const stores = [postgres, embedded].filter((each) => each !== null);
const worst = (of: (store: (typeof stores)[number]) => number): number => Math.max(...stores.map(of));
const document = {
  ...about(),
  quick,
  rateError: worst(({ rateError }) => rateError),
  gatePerSecond: Math.min(...stores.map(({ gatePerSecond }) => gatePerSecond)),
  rssGrowthMb: worst(({ rssGrowthMb }) => rssGrowthMb),
  doubleDials: stores.reduce((sum, { killed }) => sum + killed.doubleDials, 0),
  forgotten: stores.reduce((sum, { killed, notDone }) => sum + killed.forgotten + notDone, 0),
  outsideWindow: stores.reduce((sum, { killed }) => sum + killed.outsideWindow, 0),
  postgres,
  embedded,
};
process.stdout.write(`${JSON.stringify(document, undefined, has('--json') ? undefined : 2)}\n`);
process.exit(0);

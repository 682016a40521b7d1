// What a call costs a Redis server: `npx tsx bench/scale/redis-cost.ts [--members 20] [--live 6000] [--calls 2000]`. The server is Debian's, alone on a free
// port. Costs are its own processor time, which other work on the machine hardly changes; times of answers would be the machine's.
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { openQueue } from '../../src/jobs/queue/bull-queue.ts';
import { POST_CALL } from '../../src/jobs/queue/catalog.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { openRedisSharedState } from '../../src/shared-state/redis.ts';
import type { SharedState } from '../../src/shared-state/port.ts';
import { embeddedDatabases } from '../../test/support/databases.ts';
import { until } from '../../test/support/processes.ts';
import { startRedis } from '../../test/support/redis-server.ts';
import { requireTool } from '../../test/support/requires.ts';
import { about } from '../document.ts';

const { values } = parseArgs({
  options: {
    members: { type: 'string', default: '20' },
    live: { type: 'string', default: '6000' },
    calls: { type: 'string', default: '2000' },
  },
});
const [members, live, calls] = [Number(values.members), Number(values.live), Number(values.calls)];
/** Questions of one member that are open at once. */
const AT_ONCE = 20;
/** A member's heartbeats are a second and a half apart: see `redis.ts`. */
const GONE_AFTER_MS = 5_000;

async function main(): Promise<void> {
  const program = requireTool('redis-server');
  if (program === undefined) throw new Error('no redis-server is installed');
  await using server = await startRedis(program);
  const redis = new Redis(server.url);
  const states = await Promise.all(
    Array.from({ length: members }, async (_, index) =>
      openRedisSharedState({
        url: server.url,
        namespace: 'bench',
        address: `http://10.0.0.${index}:8090`,
        clock: systemClock,
        logger: silentLogger,
        goneAfterMs: GONE_AFTER_MS,
      }),
    ),
  );
  const empty = await usedMemory(redis);
  await each(states, live, async ({ calls: directory }, index) => {
    await directory.claim({ callId: callId(index), carrierKey: carrierKey(index) });
  });
  const bytesPerLiveCall = Math.round(((await usedMemory(redis)) - empty) / live);
  const scripts: Record<string, number> = {};
  const measure = async (name: string, act: (state: SharedState, index: number) => Promise<unknown>): Promise<void> => {
    scripts[name] = await costOf(redis, calls, () => each(states, calls, act));
  };
  const inADay = Date.now() + 86_400_000;
  await measure('claim', ({ calls: all }, index) =>
    all.claim({ callId: callId(live + index), carrierKey: carrierKey(live + index) }),
  );
  await measure('find', ({ calls: all }, index) => all.find({ carrierKey: carrierKey(live + index) }));
  await measure('spend', ({ spent }, index) => spent.spend(`token-${index}`, inADay));
  await measure('slot taken', ({ slots }) => slots.take('asr', 1_000_000));
  await measure('slot given', ({ slots }) => slots.give('asr'));
  await measure('rate', ({ rates }, index) => rates.take(`key-${index % 50}`, { burst: 1_000, perSecond: 1_000 }));
  await measure('release', ({ calls: all }, index) => all.release(callId(live + index)));
  const before = await usedCpu(redis);
  const beats = await heartbeats(redis);
  const idleFromMs = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  const idleSeconds = (performance.now() - idleFromMs) / 1000;
  const beaten = (await heartbeats(redis)) - beats;
  const heartbeat = beaten === 0 ? null : Math.round(((await usedCpu(redis)) - before) / beaten);
  for (const state of states) await state[Symbol.asyncDispose]();
  const job = await jobCost(redis, server.url);
  const result = { ...about(), members, live, calls, scripts, heartbeat, heartbeatsPerSecond: tenth(beaten / idleSeconds), job };
  process.stdout.write(`${JSON.stringify({ ...result, bytesPerLiveCall, version: await versionOf(redis) })}\n`);
  redis.disconnect();
}

/** One job through the queue: enqueued, taken by a worker, done, remembered. */
async function jobCost(redis: Redis, redisUrl: string) {
  await using databases = await embeddedDatabases();
  await using database = await databases.open();
  const queue = openQueue({ redisUrl, database, clock: systemClock, onProblem: () => undefined });
  const memory = await usedMemory(redis);
  let done = 0;
  const us = await costOf(redis, calls, async () => {
    const work = queue.work(POST_CALL, async () => void (done += 1), { concurrency: 8 });
    for (let index = 0; index < calls; index += 1)
      await queue.enqueue(POST_CALL, `post-call:default:${callId(index)}:1`, { tenantId: 'default', callId: callId(index) });
    await until('all jobs to be done', () => done >= calls, 120_000);
    await work.stop();
  });
  const rememberedBytes = Math.round(((await usedMemory(redis)) - memory) / calls);
  await queue.close();
  return { us, rememberedBytes };
}

/** Runs them over all members in turn, some at once. */
async function each(states: readonly SharedState[], count: number, act: (state: SharedState, index: number) => Promise<unknown>) {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      const state = states[index % states.length];
      if (state !== undefined) await act(state, index);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** @returns microseconds of the server's processor time for each of so many */
async function costOf(redis: Redis, count: number, act: () => Promise<void>): Promise<number> {
  const before = await usedCpu(redis);
  await act();
  return Math.round(((await usedCpu(redis)) - before) / count);
}

async function usedCpu(redis: Redis): Promise<number> {
  const text = await redis.info('cpu');
  return 1e6 * (infoNumber(text, 'used_cpu_sys') + infoNumber(text, 'used_cpu_user'));
}

async function usedMemory(redis: Redis): Promise<number> {
  return infoNumber(await redis.info('memory'), 'used_memory');
}

async function heartbeats(redis: Redis): Promise<number> {
  const text = await redis.info('commandstats');
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(text)?.[1] ?? 0);
}

async function versionOf(redis: Redis): Promise<string> {
  return /redis_version:(\S+)/.exec(await redis.info('server'))?.[1] ?? 'unknown';
}

function infoNumber(text: string, name: string): number {
  return Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)?.[1]);
}

function callId(index: number): string {
  return `call_${String(index).padStart(32, '0')}`;
}

function carrierKey(index: number): string {
  return `twilio CA${String(index).padStart(32, '0')}`;
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}

await main();
// The test support keeps an embedded store open for the next file.
process.exit();

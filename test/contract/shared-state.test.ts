import fc from 'fast-check';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../src/config/secrets.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { type LogFields, type Logger, silentLogger } from '../../src/observability/logger.ts';
import { SharedSecretError, SharedStateUnavailableError } from '../../src/hosts/shared-state/errors.ts';
import { MemoryHub } from '../../src/hosts/shared-state/memory.ts';
import type { SharedState } from '../../src/hosts/shared-state/port.ts';
import { openRedisSharedState, type RedisSharedStateOptions } from '../../src/hosts/shared-state/redis.ts';
import { MasterKeys } from '../../src/records/privacy/master-keys.ts';
import { startCuttableProxy } from '../support/cuttable-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/processes.ts';
import { quickClock } from '../support/quick-clock.ts';
import { type TestServer, startRedis } from '../support/redis-server.ts';
import { requireTool } from '../support/requires.ts';
import { thorough } from '../support/thorough.ts';

const program = requireTool('redis-server');
/** Gone soon, and late enough for a busy machine. */
const GONE_AFTER_MS = 1_500;
const inAnHour = (): number => Date.now() + 3_600_000;

/** A member that the others can lose. */
interface Joined extends AsyncDisposable {
  readonly state: SharedState;
  cut(): void;
  mend(): void;
}

/** Members of one gateway. */
interface Gateway extends AsyncDisposable {
  join(address?: string): Promise<Joined>;
}

let server: TestServer | undefined;
beforeAll(async () => {
  if (program !== undefined) server = await startRedis(program);
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

let gateways = 0;
/** More at once would be late on a busy machine, where each member goes on alone. */
const RACES_AT_ONCE = 20;

function redisOptions(url: string, namespace: string): RedisSharedStateOptions {
  return { url, namespace, address: undefined, clock: systemClock, logger: silentLogger, goneAfterMs: GONE_AFTER_MS };
}

function inRedis(): Gateway {
  const opened: AsyncDisposable[] = [];
  const namespace = `test-${(gateways += 1)}`;
  return {
    async join(address) {
      const proxy = await startCuttableProxy(Number(new URL(server?.url ?? '').port));
      const options = redisOptions(`redis://127.0.0.1:${proxy.port}`, namespace);
      const state = await openRedisSharedState({ ...options, address });
      opened.push(state, proxy);
      return { ...proxy, state, [Symbol.asyncDispose]: () => state[Symbol.asyncDispose]() };
    },
    async [Symbol.asyncDispose]() {
      for (const each of opened) await each[Symbol.asyncDispose]();
    },
  };
}

function inMemory(): Gateway {
  const hub = new MemoryHub(systemClock);
  return {
    async join(address) {
      const state = hub.join(address);
      const { id } = state.members.own;
      const dispose = async (): Promise<void> => state[Symbol.asyncDispose]();
      return { state, cut: () => hub.lose(id), mend: () => hub.return(id), [Symbol.asyncDispose]: dispose };
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

describe.each([
  { place: 'memory', open: inMemory, installed: true },
  { place: 'Redis', open: inRedis, installed: program !== undefined },
])('the shared state in $place', ({ open, installed }) => {
  it.runIf(installed)('lists who is there, oldest first, and who leaves', async () => {
    await using gateway = open();
    const [first, second] = [await gateway.join('http://10.0.0.1:1'), await gateway.join('http://10.0.0.2:2')];
    const idsOf = async (of: Joined): Promise<string[]> => (await of.state.members.list()).map(({ id }) => id);
    expect(new Set(await idsOf(first))).toEqual(new Set([first.state.members.own.id, second.state.members.own.id]));
    expect(await second.state.members.list()).toContainEqual(first.state.members.own);
    await first.state.members.leave();
    expect((await second.state.members.list()).find(({ address }) => address === 'http://10.0.0.1:1')?.leaving).toBe(true);
    await first[Symbol.asyncDispose]();
    expect(await idsOf(second)).toEqual([second.state.members.own.id]);
  });

  it.runIf(installed)('gives each call to one member alone, in 1,000 races of two', async () => {
    await using gateway = open();
    const [ours, theirs] = [(await gateway.join()).state, (await gateway.join()).state];
    const members = [ours, theirs];
    const byTurns = (at: number): SharedState => (at % 2 === 0 ? ours : theirs);
    const one: boolean[] = [];
    for (let from = 0; from < 1_000; from += RACES_AT_ONCE)
      one.push(
        ...(await Promise.all(
          Array.from({ length: RACES_AT_ONCE }, (_, at) => byTurns(at).calls.claim({ callId: 'call_1', carrierKey: 'CA1' })),
        )),
      );
    const winners = new Set(one.flatMap((won, at) => (won ? [at % 2] : [])));
    expect(winners.size).toBe(1);
    // Each machine was asked about the same call by the carrier, and gave it an id of its own.
    const races: boolean[][] = [];
    for (let from = 0; from < 500; from += RACES_AT_ONCE)
      races.push(
        ...(await Promise.all(
          Array.from({ length: RACES_AT_ONCE }, (_, at) =>
            Promise.all(
              members.map(({ calls }, member) =>
                calls.claim({ callId: `call_${from + at}_${member}`, carrierKey: `race ${from + at}` }),
              ),
            ),
          ),
        )),
      );
    expect(races.filter((won) => won.filter(Boolean).length !== 1)).toEqual([]);
  });

  it.runIf(installed)('finds a call by its id and by the carrier’s, and only its owner releases it', async () => {
    await using gateway = open();
    const [ours, theirs] = [(await gateway.join()).state, (await gateway.join()).state];
    const entry = { callId: 'call_1', carrierKey: 'listen CA1', memberId: ours.members.own.id };
    await ours.calls.claim({ callId: 'call_1', carrierKey: undefined });
    expect(await theirs.calls.find({ callId: 'call_1' })).toEqual({ ...entry, carrierKey: undefined });
    expect(await theirs.calls.find({ carrierKey: 'listen CA1' })).toBeUndefined();
    expect(await ours.calls.claim(entry)).toBe(true);
    expect(await ours.calls.claim({ callId: 'call_1', carrierKey: undefined })).toBe(true);
    await theirs.calls.release('call_1');
    expect(await theirs.calls.find({ carrierKey: 'listen CA1' })).toEqual(entry);
    await ours.calls.release('call_1');
    expect(await theirs.calls.find({ carrierKey: 'listen CA1' })).toBeUndefined();
    expect(await theirs.calls.claim({ callId: 'call_2', carrierKey: 'listen CA1' })).toBe(true);
  });

  it.runIf(installed)('frees what a gone member held, and tells it which calls it lost when it is back', async () => {
    await using gateway = open();
    const [first, second] = [await gateway.join(), await gateway.join()];
    const lost: string[] = [];
    first.state.calls.onLost((callId) => lost.push(callId));
    await first.state.calls.claim({ callId: 'call_a', carrierKey: 'CA-a' });
    await first.state.calls.claim({ callId: 'call_b', carrierKey: 'CA-b' });
    expect(await first.state.slots.take('asr', 4, 3)).toBe(3);
    expect(await second.state.slots.take('asr', 4, 3)).toBe(1);
    const { id } = first.state.members.own;
    expect(await second.state.members.lose(id, 60_000)).toBe(false);
    first.cut();
    await expect.poll(() => second.state.members.lose(id, 50)).toBe(true);
    expect((await second.state.calls.orphans()).map(({ callId }) => callId).sort()).toEqual(['call_a', 'call_b']);
    expect(await second.state.slots.take('asr', 4, 9)).toBe(3);
    expect(await second.state.calls.claim({ callId: 'call_a', carrierKey: 'CA-a' })).toBe(true);
    first.mend();
    await expect.poll(async () => (await second.state.members.list()).length).toBe(2);
    await expect.poll(() => lost).toEqual(['call_a']);
    await expect.poll(async () => second.state.calls.orphans()).toEqual([]);
    expect(await second.state.calls.claim({ callId: 'call_b', carrierKey: 'CA-b' })).toBe(false);
    expect((await first.state.calls.find({ callId: 'call_b' }))?.memberId).toBe(id);
    expect((await first.state.calls.find({ callId: 'call_a' }))?.memberId).toBe(second.state.members.own.id);
  });

  it.runIf(installed)('leaves the calls of a member that ends to the others', async () => {
    await using gateway = open();
    const [first, second] = [await gateway.join(), await gateway.join()];
    await first.state.calls.claim({ callId: 'call_a', carrierKey: undefined });
    await first.state.slots.take('asr', 1);
    await first[Symbol.asyncDispose]();
    expect((await second.state.calls.orphans()).map(({ callId }) => callId)).toEqual(['call_a']);
    expect(await second.state.slots.take('asr', 1)).toBe(1);
    expect(await second.state.calls.claim({ callId: 'call_a', carrierKey: undefined })).toBe(true);
    expect(await second.state.calls.orphans()).toEqual([]);
  });

  it.runIf(installed)('spends an id once, whoever asks', async () => {
    await using gateway = open();
    const members = [(await gateway.join()).state, (await gateway.join()).state];
    const races = await Promise.all(
      Array.from({ length: 100 }, (_, at) => Promise.all(members.map(({ spent }) => spent.spend(`id ${at}`, inAnHour())))),
    );
    expect(races.filter((won) => won.filter(Boolean).length !== 1)).toEqual([]);
    expect(await Promise.all(members.map(({ spent }) => spent.isSpent('id 7')))).toEqual([true, true]);
    expect(await members[0]?.spent.isSpent('id 100')).toBe(false);
    await members[0]?.spent.mark('mark', inAnHour());
    expect(await Promise.all(members.map(({ spent }) => spent.isSpent('mark')))).toEqual([true, true]);
  });

  it.runIf(installed)('never has more slots than there are, whoever takes, gives and ends', async () => {
    const MOST = 7;
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({ do: fc.constant('take' as const), member: fc.nat(2), count: fc.integer({ min: 1, max: 4 }) }),
      },
      {
        weight: 4,
        arbitrary: fc.record({ do: fc.constant('give' as const), member: fc.nat(2), count: fc.integer({ min: 1, max: 3 }) }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('end' as const), member: fc.nat(2), count: fc.constant(0) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { maxLength: 12 }), async (rounds) => {
        await using gateway = open();
        const members = await Promise.all([0, 1, 2].map(async () => ({ joined: await gateway.join(), held: 0 })));
        for (const round of rounds) {
          // The steps of a round are asked at once.
          await Promise.all(
            round.map(async ({ do: what, member: index, count }) => {
              const member = members[index];
              if (member === undefined) return;
              if (what === 'take') {
                const { joined } = member;
                const granted = await joined.state.slots.take('asr', MOST, count);
                if (joined === member.joined) member.held += granted;
              } else if (what === 'give') {
                const given = Math.min(member.held, count);
                member.held -= given;
                await member.joined.state.slots.give('asr', given);
              } else {
                const { joined } = member;
                member.held = 0;
                member.joined = await gateway.join();
                await joined[Symbol.asyncDispose]();
              }
            }),
          );
          expect(members.reduce((sum, { held }) => sum + held, 0)).toBeLessThanOrEqual(MOST);
        }
        for (const { joined, held } of members) await joined.state.slots.give('asr', held);
        const [first] = members;
        expect(await first?.joined.state.slots.take('asr', MOST, MOST)).toBe(MOST);
        expect(await first?.joined.state.slots.held('asr')).toBe(MOST);
      }),
      { numRuns: thorough(6, 200) },
    );
  });

  it.runIf(installed)('holds all members to one pace', async () => {
    await using gateway = open();
    const [ours, theirs] = [(await gateway.join()).state, (await gateway.join()).state];
    const byTurns = (at: number): SharedState => (at % 2 === 0 ? ours : theirs);
    // So slow that nothing comes back while the test runs.
    const pace = { burst: 20, perSecond: 1 / 3600 };
    expect(await ours.rates.wait('login', pace)).toBe(0);
    const waits = await Promise.all(Array.from({ length: 30 }, (_, at) => byTurns(at).rates.take('login', pace)));
    expect(waits.filter((waitMs) => waitMs === 0)).toHaveLength(20);
    for (const waitMs of [...waits.filter((each) => each !== 0), await theirs.rates.wait('login', pace)]) {
      expect(waitMs).toBeGreaterThan(3_500_000);
      expect(waitMs).toBeLessThanOrEqual(3_600_000);
    }
    expect(await ours.rates.take('another', pace)).toBe(0);
    const quick = { burst: 1, perSecond: 100 };
    await ours.rates.take('quick', quick);
    await expect.poll(() => theirs.rates.take('quick', quick)).toBe(0);
  });

  it.runIf(installed)('has one secret of each name for all', async () => {
    await using gateway = open();
    const [ours, theirs] = [(await gateway.join()).state, (await gateway.join()).state];
    const [here, there] = await Promise.all([ours.secret('streams'), theirs.secret('streams')]);
    expect(here).toHaveLength(32);
    expect(Buffer.from(there)).toEqual(Buffer.from(here));
    expect(Buffer.from(await ours.secret('console'))).not.toEqual(Buffer.from(here));
  });
});

describe.runIf(program !== undefined)('the shared state in Redis', () => {
  it('answers without Redis, and puts right what Redis has lost when it is back', async () => {
    const port = await freePort();
    let redis = await startRedis(program ?? '', port);
    const lines: { message: string; fields: LogFields }[] = [];
    const note = (fields: LogFields, message: string): void => void lines.push({ message, fields });
    const logger: Logger = { ...silentLogger, info: note, warn: note, error: note };
    const options = { ...redisOptions(redis.url, 'away'), logger };
    const [first, second] = [await openRedisSharedState(options), await openRedisSharedState(options)];
    await using _opened = {
      [Symbol.asyncDispose]: () => Promise.all([first, second].map((each) => each[Symbol.asyncDispose]())).then(() => undefined),
    };
    const secret = await first.secret('streams');
    await first.calls.claim({ callId: 'call_1', carrierKey: 'CA1' });
    await first.calls.claim({ callId: 'call_2', carrierKey: 'CA2' });
    expect(await first.slots.take('asr', 10, 3)).toBe(3);
    expect(await second.slots.take('asr', 10, 1)).toBe(1);
    await redis[Symbol.asyncDispose]();

    // Nobody had asked for the list: it is as fresh as the last heartbeat, which for the first may be before the second was there.
    const members = [first, second].map((each) => each.members.own.id).sort();
    expect((await second.members.list()).map(({ id }) => id).sort()).toEqual(members);
    expect(await first.calls.claim({ callId: 'call_3', carrierKey: 'CA3' })).toBe(true);
    await first.calls.release('call_2');
    expect((await first.calls.find({ carrierKey: 'CA1' }))?.callId).toBe('call_1');
    expect(await first.calls.find({ callId: 'call_2' })).toBeUndefined();
    expect(await second.calls.find({ callId: 'call_1' })).toBeUndefined();
    expect(await second.calls.orphans()).toEqual([]);
    expect(await first.spent.spend('id', inAnHour())).toBe(true);
    expect(await first.spent.spend('id', inAnHour())).toBe(false);
    expect(await first.rates.take('login', { burst: 1, perSecond: 0.001 })).toBe(0);
    expect(await first.rates.take('login', { burst: 1, perSecond: 0.001 })).toBeGreaterThan(0);
    expect(Buffer.from(await first.secret('streams'))).toEqual(Buffer.from(secret));
    await expect(first.secret('another')).rejects.toThrow(SharedStateUnavailableError);
    // Each knew of its own slots and of what was free: the sum stays within the limit.
    const alone = [await first.slots.take('asr', 10, 10), await second.slots.take('asr', 10, 10)];
    expect(alone.every((granted) => granted >= 2)).toBe(true);
    expect(3 + 1 + alone.reduce((sum, granted) => sum + granted, 0)).toBeLessThanOrEqual(10);

    // It has forgotten everything.
    redis = await startRedis(program ?? '', port);
    await using _again = redis;
    await expect.poll(() => second.calls.find({ carrierKey: 'CA3' })).toMatchObject({ memberId: first.members.own.id });
    expect(await second.calls.find({ callId: 'call_1' })).toMatchObject({ memberId: first.members.own.id });
    expect(await second.calls.find({ callId: 'call_2' })).toBeUndefined();
    await expect.poll(() => second.spent.isSpent('id')).toBe(true);
    await expect.poll(async () => Buffer.from(await second.secret('streams')).equals(secret)).toBe(true);
    await expect.poll(() => second.slots.held('asr')).toBe(4 + alone.reduce((sum, granted) => sum + granted, 0));
    expect(lines.filter(({ message }) => message.includes('is away'))).toHaveLength(2);
    expect(JSON.stringify(lines)).not.toContain('redis://');
  });

  it('knows within a second again who has which call, and which ids are spent, when Redis was emptied', async () => {
    await using redis = await startRedis(program ?? '');
    const patient = { ...redisOptions(redis.url, 'emptied'), goneAfterMs: 60_000 };
    const [first, second] = [await openRedisSharedState(patient), await openRedisSharedState(patient)];
    await using _opened = {
      [Symbol.asyncDispose]: () => Promise.all([first, second].map((each) => each[Symbol.asyncDispose]())).then(() => undefined),
    };
    await first.calls.claim({ callId: 'call_1', carrierKey: 'twilio CA1' });
    await first.spent.spend('token', inAnHour());
    const admin = new Redis(redis.url);
    await admin.flushall();
    admin.disconnect();
    const emptiedAtMs = performance.now();
    expect(await second.calls.find({ callId: 'call_1' })).toBeUndefined();
    await expect.poll(() => second.calls.find({ callId: 'call_1' })).toMatchObject({ memberId: first.members.own.id });
    await expect.poll(() => second.spent.isSpent('token')).toBe(true);
    expect(performance.now() - emptiedAtMs).toBeLessThan(1_000);
    expect(await second.spent.spend('token', inAnHour())).toBe(false);
  });

  it('gives a machine that starts a secret although one answer of Redis was late', async () => {
    await using redis = await startRedis(program ?? '');
    const awaited = { ...redisOptions(redis.url, 'late'), goneAfterMs: 30_000 };
    await using state = await openRedisSharedState(awaited);
    const admin = new Redis(redis.url);
    await admin.call('CLIENT', 'PAUSE', '400', 'ALL');
    expect(await state.secret('streams')).toHaveLength(32);
    admin.disconnect();
  });

  it('does not wait for a Redis that hangs', async () => {
    await using redis = await startRedis(program ?? '');
    await using state = await openRedisSharedState(redisOptions(redis.url, 'hangs'));
    const admin = new Redis(redis.url);
    await admin.call('CLIENT', 'PAUSE', '1500', 'ALL');
    let resumed = false;
    const pong = admin.ping().then(() => (resumed = true));
    expect(await state.calls.claim({ callId: 'call_1', carrierKey: 'CA1' })).toBe(true);
    for (let at = 0; at < 20; at += 1) expect(await state.spent.spend(`id ${at}`, inAnHour())).toBe(true);
    expect(await state.slots.take('asr', 2)).toBe(1);
    expect(resumed).toBe(false);
    await pong;
    await expect.poll(() => admin.hget('{offhook:hangs}:calls', 'call_1')).toContain('CA1');
    await expect.poll(() => admin.exists('{offhook:hangs}:spent:id 19')).toBe(1);
    admin.disconnect();
  });

  it('seals secrets under the master key, and seals them anew under the next one', async () => {
    const namespace = 'sealed';
    const [old, next] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
    const openWith = (...keys: string[]): Promise<SharedState> =>
      openRedisSharedState({
        ...redisOptions(server?.url ?? '', namespace),
        ...(keys.length === 0 ? {} : { sealing: new MasterKeys(keys.map((key) => new Secret(key))) }),
      });
    const secretWith = async (...keys: string[]): Promise<string> => {
      await using state = await openWith(...keys);
      return Buffer.from(await state.secret('console')).toString('base64');
    };
    const admin = new Redis(server?.url ?? '');
    const atRest = async (): Promise<string> => (await admin.hget(`{offhook:${namespace}}:secrets`, 'console')) ?? '';
    const made = await secretWith();
    expect(await atRest()).toContain(made);
    expect(await secretWith(old)).toBe(made);
    expect(await atRest()).not.toContain(made);
    await expect(secretWith()).rejects.toThrow(SharedSecretError);
    await expect(secretWith(next)).rejects.toThrow(SharedSecretError);
    expect(await secretWith(next, old)).toBe(made);
    expect(await secretWith(next)).toBe(made);
    admin.disconnect();
  });

  it('works on a cluster', async () => {
    await using node = await startRedis(program ?? '', undefined, { cluster: true });
    const admin = new Redis(node.url);
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await eventually('the cluster to be whole', async () => (await admin.cluster('INFO')).includes('cluster_state:ok'));
    admin.disconnect();
    await using state = await openRedisSharedState(redisOptions(node.url.replace('redis://', 'redis+cluster://'), 'nodes'));
    expect(await state.calls.claim({ callId: 'call_1', carrierKey: 'CA1' })).toBe(true);
    expect(await state.calls.find({ carrierKey: 'CA1' })).toMatchObject({ callId: 'call_1' });
    expect(await state.spent.spend('id', inAnHour())).toBe(true);
    expect(await state.spent.spend('id', inAnHour())).toBe(false);
    expect(await state.slots.take('asr', 2, 5)).toBe(2);
    expect(await state.slots.held('asr')).toBe(2);
    expect(await state.members.list()).toHaveLength(1);
    expect(await state.calls.orphans()).toEqual([]);
  });

  it('says that Redis does not answer instead of starting alone', async () => {
    const url = `redis://:secret@127.0.0.1:${await freePort()}`;
    const opening = openRedisSharedState({ ...redisOptions(url, 'nobody'), clock: quickClock(20) });
    await expect(opening).rejects.toThrow(/does not answer: .*ECONNREFUSED/u);
    await expect(opening).rejects.not.toThrow(/secret/u);
  });
});

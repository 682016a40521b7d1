import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CallJournal } from '../../src/call/log/call-journal.ts';
import { readJournal } from '../../src/call/log/journal-file.ts';
import { Secret } from '../../src/config/secrets.ts';
import { stateSealing } from '../../src/hosts/shared-state.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { startTicksOf, thisProcess } from '../../src/kernel/process-identity.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { type KeptCall, openRedisCallStates } from '../../src/hosts/shared-state/call-states.ts';
import { openRedisSharedState } from '../../src/hosts/shared-state/redis.ts';
import { MasterKeys } from '../../src/records/privacy/master-keys.ts';
import { startCuttableProxy } from '../support/cuttable-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { type TestServer, startRedis } from '../support/redis-server.ts';
import { requireTool } from '../support/requires.ts';

const program = requireTool('redis-server');
let server: TestServer | undefined;
beforeAll(async () => {
  if (program !== undefined) server = await startRedis(program);
});
afterAll(async () => server?.[Symbol.asyncDispose]());

/** Somebody who may have the call. */
interface Owner extends AsyncDisposable {
  /** Begins the call. */
  begin(): Promise<void>;
  keep(turns: number, step: string): void;
  /** What a dead owner left, taken over; undefined where nothing is left, or its owner is alive. */
  take(): Promise<unknown>;
  forget(): Promise<void>;
}

interface Place extends AsyncDisposable {
  /** @param isDead others see it so from now on */
  join(isDead?: boolean): Promise<Owner>;
  /** What is kept. */
  kept(): Promise<unknown>;
}

const CALL = 'call_1';

/** Processes on one data folder. */
function inFolder(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-states-'));
  const parent = { ...thisProcess(), pid: process.ppid, startTicks: startTicksOf(process.ppid) };
  const alive = [parent, thisProcess()];
  return {
    async join(isDead = false) {
      const owner = isDead ? { ...parent, pid: 2 ** 22 + 1 } : alive.shift();
      const journal = new CallJournal(folder, () => undefined, owner === undefined ? {} : { owner });
      return {
        begin: async () => void journal.lease(CALL),
        keep(turns, step) {
          journal.keep(CALL, { turns });
          journal.keepState(CALL, { step });
        },
        async take() {
          const left = await journal.left(CALL);
          const isTaken = left !== undefined && (await journal.take(CALL)) && journal.lease(CALL);
          return isTaken ? { record: left.document, state: left.state } : undefined;
        },
        forget: () => journal.forget(CALL),
        [Symbol.asyncDispose]: () => journal[Symbol.asyncDispose](),
      };
    },
    async kept() {
      const read = (kind: string): Promise<unknown> => readJournal(join(folder, `${CALL}.${kind}`)).catch(() => undefined);
      return { record: await read('json'), state: await read('state') };
    },
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

const masters = new MasterKeys([new Secret(Buffer.alloc(32, 'states').toString('base64'))]);
let namespaces = 0;

/** Machines with data folders of their own. */
function inRedis(): Place {
  const namespace = `states-${(namespaces += 1)}`;
  const common = { url: server?.url ?? '', namespace, clock: systemClock, logger: silentLogger };
  const opened: AsyncDisposable[] = [];
  const join: Place['join'] = async (isDead = false) => {
    const shared = await openRedisSharedState({ ...common, address: 'http://10.0.0.1:1', goneAfterMs: 60_000 });
    const { id: memberId } = shared.members.own;
    const sealing = stateSealing(masters);
    const kept = async (): Promise<object> => ({});
    const states = await openRedisCallStates({ ...common, memberId, folder: memberId, machine: 'here', sealing, kept });
    opened.push(states, shared);
    const claim = (): Promise<boolean> => shared.calls.claim({ callId: CALL, carrierKey: 'CA1' });
    return {
      async begin() {
        await claim();
        if (isDead) await shared.members.lose(memberId);
      },
      keep(turns, step) {
        states.keep(CALL, 'record', { turns });
        states.keep(CALL, 'state', { step });
      },
      async take() {
        await claim();
        const taken = await states.take(CALL);
        return typeof taken === 'object' ? { record: taken.record, state: taken.state } : undefined;
      },
      forget: () => states.forget(CALL),
      [Symbol.asyncDispose]: () => states[Symbol.asyncDispose](),
    };
  };
  return {
    join,
    async kept() {
      const states = await openRedisCallStates({
        ...common,
        memberId: 'reader',
        folder: 'reader',
        machine: 'reader',
        sealing: stateSealing(masters),
        kept: async () => ({}),
      });
      const found = await states.find(CALL);
      await states[Symbol.asyncDispose]();
      return typeof found === 'object' ? { record: found.record, state: found.state } : { record: undefined, state: undefined };
    },
    async [Symbol.asyncDispose]() {
      for (const each of opened) await each[Symbol.asyncDispose]();
    },
  };
}

describe.each([
  { note: 'a data folder', open: inFolder, installed: true },
  { note: 'Redis', open: inRedis, installed: program !== undefined },
])('live calls as they stand, in $note', ({ open, installed }) => {
  it.runIf(installed)('hands what a dead owner kept last to one taker, and to no other', async () => {
    await using place = open();
    await using dead = await place.join(true);
    await dead.begin();
    for (let turns = 0; turns <= 20; turns += 1) dead.keep(turns, `step ${turns}`);
    const last = { record: { turns: 20 }, state: { step: 'step 20' } };
    await eventually('the last of both parts', async () => isDeepStrictEqual(await place.kept(), last));
    await using taker = await place.join();
    await using other = await place.join();
    const taken = await Promise.all([taker.take(), other.take()]);
    expect(taken.filter((each) => each !== undefined)).toEqual([last]);
  });

  it.runIf(installed)('hands out nothing of an owner that is alive, nor of a call that is over', async () => {
    await using place = open();
    await using owner = await place.join();
    await owner.begin();
    owner.keep(1, 'one');
    await eventually('both parts', async () =>
      isDeepStrictEqual(await place.kept(), { record: { turns: 1 }, state: { step: 'one' } }),
    );
    await using other = await place.join(true);
    expect(await other.take()).toBeUndefined();
    await owner.forget();
    expect(await place.kept()).toEqual({ record: undefined, state: undefined });
    expect(await other.take()).toBeUndefined();
  });
});

describe.skipIf(program === undefined)('live calls in Redis', () => {
  const options = (namespace: string, memberId: string) => ({
    url: server?.url ?? '',
    namespace,
    memberId,
    folder: memberId,
    machine: `http://${memberId}`,
    sealing: stateSealing(masters),
    kept: async () => ({}),
    clock: systemClock,
    logger: silentLogger,
  });

  it('refuses writes of a machine that was taken for dead, and tells it', async () => {
    const common = { url: server?.url ?? '', namespace: 'fenced', address: undefined, clock: systemClock, logger: silentLogger };
    await using taker = await openRedisSharedState(common);
    const lost: string[] = [];
    await using slow = await openRedisCallStates({ ...options('fenced', 'mem_slow'), onLost: (callId) => lost.push(callId) });
    await using fast = await openRedisCallStates(options('fenced', taker.members.own.id));
    slow.keep(CALL, 'record', { turns: 1 });
    await eventually('the record', async () => typeof (await fast.find(CALL)) === 'object');
    expect(await fast.take(CALL)).toBe('elsewhere');
    await taker.calls.claim({ callId: CALL, carrierKey: undefined });
    expect(await fast.take(CALL)).toMatchObject({ record: { turns: 1 }, takes: 1, machine: 'http://mem_slow' });
    slow.keep(CALL, 'record', { turns: 99 });
    await eventually('the refusal', () => lost.length > 0);
    await slow.forget(CALL);
    fast.keep(CALL, 'record', { turns: 2 });
    await eventually('the record of the taker', async () => isDeepStrictEqual(partOf(await slow.find(CALL)), { turns: 2 }));
    await fast.forget(CALL);
    // The first machine, when it is back, sees who had the call.
    expect(await slow.find(CALL)).toMatchObject({ folder: taker.members.own.id, record: undefined });
  });

  it('shows nobody who reads Redis what was said', async () => {
    await using states = await openRedisCallStates(options('sealed', 'mem_1'));
    states.keep(CALL, 'record', { text: 'my number is four two' });
    const client = new Redis(server?.url ?? '');
    const raw = await eventually(
      'the record',
      async () => (await client.hget(`{offhook:sealed}:state:${CALL}`, 'record')) ?? undefined,
    );
    client.disconnect();
    expect(raw).toMatch(/^sealed:/u);
    await using plain = await openRedisCallStates({ ...options('sealed', 'mem_2'), sealing: undefined });
    expect(partOf(await plain.find(CALL))).toBeUndefined();
  });

  it('writes what is newest when Redis is back, and what Redis has lost', async () => {
    const proxy = await startCuttableProxy(Number(new URL(server?.url ?? '').port));
    const onDisk = { call_2: { record: { turns: 7 } } };
    await using states = await openRedisCallStates({
      ...options('away', 'mem_1'),
      url: `redis://127.0.0.1:${proxy.port}`,
      kept: async (callId) => (callId === 'call_2' ? onDisk.call_2 : {}),
    });
    await using reader = await openRedisCallStates(options('away', 'mem_2'));
    states.keep('call_2', 'record', { turns: 7 });
    await eventually('its record', async () => partOf(await reader.find('call_2')));
    proxy.cut();
    for (let turns = 0; turns < 50; turns += 1) states.keep(CALL, 'record', { turns });
    await eventually('Redis to be away', async () => (await states.find(CALL)) === 'away');
    const client = new Redis(server?.url ?? '');
    await client.del('{offhook:away}:state:call_2');
    client.disconnect();
    proxy.mend();
    await eventually('the newest', async () => isDeepStrictEqual(partOf(await reader.find(CALL)), { turns: 49 }));
    const lost = await eventually('the lost one', async () => partOf(await reader.find('call_2')) ?? undefined);
    expect(lost).toEqual({ turns: 7 });
    await proxy[Symbol.asyncDispose]();
  });

  it('writes all calls again within a second when Redis was emptied, though nothing of them is new', async () => {
    const client = new Redis(server?.url ?? '');
    const ids = Array.from({ length: 50 }, (_, at) => `call_${at}`);
    const onDisk = (callId: string) => ({ record: { callId }, state: { callId } });
    await using states = await openRedisCallStates({ ...options('emptied', 'mem_1'), kept: async (callId) => onDisk(callId) });
    await using reader = await openRedisCallStates(options('emptied', 'mem_2'));
    for (const callId of ids) {
      states.keep(callId, 'record', { callId });
      states.keep(callId, 'state', { callId });
    }
    const areThere = async (): Promise<boolean> => {
      const found = await Promise.all(ids.map(async (callId) => reader.find(callId)));
      return found.every((each, at) => isDeepStrictEqual(each, { ...there, ...onDisk(ids[at] ?? '') }));
    };
    const there = { folder: 'mem_1', machine: 'http://mem_1', takes: 0 };
    await eventually('all of them', areThere);
    await client.flushall();
    const emptiedAtMs = performance.now();
    expect(await reader.find('call_0')).toBeUndefined();
    await eventually('all of them again', areThere);
    expect(performance.now() - emptiedAtMs).toBeLessThan(1_000);
    client.disconnect();
  });
});

function partOf(found: KeptCall | 'away' | undefined): unknown {
  return typeof found === 'object' ? found.record : undefined;
}

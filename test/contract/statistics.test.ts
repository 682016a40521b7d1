import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storeOn } from '../../src/records/database.ts';
import type { Store } from '../../src/records/port.ts';
import { callRecordOf } from '../support/call-records.ts';
import { type TestDatabases, embeddedDatabases, serverDatabases } from '../support/databases.ts';
import { requireTool } from '../support/requires.ts';

const postgresProgram = requireTool('postgres');
const DAY_MS = 86_400_000;
const NOON = Date.UTC(2026, 2, 1, 12);
const MARCH = { botName: 'clinic', fromMs: NOON - DAY_MS, toMs: NOON + 10 * DAY_MS };

interface Walk {
  readonly id: string;
  readonly steps: readonly (readonly string[])[];
  readonly endReason?: string;
  readonly version?: string;
  readonly atMs?: number;
  readonly tenantId?: string;
  readonly botName?: string;
  readonly waitedMs?: number;
}

/** A call that went through these steps, one list a turn. */
function walked({ id, steps, endReason = 'finished', version = 'v1', atMs = NOON, waitedMs = 800, ...rest }: Walk) {
  return callRecordOf({
    id,
    endReason,
    botVersion: version,
    startedAtMs: atMs,
    endedAtMs: atMs + 9_000,
    turns: steps.map((each, index) => ({
      index,
      inputKind: index === 0 ? 'start' : 'spoken',
      callerText: '',
      botText: '',
      botHeardText: '',
      interrupted: false,
      latencies: { total: waitedMs },
      steps: [...each],
      startedAtMs: atMs + index * 1_000,
    })),
    ...rest,
  });
}

describe.each([
  { place: 'the embedded store', installed: true },
  { place: 'a Postgres server', installed: postgresProgram !== undefined },
] as const)('statistics on $place', ({ place, installed }) => {
  let databases: TestDatabases | undefined;
  let store: Store;

  beforeAll(async () => {
    if (!installed) return;
    const opened = place === 'a Postgres server' ? await serverDatabases() : await embeddedDatabases();
    databases = opened;
    store = storeOn(await opened!.open());
    await store.calls.upsertMany([
      walked({ id: 'a', steps: [['greet'], ['day', 'time'], ['bye']] }),
      walked({ id: 'b', steps: [['greet'], ['day'], ['day'], ['time']], endReason: 'caller-hangup', waitedMs: 1_200 }),
      walked({ id: 'c', steps: [['greet']], endReason: 'caller-hangup', version: 'v2', atMs: NOON + DAY_MS, waitedMs: 400 }),
      walked({ id: 'd', steps: [], endReason: 'no-input', version: 'v2', atMs: NOON + DAY_MS }),
      walked({ id: 'late', steps: [['greet']], atMs: NOON + 20 * DAY_MS }),
      walked({ id: 'elsewhere', steps: [['greet']], botName: 'desk' }),
      walked({ id: 'theirs', steps: [['greet']], tenantId: 'other' }),
    ]);
    const { endedAtMs: _endedAtMs, ...live } = walked({ id: 'live', steps: [['greet']] });
    await store.calls.upsert(live);
  });

  afterAll(async () => {
    await store?.close();
    await databases?.[Symbol.asyncDispose]();
  });

  it.runIf(installed)('counts where ended calls of one bot, tenant and time went', async () => {
    const paths = await store.statistics.paths('default', MARCH);
    expect(paths).toMatchObject({ calls: 3, hasMore: false });
    expect(Object.fromEntries(paths.steps.map(({ step, times, calls }) => [step, [times, calls]]))).toEqual({
      greet: [3, 3],
      day: [3, 2],
      time: [2, 2],
      bye: [1, 1],
    });
    const hops = paths.hops.map(({ from, to, times, calls }) => `${from ?? ''}>${to} ${times} ${calls}`).sort();
    expect(hops).toEqual(['>greet 3 3', 'day>day 1 1', 'day>time 2 2', 'greet>day 2 2', 'time>bye 1 1']);
  });

  it.runIf(installed)('says at which step calls ended and why, with examples', async () => {
    const { ends } = await store.statistics.paths('default', MARCH);
    const sorted = [...ends].sort((one, other) => one.step.localeCompare(other.step));
    expect(sorted.map(({ step, endReason, calls, examples }) => [step, endReason, calls, examples])).toEqual([
      ['bye', 'finished', 1, ['a']],
      ['greet', 'caller-hangup', 1, ['c']],
      ['time', 'caller-hangup', 1, ['b']],
    ]);
  });

  it.runIf(installed)('counts one version alone, and nothing where there is nothing', async () => {
    const paths = await store.statistics.paths('default', { ...MARCH, botVersion: 'v2' });
    expect(paths.steps).toEqual([{ step: 'greet', times: 1, calls: 1 }]);
    const none = { ...MARCH, botName: 'nobody' };
    expect(await store.statistics.paths('default', none)).toEqual({ calls: 0, hasMore: false, steps: [], hops: [], ends: [] });
    expect(await store.statistics.ofBot('default', none, 'UTC')).toEqual({
      outcomes: [],
      replies: undefined,
      repliesByVersion: [],
      repliesByDay: [],
    });
  });

  it.runIf(installed)('counts outcomes and waits by version and by the day of the bot’s own clock', async () => {
    await store.calls.setDisposition('default', 'a', 'booked');
    const { outcomes, replies, repliesByVersion, repliesByDay } = await store.statistics.ofBot('default', MARCH, 'Asia/Kolkata');
    expect(outcomes.map((each) => Object.values(each).map(String).join(' ')).sort()).toEqual([
      'v1 2026-03-01 caller-hangup undefined 1',
      'v1 2026-03-01 finished booked 1',
      'v2 2026-03-02 caller-hangup undefined 1',
      'v2 2026-03-02 no-input undefined 1',
    ]);
    expect(replies).toEqual({ replies: 5, medianMs: 1_200, p90Ms: 1_200, p99Ms: 1_200 });
    expect(repliesByVersion).toEqual([{ botVersion: 'v1', replies: 5, medianMs: 1_200, p90Ms: 1_200, p99Ms: 1_200 }]);
    expect(repliesByDay).toEqual([{ day: '2026-03-01', replies: 5, medianMs: 1_200, p90Ms: 1_200, p99Ms: 1_200 }]);
    const night = { ...MARCH, fromMs: NOON, toMs: NOON + 1 };
    const days = (await store.statistics.ofBot('default', night, 'Pacific/Kiritimati')).outcomes.map(({ day }) => day);
    expect(new Set(days)).toEqual(new Set(['2026-03-02']));
  });

  it.runIf(installed)('forgets the path of a call whose words were erased', async () => {
    await store.calls.upsert(walked({ id: 'gone', steps: [['greet']], botName: 'erasing' }));
    const erasing = { ...MARCH, botName: 'erasing' };
    expect((await store.statistics.paths('default', erasing)).calls).toBe(1);
    await store.privacy.eraseKind('default', 'gone', 'text', 1);
    expect((await store.statistics.paths('default', erasing)).calls).toBe(0);
    expect((await store.statistics.ofBot('default', erasing, 'UTC')).outcomes).toHaveLength(1);
  });

  it.runIf(installed)('adds up costs by bot, campaign, day and vendor, and says which are unknown', async () => {
    const part = (vendor: string, cost: number | 'unknown') =>
      ({ vendor, unit: 'recogniser-seconds', amount: 1, price: cost, per: 1, cost }) as const;
    const costing = (id: string, botName: string, atMs: number, costs: readonly (readonly [string, number | 'unknown'])[]) => {
      const known = costs.reduce((sum, [, cost]) => sum + (cost === 'unknown' ? 0 : cost), 0);
      const total = costs.some(([, cost]) => cost === 'unknown') ? ('unknown' as const) : known;
      const cost = { currency: 'EUR', total, known, parts: costs.map(([vendor, each]) => part(vendor, each)) };
      return callRecordOf({ id, tenantId: 'payer', botName, startedAtMs: atMs, endedAtMs: atMs + 9_000, cost });
    };
    await store.calls.upsertMany([
      costing('p1', 'clinic', NOON, [
        ['acme', 0.25],
        ['twilio', 0.01],
      ]),
      costing('p2', 'clinic', NOON + DAY_MS, [
        ['acme', 0.5],
        ['other', 'unknown'],
      ]),
      costing('p3', 'sales', NOON + DAY_MS, [['acme', 1]]),
    ]);
    expect(await store.calls.addCost('payer', 'p3', 'analysis/default', [{ ...part('model', 0.002), job: 'analysis' }])).toBe(
      true,
    );
    expect(await store.calls.addCost('payer', 'absent', 'analysis/default', [])).toBe(false);
    // A repeated record does not lose what its analysis cost.
    await store.calls.upsert(costing('p3', 'sales', NOON + DAY_MS, [['acme', 1]]));
    const rows = async (by: 'bot' | 'campaign' | 'day' | 'vendor'): Promise<unknown[]> =>
      (await store.statistics.costs('payer', MARCH, by)).map(({ group, calls, knownMicros, unknownCalls }) => [
        group,
        calls,
        knownMicros,
        unknownCalls,
      ]);
    expect(await rows('bot')).toEqual([
      ['sales', 1, 1_002_000, 0],
      ['clinic', 2, 760_000, 1],
    ]);
    expect(await rows('day')).toEqual([
      ['2026-03-01', 1, 260_000, 0],
      ['2026-03-02', 2, 1_502_000, 1],
    ]);
    expect(await rows('vendor')).toEqual([
      ['acme', 3, 1_750_000, 0],
      ['twilio', 1, 10_000, 0],
      ['model', 1, 2_000, 0],
      ['other', 1, 0, 1],
    ]);
    expect(await rows('campaign')).toEqual([[undefined, 3, 1_762_000, 1]]);
    expect(await store.statistics.spentSince(['payer', 'other'], NOON + 1)).toEqual(
      expect.arrayContaining([
        { botName: 'sales', micros: 1_002_000 },
        { botName: 'clinic', micros: 500_000 },
      ]),
    );
    expect((await store.calls.get('payer', 'p3'))?.cost).toMatchObject({
      total: 1.002,
      parts: [{}, { vendor: 'model', job: 'analysis' }],
    });
    const listed = (await store.calls.search('payer', { limit: 10 })).calls.map(({ id, costMicros }) => [id, costMicros]);
    expect(listed).toEqual([
      ['p3', 1_002_000],
      ['p2', undefined],
      ['p1', 260_000],
    ]);
  });
});

import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { ENDINGS } from '../../src/call/log/outcome.ts';
import { figuresOf } from '../../src/records/figures.ts';
import { periodStarts, slotOf } from '../../src/records/periods.ts';
import type { NewCallRecord } from '../../src/records/port.ts';
import { callRecord } from '../../src/records/record.ts';
import { BUCKET_BOUNDS_MS, BUCKETS, replyTimes } from '../../src/records/reply-times.ts';
import type { CountedCalls, Figures } from '../../src/records/statistics.ts';
import { callRecordOf } from '../support/call-records.ts';
import { sharedStore, STORE_PLACES } from '../support/databases.ts';
import { thorough } from '../support/thorough.ts';

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

const WEEK_MS = 7 * DAY_MS;
const someCall = fc
  .record({
    botName: fc.constantFrom('clinic', 'desk'),
    botVersion: fc.constantFrom('v1', 'v2'),
    direction: fc.constantFrom('inbound' as const, 'outbound' as const),
    carrier: fc.constantFrom('twilio', 'twilio', 'twilio', 'import'),
    startedAtMs: fc.integer({ min: NOON, max: NOON + WEEK_MS }),
    endReason: fc.constantFrom(
      'said-all',
      'caller-hangup',
      'caller-said-goodbye',
      'transferred',
      'no-input',
      'opt-out',
      'dialog-failed',
    ),
    hasEnded: fc.boolean(),
    revision: fc.constantFrom(0, 1),
    answeredBy: fc.constantFrom('person' as const, 'mailbox' as const),
    turns: fc.array(
      fc.record({
        waitedMs: fc.option(fc.integer({ min: 0, max: 40_000 }), { nil: undefined }),
        callerText: fc.constantFrom('', 'Tuesday'),
        botText: fc.constantFrom('Which day?', 'Sorry, I did not catch that.', 'Goodbye.'),
        cutAfterMs: fc.constantFrom(undefined, 300, 5_000),
      }),
      { maxLength: 6 },
    ),
  })
  .map(({ hasEnded, turns, answeredBy, ...call }) => {
    const startedAtMs = call.startedAtMs;
    const record = callRecordOf({
      ...call,
      answeredAtMs: startedAtMs,
      endedAtMs: startedAtMs + 9_000,
      ...(call.direction === 'inbound' ? {} : { outbound: { answeredBy, opinions: [], identified: false } }),
      turns: turns.map(({ waitedMs, callerText, botText }, index) => ({
        index,
        inputKind: index === 0 ? ('start' as const) : ('spoken' as const),
        callerText,
        botText,
        botHeardText: botText,
        interrupted: false,
        latencies: waitedMs === undefined ? {} : { total: waitedMs },
        startedAtMs: startedAtMs + index * 1_000,
      })),
      timeline: turns.flatMap(({ cutAfterMs }, turn) => [
        { type: 'first-frame', atMs: turn * 1_000, turn },
        ...(cutAfterMs === undefined
          ? []
          : [{ type: 'clear', atMs: turn * 1_000 + cutAfterMs, turn, onsetMs: turn * 1_000 + cutAfterMs, by: 'voice' }]),
      ]),
    });
    if (!hasEnded) delete record.endedAtMs;
    return record;
  });

const someRange = fc
  .record({
    fromMs: fc.integer({ min: NOON - DAY_MS, max: NOON + WEEK_MS }),
    forMs: fc.constantFrom(1, 600_000, 3_600_000, DAY_MS, WEEK_MS),
    isWhole: fc.boolean(),
    botName: fc.constantFrom(undefined, 'clinic'),
    botVersion: fc.constantFrom(undefined, 'v2'),
    by: fc.constantFrom('hour' as const, 'day' as const),
    zone: fc.constantFrom('UTC', 'Asia/Kolkata', 'Asia/Kathmandu', 'America/New_York'),
  })
  .map(({ isWhole, fromMs, ...range }) => ({ ...range, fromMs: isWhole ? slotOf(fromMs) : fromMs }));

/** The figures of some calls, one call after the other. */
function bruteFigures(records: readonly NewCallRecord[], { fromMs, toMs, botName, botVersion }: CountedCalls): Figures {
  const found = records
    .map((record) => callRecord.parse(record))
    .filter((record) => record.startedAtMs >= fromMs && record.startedAtMs < toMs)
    .filter((record) => (botName ?? record.botName) === record.botName && (botVersion ?? record.botVersion) === record.botVersion)
    .flatMap((record) => {
      const counted = figuresOf(record);
      return counted === undefined ? [] : [{ record, counted }];
    });
  const number = (is: (each: (typeof found)[number]) => boolean): number => found.filter(is).length;
  const sum = (of: (each: (typeof found)[number]) => number): number => found.reduce((total, each) => total + of(each), 0);
  const buckets: number[] = Array.from({ length: BUCKETS }, () => 0);
  for (const { record } of found)
    for (const { inputKind, latencies } of record.turns) {
      if (inputKind !== 'spoken' || latencies.total === undefined) continue;
      const bucket = BUCKET_BOUNDS_MS.filter((boundMs) => boundMs <= (latencies.total ?? 0)).length;
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
    }
  return {
    calls: found.length,
    answered: number(({ counted }) => counted.answered),
    contained: number(({ counted }) => counted.result === 'contained'),
    transferred: number(({ counted }) => counted.result === 'transferred'),
    givenUp: number(({ counted }) => counted.result === 'given-up'),
    optedOut: number(({ counted }) => counted.optedOut),
    cutOffCalls: number(({ counted }) => counted.cutOffs > 0),
    cutOffs: sum(({ counted }) => counted.cutOffs),
    notUnderstoodCalls: number(({ counted }) => counted.notUnderstood > 0),
    notUnderstood: sum(({ counted }) => counted.notUnderstood),
    durationS: 9 * found.length,
    endings: Object.fromEntries(
      ENDINGS.map((ending) => [ending, number(({ counted }) => counted.ending === ending)]),
    ) as Figures['endings'],
    replies: replyTimes(buckets),
    costs: [],
  };
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

describe.each(STORE_PLACES)('statistics on $place', ({ isThere, start }) => {
  const store = sharedStore(start);

  beforeAll(async () => {
    if (!isThere) return;
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

  it.runIf(isThere)('counts where ended calls of one bot, tenant and time went', async () => {
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

  it.runIf(isThere)('says at which step calls ended and why, with examples', async () => {
    const { ends } = await store.statistics.paths('default', MARCH);
    const sorted = [...ends].sort((one, other) => one.step.localeCompare(other.step));
    expect(sorted.map(({ step, endReason, calls, examples }) => [step, endReason, calls, examples])).toEqual([
      ['bye', 'finished', 1, ['a']],
      ['greet', 'caller-hangup', 1, ['c']],
      ['time', 'caller-hangup', 1, ['b']],
    ]);
  });

  it.runIf(isThere)('counts one version alone, and nothing where there is nothing', async () => {
    const paths = await store.statistics.paths('default', { ...MARCH, botVersion: 'v2' });
    expect(paths.steps).toEqual([{ step: 'greet', times: 1, calls: 1 }]);
    const none = { ...MARCH, botName: 'nobody' };
    expect(await store.statistics.paths('default', none)).toEqual({ calls: 0, hasMore: false, steps: [], hops: [], ends: [] });
    expect(await store.statistics.figures('default', none)).toMatchObject({ calls: 0, replies: undefined, costs: [] });
    expect(await store.statistics.figuresByBot('default', none, 'version')).toEqual([]);
  });

  it.runIf(isThere)('has the figures that counting every call gives, whatever the range, the bot and the zone', async () => {
    let tenants = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(someCall, { maxLength: 25 }),
        fc.array(someRange, { minLength: 2, maxLength: 4 }),
        async (given, ranges) => {
          const tenantId = `counted${tenants++}`;
          const records = given.map((call, n) => ({ ...call, id: `call_${n}`, tenantId }));
          await store.calls.upsertMany(records.filter((_, n) => n % 2 === 0));
          for (const { fromMs, forMs, zone, by, ...one } of ranges) {
            // Some come between two readings, with what they replace.
            await store.calls.upsertMany(records);
            const range = { fromMs, toMs: fromMs + forMs, ...one };
            const brute = (from: number, to: number) => bruteFigures(records, { ...range, fromMs: from, toMs: to });
            expect(await store.statistics.figures(tenantId, range)).toEqual(brute(range.fromMs, range.toMs));
            const starts = periodStarts(range.fromMs, range.toMs, by, zone);
            const periods = starts.map((at, n) => brute(at, starts[n + 1] ?? range.toMs));
            expect(await store.statistics.figuresByPeriod(tenantId, range, starts)).toEqual(periods);
            const versions = await store.statistics.figuresByBot(tenantId, range, 'version');
            expect(versions.reduce((sum, { calls }) => sum + calls, 0)).toBe(brute(range.fromMs, range.toMs).calls);
            for (const { botName, botVersion, firstMs: _first, lastMs: _last, ...figures } of versions)
              expect(figures).toEqual(bruteFigures(records, { ...range, botName, botVersion }));
          }
        },
      ),
      { numRuns: thorough(4, 100) },
    );
  });

  it.runIf(isThere)('counts dispositions as they are set, and no more of a call whose words were erased', async () => {
    const calls = { ...MARCH, botName: 'booking' };
    await store.calls.upsertMany(['p', 'q', 'r'].map((id) => walked({ id, steps: [], botName: 'booking' })));
    await store.calls.setDisposition('default', 'p', 'booked');
    await store.calls.setDisposition('default', 'q', 'booked');
    expect(await store.statistics.dispositions('default', calls)).toEqual([
      { disposition: 'booked', calls: 2 },
      { disposition: undefined, calls: 1 },
    ]);
    await store.privacy.erase('default', 'p', 1);
    expect((await store.statistics.dispositions('default', calls)).map((each) => each.calls)).toEqual([2, 1]);
    expect((await store.statistics.figures('default', calls)).calls).toBe(3);
  });

  it.runIf(isThere)('brings the figures of all tenants up to date, a part at a time', async () => {
    const quarter = (n: number): number => NOON + n * 900_000;
    await store.calls.upsertMany(
      ['east', 'west'].flatMap((tenantId) =>
        [0, 1, 2].map((n) => walked({ id: `${tenantId}${n}`, steps: [], tenantId, atMs: quarter(n) })),
      ),
    );
    expect(await store.statistics.rollUp(2)).toBeGreaterThanOrEqual(4);
    expect(await store.statistics.rollUp(1_000)).toBeGreaterThanOrEqual(2);
    expect(await store.statistics.rollUp(1_000)).toBe(0);
    expect((await store.statistics.figures('east', MARCH)).calls).toBe(3);
    expect((await store.statistics.figures(['east', 'default'], MARCH)).calls).toBe(
      3 + (await store.statistics.figures('default', MARCH)).calls,
    );
    expect((await store.statistics.figures([], MARCH)).calls).toBe(0);
  });

  it.runIf(isThere)('counts the replies that callers broke off, of several tenants together', async () => {
    const broken = (tenantId: string, at: number): NewCallRecord => {
      const call = walked({ id: `broken-${tenantId}`, steps: [[], [], []], tenantId, botName: 'breaking' });
      return { ...call, turns: call.turns.map((turn, index) => ({ ...turn, interrupted: index === at })) };
    };
    await store.calls.upsertMany([broken('north', 1), broken('south', 9)]);
    const breaking = { ...MARCH, botName: 'breaking' };
    expect(await store.statistics.interruptions(['north', 'south'], breaking)).toEqual({ replies: 6, brokenOff: 1 });
    expect(await store.statistics.interruptions(['south'], breaking)).toEqual({ replies: 3, brokenOff: 0 });
    expect(await store.statistics.interruptions([], breaking)).toEqual({ replies: 0, brokenOff: 0 });
  });

  it.runIf(isThere)('forgets the path of a call whose words were erased, and counts it all the same', async () => {
    await store.calls.upsert(walked({ id: 'gone', steps: [['greet']], botName: 'erasing' }));
    const erasing = { ...MARCH, botName: 'erasing' };
    expect((await store.statistics.paths('default', erasing)).calls).toBe(1);
    await store.privacy.eraseKind('default', 'gone', 'text', 1);
    expect((await store.statistics.paths('default', erasing)).calls).toBe(0);
    expect((await store.statistics.figures('default', erasing)).calls).toBe(1);
  });

  it.runIf(isThere)('adds up costs by bot, campaign, day and vendor, and says which are unknown', async () => {
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
    expect(await store.statistics.unpriced('payer', MARCH)).toEqual([
      { vendor: 'other', model: undefined, unit: 'recogniser-seconds', calls: 1 },
    ]);
    const found = async (minCostMicros: number) =>
      (await store.calls.search('payer', { minCostMicros, limit: 9 })).calls.map(({ id }) => id);
    expect(await found(500_000)).toEqual(['p3', 'p2']);
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

import { describe, expect, it } from 'vitest';
import { CarrierControlError, DialUnknownError } from '../../../src/carriers/errors.ts';
import type { CallRecord } from '../../../src/records/record.ts';
import type { Attempt } from '../../../src/records/dialling.ts';
import type { StoredCall } from '../../../src/records/port.ts';
import { diallerBench, NOON_MS, PERSON, ScriptedCarrier, wish } from './dialler-bench.ts';

const report = (carrierCallId: string, state: 'ringing' | 'answered') => ({
  carrier: 'twilio',
  carrierCallId,
  progress: { state },
});
const ended = (carrierCallId: string, outcome: 'busy' | 'no-answer' | 'completed', cause?: string) => ({
  carrier: 'twilio',
  carrierCallId,
  progress: { state: 'ended' as const, outcome, cause },
});
/** As much of a call's record as an attempt is closed by. */
const recordOf = (id: string, more: Partial<CallRecord> = {}): StoredCall =>
  ({
    id,
    tenantId: 'default',
    direction: 'outbound',
    carrierCallId: `CA-${id}`,
    answeredAtMs: NOON_MS + 5_000,
    endedAtMs: NOON_MS + 20_000,
    endReason: 'caller-hangup',
    outbound: { answeredBy: 'person', opinions: [], identified: true },
    ...more,
  }) as StoredCall;
const unknown = async (): Promise<never> => {
  throw new DialUnknownError('no answer');
};

describe('placing a call', () => {
  it('tells the call the time zone that the person came with', async () => {
    await using bench = diallerBench();
    const { id } = await bench.dial({ zone: 'Europe/Lisbon' });
    expect(bench.held.get(id)?.zone).toBe('Europe/Lisbon');
  });

  it('takes no report on another call of the carrier for one on its own', async () => {
    await using bench = diallerBench();
    const { id, now } = await bench.dial();
    const { follower } = bench.dialler;
    expect(await follower.reported(id, ended('CA-another', 'completed'))).toBe(false);
    expect(now()).toMatchObject({ state: 'placing', carrierCallId: `CA-${id}` });
    expect(await follower.reported(id, report(`CA-${id}`, 'ringing'))).toBe(true);
  });

  it('holds a place before the carrier is asked, and gives the carrier all it needs', async () => {
    await using bench = diallerBench();
    bench.carrier.dial = async ({ callId }) => {
      expect([...bench.held.keys()]).toEqual([callId]);
      expect(bench.attempts.all).toMatchObject([{ state: 'placing', placedAtMs: NOON_MS }]);
      return { carrierCallId: 'CA1' };
    };
    const { id, placed, now } = await bench.dial();
    expect(placed).toBe('placed');
    expect(now()).toMatchObject({ state: 'placing', carrierCallId: 'CA1' });
    expect(bench.carrier.orders).toEqual([
      {
        callId: id,
        from: '+442079460001',
        to: PERSON,
        ringTimeoutMs: 30_000,
        maxDurationMs: 600_000,
        detectMachine: false,
        streamUrl: `wss://voice.test/stream/att-${id}`,
        statusUrl: `https://voice.test/status/${id}`,
      },
    ]);
    expect(bench.held.get(id)).toMatchObject({ botName: 'reminder', variables: { name: 'Asha' } });
  });

  it('follows reports that come twice and in any order to one end', async () => {
    await using bench = diallerBench();
    const { id, now } = await bench.dial();
    const { follower } = bench.dialler;
    const seen: Attempt[] = [];
    bench.dialler.onEnded((attempt) => seen.push(attempt));
    for (const state of ['ringing', 'ringing', 'answered', 'ringing'] as const)
      expect(await follower.reported(id, report(`CA-${id}`, state))).toBe(true);
    expect(now()).toMatchObject({ state: 'answered' });
    await follower.reported(id, ended(`CA-${id}`, 'completed'));
    await follower.reported(id, ended(`CA-${id}`, 'completed'));
    expect(now()?.state).toBe('answered');
    await follower.stored(recordOf(id));
    await follower.stored(recordOf(id));
    expect(now()).toMatchObject({ state: 'ended', disposition: 'completed', answeredBy: 'person', endedAtMs: NOON_MS + 20_000 });
    expect(bench.told.map(([event]) => event)).toEqual(['placed', 'ringing', 'answered', 'ended']);
    expect(seen).toMatchObject([{ id, disposition: 'completed' }]);
    expect(bench.held.size).toBe(0);
  });

  it('takes reports that overtake the answer to the order', async () => {
    await using bench = diallerBench();
    bench.carrier.dial = async ({ callId }) => {
      await bench.dialler.follower.reported(callId, report('CA1', 'ringing'));
      await bench.dialler.follower.reported(callId, ended('CA1', 'busy', '486'));
      return { carrierCallId: 'CA1' };
    };
    const { now, placed } = await bench.dial();
    expect(placed).toBe('placed');
    expect(now()).toMatchObject({ state: 'ended', disposition: 'busy', cause: '486', carrierCallId: 'CA1' });
    expect(bench.carrier.hungUp).toEqual([]);
    expect(bench.held.size).toBe(0);
  });

  it.each([
    { facts: { status: 400, carrierCode: 21211 }, retryable: false, disposition: 'rejected', cause: '21211' },
    { facts: { status: 503 }, retryable: true, disposition: 'failed', cause: 'http-503' },
    { facts: {}, retryable: true, disposition: 'failed', cause: 'unreachable' },
  ])('ends an attempt as $disposition when the carrier refuses with $cause', async ({ facts, retryable, disposition, cause }) => {
    await using bench = diallerBench();
    bench.carrier.dial = async () => {
      throw new CarrierControlError('no', { retryable, facts });
    };
    const { now, placed } = await bench.dial();
    expect(placed).toBe('over');
    expect(now()).toMatchObject({ state: 'ended', disposition, cause });
    expect(bench.held.size).toBe(0);
    expect(bench.carrier.orders).toHaveLength(1);
  });

  it('places an attempt once, however many processes try', async () => {
    const first = diallerBench();
    const second = diallerBench({ attempts: first.attempts, carrier: first.carrier, clock: first.clock });
    const [gated] = await first.dialler.ask([wish()]);
    const id = gated?.attempt.id ?? '';
    const outcomes = await Promise.all([first, first, second, second].map(({ dialler }) => dialler.place('default', id)));
    expect(outcomes.filter((outcome) => outcome === 'elsewhere')).toHaveLength(2);
    expect(first.carrier.orders).toHaveLength(1);
    expect(first.held.size + second.held.size).toBe(1);
  });

  it('leaves an attempt queued without room, and ends it when the yes of the gate is over', async () => {
    await using bench = diallerBench();
    bench.outbound.room = 0;
    const { placed, now } = await bench.dial();
    expect(placed).toBe('no-room');
    expect(now()?.state).toBe('queued');
    await bench.untilEnded(now);
    expect(now()).toMatchObject({ disposition: 'cancelled', cause: 'expired' });
    expect(bench.clock.wallMs()).toBeGreaterThan(NOON_MS + 60_000);
    expect(bench.carrier.orders).toEqual([]);
  });

  it('keeps to the calls a second and to the concurrency of an account', async () => {
    const bench = diallerBench({ callsPerSecond: 2, concurrency: 3 });
    const wishes = Array.from({ length: 4 }, (_, index) => wish({ to: `+44207946001${index}` }));
    const gated = await bench.dialler.ask(wishes);
    const atMs: number[] = [];
    const answer = bench.carrier.dial;
    bench.carrier.dial = (order) => {
      atMs.push(bench.clock.wallMs() - NOON_MS);
      return answer(order);
    };
    const placing = gated.map(({ attempt }) => bench.dialler.place('default', attempt.id));
    await bench.until(() => atMs.length === 3);
    expect(await Promise.all(placing)).toEqual(['placed', 'placed', 'placed', 'no-room']);
    const [first = 0] = atMs;
    expect(atMs.map((eachMs) => eachMs - first)).toEqual([0, 500, 1000]);
  });
});

describe('an order without an answer', () => {
  it('is looked up until it is found, and never given again', async () => {
    await using bench = diallerBench();
    bench.carrier.dial = unknown;
    const { id, now, placed } = await bench.dial();
    expect([placed, now()?.state, bench.held.size]).toEqual(['placed', 'placing', 1]);
    await bench.until(() => bench.carrier.finds === 3);
    expect(bench.clock.wallMs() - NOON_MS).toBe(4_000);
    bench.carrier.find = async () => ({ found: 'placed', carrierCallId: 'CA1', progress: { state: 'ringing' } });
    await bench.until(() => now()?.state === 'ringing');
    expect(now()).toMatchObject({ carrierCallId: 'CA1' });
    expect([bench.carrier.orders.length, bench.held.size, bench.carrier.hungUp.length]).toEqual([1, 1, 0]);
    await bench.dialler.follower.reported(id, ended('CA1', 'no-answer'));
    expect(now()).toMatchObject({ disposition: 'no-answer' });
  });

  it('is known by its reports where the carrier cannot be asked', async () => {
    await using bench = diallerBench();
    bench.carrier.dial = unknown;
    bench.carrier.dialling.capabilities.canFind = false;
    const { id, now } = await bench.dial();
    await bench.dialler.follower.reported(id, report('CA1', 'ringing'));
    expect(now()).toMatchObject({ state: 'ringing', carrierCallId: 'CA1' });
  });

  it('stays unknown after a time, gives its place back, and is corrected by what comes later', async () => {
    await using bench = diallerBench();
    bench.carrier.dial = unknown;
    const { id, now } = await bench.dial();
    await bench.untilEnded(now);
    expect(now()).toMatchObject({ disposition: 'unknown' });
    expect([bench.carrier.orders.length, bench.held.size]).toEqual([1, 0]);
    await bench.dialler.follower.reported(id, ended('CA1', 'busy'));
    expect(now()).toMatchObject({ disposition: 'busy' });
  });

  it('is given again once the carrier surely has no such call, while the yes holds', async () => {
    await using bench = diallerBench();
    const answer = bench.carrier.dial;
    bench.carrier.dial = unknown;
    bench.carrier.find = async () => ({ found: 'not-placed' });
    const { now } = await bench.dial();
    bench.carrier.dial = answer;
    await bench.until(() => now()?.carrierCallId !== undefined);
    expect([bench.carrier.orders.length, bench.held.size]).toEqual([2, 1]);
  });

  it('is hung up when it turns up after it was cancelled', async () => {
    await using bench = diallerBench();
    bench.carrier.dial = unknown;
    const { id, now } = await bench.dial();
    expect(await bench.dialler.cancel('default', id)).toBe(true);
    expect(now()).toMatchObject({ state: 'ended', disposition: 'cancelled' });
    bench.carrier.find = async () => ({ found: 'placed', carrierCallId: 'CA1', progress: { state: 'ringing' } });
    await bench.until(() => bench.carrier.hungUp.length > 0);
    expect(bench.held.size).toBe(0);
  });
});

describe('cancelling', () => {
  it('ends what is queued, and hangs up what rings', async () => {
    await using bench = diallerBench();
    const [gated] = await bench.dialler.ask([wish({ to: '+442079460002' })]);
    const queued = gated?.attempt.id ?? '';
    expect(await bench.dialler.cancel('default', queued)).toBe(true);
    expect(await bench.dialler.place('default', queued)).toBe('over');
    const { id, now } = await bench.dial();
    await bench.dialler.follower.reported(id, report(`CA-${id}`, 'ringing'));
    expect(await bench.dialler.cancel('default', id)).toBe(true);
    expect(bench.carrier.hungUp).toEqual([`CA-${id}`]);
    expect(now()).toMatchObject({ disposition: 'cancelled' });
    expect(await bench.dialler.cancel('default', id)).toBe(false);
    expect(bench.held.size).toBe(0);
  });

  it('hangs up a call whose order was under way', async () => {
    await using bench = diallerBench();
    bench.carrier.dial = async ({ callId }) => {
      expect(await bench.dialler.cancel('default', callId)).toBe(true);
      return { carrierCallId: 'CA1' };
    };
    const { now } = await bench.dial();
    expect(now()).toMatchObject({ disposition: 'cancelled' });
    expect([bench.carrier.hungUp, bench.held.size]).toEqual([['CA1'], 0]);
  });

  it('leaves a call alone that was answered', async () => {
    await using bench = diallerBench();
    const { id } = await bench.dial();
    await bench.dialler.follower.reported(id, report(`CA-${id}`, 'answered'));
    expect(await bench.dialler.cancel('default', id)).toBe(false);
    expect(bench.carrier.hungUp).toEqual([]);
  });
});

describe('a call whose place was given up', () => {
  it.each([
    { why: 'stopping', disposition: 'cancelled' },
    { why: 'hung-up', disposition: 'cancelled' },
    { why: 'process-died', disposition: 'failed' },
    { why: 'no-media', disposition: 'failed' },
  ] as const)('is hung up at its carrier before the dialler closes, and ends as $disposition ($why)', async (given) => {
    await using bench = diallerBench();
    const { id, now } = await bench.dial();
    bench.giveUp(id, given.why);
    await bench.dialler[Symbol.asyncDispose]();
    expect(bench.carrier.hungUp).toEqual([`CA-${id}`]);
    expect(now()).toMatchObject({ state: 'ended', disposition: given.disposition, cause: given.why });
  });

  it('is hung up when its order was under way', async () => {
    await using bench = diallerBench();
    bench.carrier.dial = async ({ callId }) => {
      bench.giveUp(callId, 'stopping');
      for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
      return { carrierCallId: 'CA1' };
    };
    const { now } = await bench.dial();
    expect(now()).toMatchObject({ disposition: 'cancelled', cause: 'stopping' });
    expect(bench.carrier.hungUp).toEqual(['CA1']);
  });
});

describe('reports that never come', () => {
  it('are asked for after the ring timeout', async () => {
    await using bench = diallerBench();
    const { now } = await bench.dial();
    bench.carrier.progress = { state: 'ended', outcome: 'no-answer', cause: '487' };
    await bench.untilEnded(now);
    expect(now()).toMatchObject({ disposition: 'no-answer', cause: '487' });
    expect(bench.clock.wallMs() - NOON_MS).toBeGreaterThanOrEqual(40_000);
  });

  it('end a call that rings on for ever', async () => {
    await using bench = diallerBench();
    const { id, now } = await bench.dial();
    bench.carrier.progress = { state: 'ringing' };
    await bench.untilEnded(now);
    expect(now()).toMatchObject({ disposition: 'no-answer' });
    expect([bench.carrier.hungUp, bench.held.size]).toEqual([[`CA-${id}`], 0]);
  });

  it('are made up for by the record of the call, wherever it was stored', async () => {
    await using bench = diallerBench();
    const { id, now } = await bench.dial();
    await bench.dialler.follower.reported(id, report(`CA-${id}`, 'answered'));
    bench.records.set(id, recordOf(id, { outbound: { answeredBy: 'mailbox', opinions: [], message: 'all', identified: true } }));
    await bench.untilEnded(now);
    expect(now()).toMatchObject({ disposition: 'message-left', answeredBy: 'mailbox' });
  });

  it('fail a call that was answered without any media, until its record comes after all', async () => {
    await using bench = diallerBench();
    const { id, now } = await bench.dial();
    await bench.dialler.follower.reported(id, ended(`CA-${id}`, 'completed'));
    expect(bench.held.size).toBe(0);
    await bench.untilEnded(now);
    expect(now()).toMatchObject({ disposition: 'unknown', cause: 'no-record' });
    await bench.dialler.follower.stored(recordOf(id, { optOut: { kind: 'opt-out', how: 'spoken', atMs: NOON_MS } }));
    expect(now()).toMatchObject({ disposition: 'opt-out' });
  });

  it('are waited for while the store is away', async () => {
    await using bench = diallerBench();
    const { id, now } = await bench.dial();
    bench.attempts.down = new Error('away');
    await expect(bench.dialler.follower.reported(id, ended(`CA-${id}`, 'busy'))).rejects.toThrow('away');
    await bench.until(() => bench.clock.wallMs() > NOON_MS + 120_000);
    bench.attempts.down = undefined;
    bench.carrier.progress = { state: 'ended', outcome: 'busy' };
    await bench.untilEnded(now);
    expect(now()).toMatchObject({ disposition: 'busy' });
  });
});

describe('what a dead process left', () => {
  const left = async (before: (bench: ReturnType<typeof diallerBench>) => Promise<string>) => {
    const dead = diallerBench();
    const id = await before(dead);
    const bench = diallerBench({ attempts: dead.attempts, carrier: dead.carrier, clock: dead.clock });
    return { ...bench, id, now: () => bench.attempts.rows.get(id)?.attempt };
  };

  it('is placed when it was queued', async () => {
    await using bench = await left(async ({ dialler }) => (await dialler.ask([wish()]))[0]?.attempt.id ?? '');
    await bench.until(() => bench.now()?.carrierCallId !== undefined);
    expect(bench.clock.wallMs() - NOON_MS).toBeGreaterThanOrEqual(15_000);
    expect([bench.carrier.orders.length, bench.held.size]).toEqual([1, 1]);
  });

  it('is left to the runner of its campaign when it was queued, and ended when its yes is over', async () => {
    const campaign = { id: 'c1', contactId: 'p1', index: 1 };
    await using bench = await left(async ({ dialler }) => (await dialler.ask([wish({ campaign })]))[0]?.attempt.id ?? '');
    await bench.untilEnded(bench.now);
    expect(bench.now()).toMatchObject({ disposition: 'cancelled', cause: 'expired', contactId: 'p1' });
    expect(bench.carrier.orders).toEqual([]);
  });

  it('is placed when the carrier was not asked yet', async () => {
    await using bench = await left(async ({ dial, carrier }) => {
      const { dial: answer } = carrier;
      carrier.dial = unknown;
      const { id } = await dial();
      carrier.dial = answer;
      carrier.orders.length = 0;
      return id;
    });
    bench.carrier.find = async () => ({ found: 'not-placed' });
    await bench.until(() => bench.now()?.carrierCallId !== undefined);
    expect(bench.carrier.orders).toHaveLength(1);
  });

  it.each(['without an answer to its order', 'while it rang'])(
    'is hung up %s, since nobody would speak to who answers',
    async (when) => {
      await using bench = await left(async ({ dial, carrier, dialler }) => {
        if (when !== 'while it rang') carrier.dial = unknown;
        const { id } = await dial();
        if (when === 'while it rang') await dialler.follower.reported(id, report('CA1', 'ringing'));
        return id;
      });
      bench.carrier.find = async () => ({ found: 'placed', carrierCallId: 'CA1', progress: { state: 'ringing' } });
      bench.carrier.progress = { state: 'ringing' };
      await bench.untilEnded(bench.now);
      expect(bench.now()).toMatchObject({ disposition: 'failed', cause: 'process-died' });
      expect(bench.carrier.orders).toHaveLength(1);
      expect(bench.carrier.hungUp).toHaveLength(1);
    },
  );

  it('is closed by its record when it was answered', async () => {
    await using bench = await left(async ({ dial, dialler }) => {
      const { id } = await dial();
      await dialler.follower.reported(id, report(`CA-${id}`, 'answered'));
      return id;
    });
    bench.carrier.progress = { state: 'ended', outcome: 'completed' };
    await bench.until(() => bench.clock.wallMs() > NOON_MS + 25_000);
    bench.records.set(bench.id, recordOf(bench.id, { endReason: 'process-died' }));
    await bench.untilEnded(bench.now);
    expect(bench.now()).toMatchObject({ disposition: 'failed', cause: 'process-died' });
  });
});

it('hears of its own calls alone', async () => {
  const bench = diallerBench();
  const { id } = await bench.dial();
  const report = { carrier: 'twilio', carrierCallId: `CA-${id}`, progress: { state: 'ringing' } as const };
  expect(await bench.dialler.follower.reported(id, report)).toBe(true);
  expect(await bench.dialler.follower.reported(id, { ...report, carrier: 'vonage' })).toBe(false);
  expect(await bench.dialler.follower.reported('call_other', report)).toBe(false);
});

it('takes no call up once it closes', async () => {
  const bench = diallerBench({ carrier: new ScriptedCarrier() });
  bench.dialler.start();
  const [gated] = await bench.dialler.ask([wish()]);
  await bench.dialler[Symbol.asyncDispose]();
  expect(bench.dialler.hasRoom).toBe(false);
  expect(await bench.dialler.place('default', gated?.attempt.id ?? '')).toBe('no-room');
});

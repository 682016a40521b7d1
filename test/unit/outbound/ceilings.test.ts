import { describe, expect, it } from 'vitest';
import type { LoggedDecision } from '../../../src/outbound/gate/chain.ts';
import type { DialJump } from '../../../src/outbound/gate/facts.ts';
import { DialPrices, DialPricesError } from '../../../src/outbound/prices.ts';
import { Destinations } from '../../../src/config/destinations.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { diallerBench, NOON_MS, wish } from './dialler-bench.ts';
import { MemoryAttempts } from './memory-attempts.ts';

const NO_ALARM = { alarmFactor: Infinity, alarmCalls: Infinity };
const MIDNIGHT_MS = Date.UTC(2026, 2, 4);
const DAY_MS = 86_400_000;
const person = (index: number): string => `+44207946${String(index).padStart(4, '0')}`;
const prices = DialPrices.parse('prefix,per_minute,per_call\n+44,0.02,0.01\n+4420,0.01,\n+4428,5,0\n', 'prices.csv');

describe('the ceilings of a day', () => {
  it('refuse the next call of a tenant by name, until the hours of the next day open', async () => {
    const limits = { callsPerDay: 2, callsPerDayOfKey: 100, ...NO_ALARM };
    const { dialler, attempts } = diallerBench({ gate: { limitsOf: () => limits } });
    const first = await dialler.ask([wish({ to: person(1) }), wish({ to: person(2) }), wish({ to: person(3) })]);
    expect(first.map(({ allowed }) => allowed)).toEqual([true, true, false]);
    expect(first[2]).toMatchObject({
      refusal: {
        refusal: 'ceiling-calls',
        detail: '2 calls of the tenant today, at most 2',
        retryAtMs: MIDNIGHT_MS + 8 * 3_600_000,
      },
      attempt: { disposition: 'refused', cause: 'ceiling-calls' },
    });
    expect(attempts.log.at(-1)?.body).toMatchObject({ refusals: ['ceiling-calls'] });
    expect((await dialler.ask([wish({ to: person(4), tenantId: 'default', askedBy: 'key-2' })]))[0]?.allowed).toBe(false);
  });

  it('refuse the next call of one key, and let another one call', async () => {
    const limits = { callsPerDay: 100, callsPerDayOfKey: 1, ...NO_ALARM };
    const { dialler } = diallerBench({ gate: { limitsOf: () => limits } });
    const ask = async (index: number, askedBy: string) => (await dialler.ask([wish({ to: person(index), askedBy })]))[0];
    expect(await ask(1, 'key-1')).toMatchObject({ allowed: true });
    expect(await ask(2, 'key-1')).toMatchObject({
      refusal: { refusal: 'ceiling-calls', detail: '1 calls of the key or person today, at most 1' },
    });
    expect(await ask(2, 'key-2')).toMatchObject({ allowed: true });
  });

  it('stop a bot whose calls have really cost enough, and say so', async () => {
    const limits = { callsPerDay: 100, callsPerDayOfKey: 100, ...NO_ALARM };
    const spendReached = () => ({ of: 'bot', knownMicros: 12_500_000, mostMicros: 12_000_000 }) as const;
    const { dialler } = diallerBench({ gate: { limitsOf: () => limits, spendReached } });
    expect((await dialler.ask([wish({ to: person(1) })]))[0]).toMatchObject({
      refusal: {
        refusal: 'ceiling-spend',
        detail: "the bot's calls have cost 12.50 today, at most 12.00 (maximumPerDay)",
        retryAtMs: MIDNIGHT_MS + 8 * 3_600_000,
      },
    });
  });

  it('begin anew with the next day of UTC', async () => {
    const limits = { callsPerDay: 1, callsPerDayOfKey: 100, ...NO_ALARM };
    const clock = new ManualClock(0, NOON_MS);
    const { dialler } = diallerBench({ clock, gate: { limitsOf: () => limits } });
    expect((await dialler.ask([wish({ to: person(1) })]))[0]?.allowed).toBe(true);
    expect((await dialler.ask([wish({ to: person(2) })]))[0]?.allowed).toBe(false);
    clock.advance(DAY_MS);
    expect((await dialler.ask([wish({ to: person(2) })]))[0]?.allowed).toBe(true);
  });

  it('hold the estimated cost, and leave a call without a price to the ceiling of calls', async () => {
    const limits = { callsPerDay: 4, callsPerDayOfKey: 100, costPerDay: 0.05, ...NO_ALARM };
    const { dialler, attempts } = diallerBench({
      callerIds: '+442079460001,+12125550100',
      gate: { limitsOf: () => limits, prices, expectedMinutes: 2 },
    });
    const ask = async (index: number) => (await dialler.ask([wish({ to: person(index) })]))[0];
    for (const index of [1, 2]) expect(await ask(index)).toMatchObject({ allowed: true });
    expect(attempts.log.map(({ body }) => (body as LoggedDecision).costMicros)).toEqual([20_000, 20_000]);
    expect(await ask(3)).toMatchObject({
      refusal: {
        refusal: 'ceiling-cost',
        detail: 'the calls of the tenant cost about 0.04 today and this one 0.02, at most 0.05',
      },
    });
    const unpriced = await dialler.ask([wish({ to: '+12127365000', from: '+12125550100', zone: undefined })]);
    // It is morning in New York, and its price is unknown.
    expect(unpriced[0]).toMatchObject({ allowed: false, refusal: { refusals: [{ refusal: 'outside-window' }] } });
  });

  it('count a call-back and a retry of a campaign as any other call', async () => {
    const limits = { callsPerDay: 1, callsPerDayOfKey: 100, ...NO_ALARM };
    const { dialler } = diallerBench({ gate: { limitsOf: () => limits } });
    expect((await dialler.ask([wish({ to: person(1) })]))[0]?.allowed).toBe(true);
    const promised = await dialler.ask([wish({ to: person(2), callBackAtMs: NOON_MS })]);
    expect(promised[0]).toMatchObject({ refusal: { refusal: 'ceiling-calls' } });
    const campaign = { id: 'c', contactId: 'contact_1', index: 2 };
    expect((await dialler.ask([wish({ to: person(3), campaign })]))[0]).toMatchObject({ refusal: { refusal: 'ceiling-calls' } });
  });
});

describe('an unusual day', () => {
  it('is told once, when the calls are many times those of the days before', async () => {
    const told: DialJump[] = [];
    const attempts = new MemoryAttempts();
    const today = Date.UTC(2026, 2, 3);
    for (const [daysAgo, calls] of [
      [1, 2],
      [3, 4],
      [9, 1_000],
    ] as const)
      attempts.days.set(`${today - daysAgo * DAY_MS} `, { calls, costMicros: 0, isTold: false });
    const limits = { callsPerDay: 100, callsPerDayOfKey: 100, alarmFactor: 2, alarmCalls: 5 };
    const { dialler } = diallerBench({ attempts, gate: { limitsOf: () => limits, tellJump: (jump) => void told.push(jump) } });
    for (let index = 1; index <= 6; index += 1) await dialler.ask([wish({ to: person(index) })]);
    expect(told).toEqual([]);
    for (let index = 7; index <= 12; index += 1) await dialler.ask([wish({ to: person(index) })]);
    expect(told).toEqual([{ tenantId: 'default', calls: 7, usual: 3 }]);
  });
});

describe('a destination', () => {
  const home = new Destinations({ home: true, any: false, countries: [], prefixes: [] }, ['+442079460001']);

  it.each([
    { what: 'a satellite phone', to: '+8816123456789', zone: 'Europe/London' },
    { what: 'an expensive country', to: '+2522345678', zone: 'Africa/Mogadishu' },
    { what: 'a premium-rate number', to: '+449012345678', zone: 'Europe/London' },
  ])('is refused by name for $what', async ({ to, zone }) => {
    const { dialler } = diallerBench({ gate: { destinationsOf: () => home } });
    const [gated] = await dialler.ask([wish({ to, zone, zoneAlone: true })]);
    expect(gated?.allowed).toBe(false);
    const refusals = gated?.allowed === false ? gated.refusal.refusals.map(({ refusal }) => refusal) : [];
    expect(refusals).toContain('destination-not-allowed');
  });

  it('is looked at once more when the carrier is asked, as the settings may have changed', async () => {
    let destinations = Destinations.anywhere;
    const bench = diallerBench({ gate: { destinationsOf: () => destinations } });
    const [gated] = await bench.dialler.ask([wish()]);
    if (gated?.allowed !== true) throw new Error('refused');
    destinations = new Destinations({ home: false, any: false, countries: ['IN'], prefixes: [] }, []);
    expect(await bench.dialler.place('default', gated.attempt.id)).toBe('over');
    expect(bench.carrier.orders).toEqual([]);
    expect(bench.attempts.rows.get(gated.attempt.id)?.attempt).toMatchObject({
      disposition: 'cancelled',
      cause: 'destination-not-allowed',
    });
  });
});

describe('the zone that comes with a call', () => {
  // Noon in London is night in Tokyo.
  const tokyo = { to: '+81312345678', zone: 'Europe/London' };

  it('does not set aside the clock of the number', async () => {
    const { dialler } = diallerBench();
    expect((await dialler.ask([wish(tokyo)]))[0]).toMatchObject({ refusal: { refusal: 'outside-window' } });
  });

  it('does so for whoever may choose the rules', async () => {
    const { dialler } = diallerBench();
    expect((await dialler.ask([wish({ ...tokyo, zoneAlone: true })]))[0]?.allowed).toBe(true);
  });

  it('says which of several zones of a number it is', async () => {
    // Australian mobiles may be anywhere there: half past six in Perth, half past nine in Sydney.
    const { dialler } = diallerBench({ clock: new ManualClock(0, Date.UTC(2026, 2, 2, 22, 30)) });
    const ask = async (zone?: string) => (await dialler.ask([wish({ to: '+61412345678', zone })]))[0];
    expect(await ask()).toMatchObject({ refusal: { refusal: 'outside-window' } });
    expect(await ask('Australia/Sydney')).toMatchObject({ allowed: true });
  });
});

describe('a list of prices', () => {
  it('has the price of the longest beginning of a number', () => {
    expect(prices.costMicros('+442079460000', 3)).toBe(30_000);
    expect(prices.costMicros('+441612345678', 3)).toBe(70_000);
    expect(prices.costMicros('+12127365000', 3)).toBeUndefined();
    expect(prices.size).toBe(3);
  });

  it.each([
    ['other columns', 'prefix,price\n+44,1\n', 'line 1'],
    ['a prefix that is none', 'prefix,per_minute,per_call\nUK,1,\n', 'line 2'],
    ['a price below nothing', 'prefix,per_minute,per_call\n+44,-1,\n', 'line 2'],
    ['a price that is no amount', 'prefix,per_minute,per_call\n+44,1,\n+1,1e9,\n', 'line 3'],
  ])('is refused with %s, by its line', (_, csv, line) => {
    expect(() => DialPrices.parse(csv, 'prices.csv')).toThrow(DialPricesError);
    expect(() => DialPrices.parse(csv, 'prices.csv')).toThrow(line);
  });
});

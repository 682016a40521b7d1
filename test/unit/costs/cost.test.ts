import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { Price, PriceList } from '../../../src/config/prices.ts';
import { costOf, knownMicros, totalMicros, withParts } from '../../../src/costs/cost.ts';
import { carriedMinutes, modelVendor, tokenUnits, UsageCount } from '../../../src/costs/usage.ts';

const priced = (price: Pick<Price, 'vendor' | 'unit' | 'price'> & Partial<Price>): Price => ({
  per: 1,
  date: '2026-11-01',
  source: 'a test',
  ...price,
});
const list = (...prices: Price[]): PriceList => ({ currency: 'EUR', prices });

describe('the cost of a call', () => {
  it('adds up as by hand', () => {
    const prices = list(
      priced({ vendor: 'twilio', unit: 'inbound-carrier-minutes', price: 0.01 }),
      priced({ vendor: 'acme', unit: 'recogniser-seconds', price: 0.36, per: 3600 }),
      priced({ vendor: 'acme', unit: 'synthesized-characters', price: 15, per: 1_000_000 }),
      priced({ vendor: 'openai', model: 'small', unit: 'input-text-tokens', price: 0.4, per: 1_000_000 }),
      priced({ vendor: 'openai', model: 'small', unit: 'cached-tokens', price: 0.1, per: 1_000_000 }),
      priced({ vendor: 'openai', unit: 'output-text-tokens', price: 1.6, per: 1_000_000 }),
    );
    const { total, parts, currency } = costOf(
      [
        { vendor: 'twilio', unit: 'inbound-carrier-minutes', amount: 1.383 },
        { vendor: 'acme', unit: 'recogniser-seconds', amount: 80 },
        { vendor: 'acme', unit: 'synthesized-characters', amount: 400 },
        { vendor: 'acme', unit: 'cached-characters', amount: 120 },
        { vendor: 'openai', model: 'small', unit: 'requests', amount: 3 },
        { vendor: 'openai', model: 'small', unit: 'input-text-tokens', amount: 5000 },
        { vendor: 'openai', model: 'small', unit: 'cached-tokens', amount: 2000 },
        { vendor: 'openai', model: 'small', unit: 'output-text-tokens', amount: 1000 },
      ],
      prices,
    );
    // 2 begun minutes 0.02; 80 s 0.008; 400 characters 0.006; cache 0; 5,000 tokens 0.002; 2,000 cached 0.0002; 1,000 out 0.0016
    expect(parts.map(({ unit, amount, cost }) => [unit, amount, cost])).toEqual([
      ['inbound-carrier-minutes', 2, 0.02],
      ['recogniser-seconds', 80, 0.008],
      ['synthesized-characters', 400, 0.006],
      ['cached-characters', 120, 0],
      ['input-text-tokens', 5000, 0.002],
      ['cached-tokens', 2000, 0.0002],
      ['output-text-tokens', 1000, 0.0016],
    ]);
    expect({ total, currency }).toEqual({ total: 0.0378, currency: 'EUR' });
  });

  it('is unknown where a part is, and says what is known', () => {
    const cost = costOf(
      [
        { vendor: 'a', unit: 'recogniser-seconds', amount: 10 },
        { vendor: 'b', unit: 'recogniser-seconds', amount: 10 },
        { vendor: 'c', unit: 'recogniser-seconds', amount: 10 },
      ],
      list(
        priced({ vendor: 'a', unit: 'recogniser-seconds', price: 0.5 }),
        priced({ vendor: 'c', unit: 'recogniser-seconds', price: 'unknown' }),
      ),
    );
    expect(cost).toMatchObject({ total: 'unknown', known: 5 });
    expect(cost.parts.map((part) => part.cost)).toEqual([5, 'unknown', 'unknown']);
    expect([totalMicros(cost), knownMicros(cost)]).toEqual([null, 5_000_000]);
  });

  it('has the cost of an analysis beside the call', () => {
    const prices = list(priced({ vendor: 'm', unit: 'output-text-tokens', price: 1 }));
    const cost = withParts(
      costOf([], prices),
      costOf([{ vendor: 'm', unit: 'output-text-tokens', amount: 2, job: 'analysis' }], prices).parts,
    );
    expect(cost).toMatchObject({ total: 2, known: 2, parts: [{ job: 'analysis', cost: 2 }] });
  });

  test.each([
    { seconds: 60, step: undefined, minutes: 1 },
    { seconds: 61, step: undefined, minutes: 2 },
    { seconds: 61, step: 1, minutes: 61 / 60 },
    { seconds: 61, step: 6, minutes: 66 / 60 },
    { seconds: 0.5, step: 60, minutes: 1 },
  ])('charges $seconds s at a carrier in steps of $step s', ({ seconds, step, minutes }) => {
    const used = carriedMinutes({
      carrier: 'twilio@acme',
      direction: 'outbound',
      answeredAtMs: 1000,
      endedAtMs: 1000 + seconds * 1000,
    });
    const { parts } = costOf(used, list(priced({ vendor: 'twilio', unit: 'outbound-carrier-minutes', price: 1, step })));
    expect(parts[0]?.amount).toBeCloseTo(minutes, 5);
  });

  it('has the price of the longest beginning of the number that was called, and no more of that number', () => {
    const minutes = (price: number, destination?: string): Price =>
      priced({ vendor: 'twilio', unit: 'outbound-carrier-minutes', price, ...(destination !== undefined && { destination }) });
    const prices = list(minutes(1), minutes(3, '+447'), minutes(2, '+44'));
    const call = { carrier: 'twilio', direction: 'outbound', answeredAtMs: 0, endedAtMs: 60_000 } as const;
    const costTo = (to: string | undefined) => costOf(carriedMinutes({ ...call, to }), prices).parts;
    expect(costTo('+447700900123')).toEqual([
      { vendor: 'twilio', unit: 'outbound-carrier-minutes', destination: '+447', amount: 1, price: 3, per: 1, cost: 3 },
    ]);
    expect(['+442079460123', '+15550100', 'sip:desk@example.com', undefined].map((to) => costTo(to)[0]?.cost)).toEqual([
      2, 1, 1, 1,
    ]);
    // An agent of a warm transfer is called at a number of their own.
    const transfers = [{ legId: 'leg_1', to: '+442079460123', answeredAtMs: 0 }];
    expect(costOf(carriedMinutes({ ...call, to: '+15550100', transfers }), prices).known).toBe(3);
    expect(costOf(carriedMinutes({ ...call, to: '+15550100' }), list(minutes(2, '+44'))).total).toBe('unknown');
  });

  it('never loses a known part, whatever the order', () => {
    const part = fc.record({ vendor: fc.constantFrom('a', 'b'), amount: fc.nat(100_000) });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (used) => {
        const usage = used.map((each) => ({ ...each, unit: 'output-text-tokens' }));
        const prices = list(priced({ vendor: 'a', unit: 'output-text-tokens', price: 3, per: 1000 }));
        const [one, other] = [costOf(usage, prices), costOf(usage.toReversed(), prices)];
        expect(one.known).toBeCloseTo(other.known, 6);
        expect(one.total === 'unknown').toBe(used.some(({ vendor }) => vendor === 'b'));
      }),
    );
  });
});

describe('usage', () => {
  it('counts each leg at a carrier by itself', () => {
    const call = { carrier: 'plivo', direction: 'inbound', to: '+15550100', answeredAtMs: 0, endedAtMs: 90_000 } as const;
    const transfers = [{ to: '+15550199', legId: 'leg_1', answeredAtMs: 30_000, endedAtMs: 60_000 }, { answeredAtMs: 70_000 }];
    expect(carriedMinutes({ ...call, transfers })).toEqual([
      { vendor: 'plivo', unit: 'inbound-carrier-minutes', amount: 1.5, calledNumber: '+15550100' },
      { vendor: 'plivo', unit: 'outbound-carrier-minutes', amount: 0.5, calledNumber: '+15550199' },
    ]);
    expect(carriedMinutes({ ...call, answeredAtMs: undefined })).toEqual([]);
  });

  it('counts no token twice', () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: 60, audio_tokens: 10 },
      completion_tokens_details: { audio_tokens: 20 },
    };
    expect(tokenUnits(usage)).toEqual({
      'input-text-tokens': 30,
      'cached-tokens': 60,
      'input-audio-tokens': 10,
      'output-text-tokens': 30,
      'output-audio-tokens': 20,
    });
    expect(tokenUnits({ prompt_tokens: null, completion_tokens: -3 })).toMatchObject({
      'input-text-tokens': 0,
      'output-text-tokens': 0,
    });
  });

  it('adds up by vendor, model and unit, and leaves out what is no amount', () => {
    const count = new UsageCount();
    for (const amount of [1, 2, Number.NaN, -5, 0]) count.add({ vendor: 'a', model: 'm', unit: 'u', amount });
    count.add({ vendor: 'a', unit: 'u', amount: 4 });
    expect(count.all).toEqual([
      { vendor: 'a', model: 'm', unit: 'u', amount: 3 },
      { vendor: 'a', unit: 'u', amount: 4 },
    ]);
  });

  test.each([
    ['https://api.openai.com/v1', 'openai'],
    ['https://acme.openai.azure.com/openai/v1', 'azure'],
    ['http://127.0.0.1:11434/v1', '127.0.0.1:11434'],
  ])('names who serves the models at %s', (address, vendor) => expect(modelVendor(address)).toBe(vendor));
});

import { describe, expect, it } from 'vitest';
import type { SpendRules } from '../../../src/call/control/spend-guard.ts';
import type { CallServices } from '../../../src/call/services.ts';
import type { PricedUnit, PriceList } from '../../../src/config/prices.ts';
import type { SpeechUsage } from '../../../src/speech/port.ts';
import { CallBench } from './call-bench.ts';

const priced = (vendor: string, unit: PricedUnit, price: number): PriceList['prices'][number] => ({
  vendor,
  unit,
  price,
  per: 1,
  date: '2026-11-01',
  source: 'a test',
});
const PRICES: PriceList = {
  currency: 'EUR',
  prices: [
    priced('bench', 'inbound-carrier-minutes', 0),
    priced('acme', 'recogniser-seconds', 1),
    priced('openai', 'output-text-tokens', 0.01),
  ],
};

const rules = (more: Partial<SpendRules> = {}): SpendRules => ({
  prices: PRICES,
  maximumPerCall: undefined,
  dayReached: () => false,
  ...more,
});

/** A bot whose model reports what each answer took. */
async function* answers() {
  yield { type: 'usage', vendor: 'openai', model: 'small', units: { requests: 1 } } as const;
  yield { type: 'say', text: 'Yes?' } as const;
  yield {
    type: 'usage',
    vendor: 'openai',
    model: 'small',
    units: { 'output-text-tokens': 40, 'input-text-tokens': 300 },
  } as const;
}

const having = (services: Partial<CallServices>) => () => services;

describe('what a call costs', () => {
  it('records what its models and speech vendors were asked for', async () => {
    const used: SpeechUsage[] = [{ vendor: 'acme', unit: 'recogniser-seconds', amount: 2.5 }];
    const bench = new CallBench(answers, {}, {}, having({ usedSpeech: () => used }));
    await bench.start(2_000);
    expect((await bench.hangUp('over')).usage).toEqual([
      { vendor: 'acme', unit: 'recogniser-seconds', amount: 2.5 },
      { vendor: 'openai', model: 'small', unit: 'requests', amount: 1 },
      { vendor: 'openai', model: 'small', unit: 'output-text-tokens', amount: 40 },
      { vendor: 'openai', model: 'small', unit: 'input-text-tokens', amount: 300 },
    ]);
  });

  it('names an answer that was cut off before its tokens were reported', async () => {
    async function* cutOff() {
      yield { type: 'usage', vendor: 'openai', model: 'small', units: { requests: 1 } } as const;
      yield { type: 'say', text: 'Well,', more: true } as const;
      await new Promise(() => undefined);
    }
    const bench = new CallBench(cutOff);
    await bench.start();
    expect((await bench.hangUp('over')).usage).toContainEqual({
      vendor: 'openai',
      model: 'small',
      unit: 'unreported-answers',
      amount: 1,
    });
  });
});

describe('a limit of what calls cost', () => {
  it('ends a call that has cost too much, with a goodbye', async () => {
    let heardS = 0;
    const used = (): SpeechUsage[] => [{ vendor: 'acme', unit: 'recogniser-seconds', amount: heardS }];
    const spend = rules({ maximumPerCall: 10 });
    using bench = new CallBench(answers, {}, {}, having({ usedSpeech: used, spend }));
    await bench.start();
    heardS = 9;
    await bench.quiet(4_000);
    expect(bench.session.over).toBe(false);
    heardS = 10;
    await bench.quiet(10_000);
    const record = await bench.session.ended;
    expect(record.endReason).toBe('spend-limit');
    expect(record.sentences.map(({ text }) => text).join(' ')).toMatch(/we have to end the call/u);
  });

  it("takes the bot's own limit, and hands the caller to a person where its list names one", async () => {
    const handed: string[] = [];
    const control = {
      hangUp: async () => undefined,
      sendDigits: async () => undefined,
      transfer: async (_call: unknown, to: string) => void handed.push(to),
    };
    const own = { maximumPerCall: 0.3, whenReached: [{ kind: 'transfer', to: '+14155550123' }] } as const;
    using bench = new CallBench(
      answers,
      { spend: { ...own, whenReached: [...own.whenReached] } },
      {},
      having({ spend: rules({ maximumPerCall: 100 }) }),
    );
    bench.control = control;
    await bench.start(12_000);
    expect(handed).toEqual(['+14155550123']);
  });

  it('lets no caller begin once the day has cost too much, but goes on with calls that were there', async () => {
    let reached = false;
    const spend = rules({ dayReached: () => reached });
    using bench = new CallBench(answers, {}, {}, having({ spend }));
    await bench.start();
    reached = true;
    await bench.quiet(4_000);
    expect(bench.session.over).toBe(false);
    using late = new CallBench(answers, {}, {}, having({ spend }));
    await late.start(10_000);
    expect((await late.session.ended).endReason).toBe('spend-limit');
  });
});

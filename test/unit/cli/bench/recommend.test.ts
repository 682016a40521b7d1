import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BenchStep, judge, recommend, settingFor, stepsUpTo } from '../../../../src/cli/bench/recommend.ts';

const fine: BenchStep = {
  calls: 100,
  cpu: 0.3,
  loopBusy: 0.25,
  loopP99Ms: 4,
  rssMb: 150,
  holes: 0,
  lost: 0,
  turnP50Ms: 700,
  turnP99Ms: 720,
  callersLateP99Ms: 2,
  callersBusy: 0.2,
};
const kinds = {
  fine: {},
  busy: { loopBusy: 0.71 },
  late: { loopP99Ms: 21 },
  torn: { holes: 1 },
  lossy: { lost: 1 },
  slowCallers: { callersLateP99Ms: 21 },
  busyCallers: { callersBusy: 0.9 },
} as const satisfies Readonly<Record<string, Partial<BenchStep>>>;
type Kind = keyof typeof kinds;

const steps = (...names: readonly Kind[]): BenchStep[] =>
  names.map((name, at) => ({ ...fine, ...kinds[name], calls: 100 * (at + 1) }));

describe('recommend', () => {
  it('recommends the largest number of calls that was carried', () => {
    expect(recommend(steps('fine', 'fine', 'busy'))).toEqual({ maximum: 200, limitFound: true });
    expect(recommend(steps('fine', 'fine'))).toEqual({ maximum: 200, limitFound: false });
    expect(recommend(steps('torn'))).toEqual({ maximum: null, limitFound: true });
  });

  it('sets the limit of all processes together, each like the measured one', () => {
    expect(settingFor(120, 1)).toEqual({ key: 'call.maximum', environment: 'OFFHOOK_CALL__MAXIMUM=120', value: 120 });
    expect(settingFor(120, 4)?.value).toBe(480);
    expect(settingFor(null, 4)).toBeNull();
  });

  it('does not blame the gateway for callers who could not keep up', () => {
    expect(recommend(steps('fine', 'slowCallers'))).toEqual({ maximum: 100, limitFound: false });
    expect(judge(steps('busyCallers')[0]!)).toEqual({
      faults: [],
      void: ["the callers' process was busy 90 % of the time"],
    });
  });

  it('never recommends a failed number, nor one above a failed step', () => {
    const names = fc.array(fc.constantFrom(...(Object.keys(kinds) as Kind[])), { maxLength: 8 });
    fc.assert(
      fc.property(names, (order) => {
        const run = steps(...order);
        const { maximum } = recommend(run);
        const borne = order.findIndex((name) => name !== 'fine');
        const most = borne === -1 ? order.length : borne;
        expect(maximum).toBe(most === 0 ? null : 100 * most);
      }),
    );
  });
});

describe('stepsUpTo', () => {
  it('rises without repeating to the most calls', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), (most) => {
        const run = stepsUpTo(most);
        expect(run.at(-1)).toBe(most);
        expect(run.length).toBeLessThanOrEqual(4);
        for (const [at, calls] of run.entries()) expect(calls).toBeGreaterThan(run[at - 1] ?? 0);
      }),
    );
  });
});

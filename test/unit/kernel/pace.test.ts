import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { paceStarts, startsBefore } from '../../../src/kernel/pace.ts';

describe('paceStarts', () => {
  it('lets a start wait for all of its keys', () => {
    const free = new Map([['account', 150]]);
    const account = { key: 'account', intervalMs: 100 };
    const line = { key: 'line', intervalMs: 500 };
    expect(paceStarts([[account], [account, line], [account, line]], free, 100)).toEqual([150, 250, 750]);
    expect(free).toEqual(
      new Map([
        ['account', 850],
        ['line', 1250],
      ]),
    );
  });

  it('gives no key more than its rate in any time, however it is asked', () => {
    const key = fc.record({ key: fc.constantFrom('a', 'b', 'c'), intervalMs: fc.integer({ min: 1, max: 1000 }) });
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            fc.integer({ min: 0, max: 3000 }),
            fc.array(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }), { maxLength: 20 }),
          ),
          {
            maxLength: 20,
          },
        ),
        fc.uniqueArray(key, { selector: (each) => each.key, minLength: 3, maxLength: 3 }),
        (asks, keys) => {
          const free = new Map<string, number>();
          const startsOf = new Map<string, number[]>(keys.map((each) => [each.key, []]));
          let nowMs = 0;
          for (const [waitMs, calls] of asks) {
            nowMs += waitMs;
            const wanted = calls.map((names) => keys.filter((each) => names.includes(each.key)));
            const starts = paceStarts(wanted, free, nowMs);
            for (const [index, startMs] of starts.entries()) {
              expect(startMs).toBeGreaterThanOrEqual(nowMs);
              for (const { key: name } of wanted[index] ?? []) startsOf.get(name)?.push(startMs);
            }
          }
          for (const { key: name, intervalMs } of keys) {
            const starts = startsOf.get(name) ?? [];
            const apart = starts.slice(1).map((startMs, index) => startMs - (starts[index] ?? 0));
            expect(apart.every((each) => each >= intervalMs)).toBe(true);
          }
        },
      ),
    );
  });

  it('says beforehand how many starts there will be', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 5000 }),
        fc.integer({ min: 0, max: 5000 }),
        fc.integer({ min: 1, max: 700 }),
        (freeAtMs, aheadMs, intervalMs) => {
          const [nowMs, key] = [1000, { key: 'k', intervalMs }];
          const said = startsBefore(nowMs + aheadMs, nowMs, freeAtMs, intervalMs);
          const many = Array.from({ length: said + 1 }, () => [key]);
          const starts = paceStarts(many, new Map([['k', freeAtMs]]), nowMs);
          expect(starts.filter((startMs) => startMs < nowMs + aheadMs)).toHaveLength(said);
        },
      ),
    );
  });
});

it('gives a key that makes up its rate on average, though another delays its starts', () => {
  const account = { key: 'account', intervalMs: 100 };
  const share = { key: 'share', intervalMs: 200, makesUp: true } as const;
  const free = new Map<string, number>();
  const starts = paceStarts([[account], [account], [share, account], [account], [share, account], [share, account]], free, 0);
  expect(starts).toEqual([0, 100, 200, 300, 400, 500]);
  expect(free.get('share')).toBe(600);
});

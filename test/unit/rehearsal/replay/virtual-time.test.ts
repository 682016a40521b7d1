import fc from 'fast-check';
import { expect, it } from 'vitest';
import { StimulusGate } from '../../../../src/rehearsal/replay/stimulus-gate.ts';
import { VirtualTime } from '../../../../src/rehearsal/replay/virtual-time.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

it('does what is due in the order of time, then of its place, then of when it was set', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ atMs: fc.nat(50), order: fc.option(fc.nat(9), { nil: undefined }) }), { maxLength: 60 }),
      async (wanted) => {
        const time = new VirtualTime(0, 0);
        const done: number[] = [];
        wanted.forEach(({ atMs, order }, index) =>
          time.at(atMs, order, () => {
            expect(time.nowMs()).toBe(atMs);
            done.push(index);
          }),
        );
        await time.run(1_000, () => false);
        const place = (index: number): number => wanted[index]!.order ?? 100;
        const expected = wanted
          .map((_, index) => index)
          .sort((a, b) => wanted[a]!.atMs - wanted[b]!.atMs || place(a) - place(b) || a - b);
        // What has the same moment and the same place is in no order.
        const key = (index: number): string => `${wanted[index]!.atMs}.${place(index)}`;
        expect(done.map(key)).toEqual(expected.map(key));
        expect([...done].sort((a, b) => a - b)).toEqual([...expected].sort((a, b) => a - b));
      },
    ),
    { numRuns: 40 },
  );
});

it('lets what one thing sets off run to its end before the next, and stops where it is told', async () => {
  const time = new VirtualTime(100, 5_000);
  const done: string[] = [];
  time.after(10, () => {
    void (async () => {
      for (let turn = 0; turn < 40; turn += 1) await Promise.resolve();
      done.push(`chain at ${time.nowMs()}`);
    })();
  });
  time.after(10, () => done.push('second'));
  time.after(20, () => done.push('cancelled')).cancel();
  time.after(30, () => done.push(`late, wall ${time.wallMs()}`));
  time.after(900, () => done.push('never'));
  await time.run(500, () => false);
  expect(done).toEqual(['chain at 110', 'second', 'late, wall 5030']);
});

it('gives everything that comes in a moment of its own, in whole milliseconds, and keeps the order of what waits', async () => {
  const clock = new ManualClock(10.7);
  const gate = new StimulusGate(clock);
  const seen: string[] = [];
  const passing = ['a', 'b', 'c'].map(async (name) => {
    await gate.pass();
    seen.push(`${name} at ${gate.nowMs}`);
    await Promise.resolve();
    await Promise.resolve();
    seen.push(`${name} is done`);
  });
  clock.advance(5.6);
  gate.let(() => {
    seen.push(`frame at ${gate.nowMs}`);
    gate.let(() => seen.push('nested'));
  });
  await Promise.all(passing);
  await gate.pass();
  await gate.pass();
  expect(seen.filter((line) => !line.endsWith('done'))).toEqual(['a at 10', 'b at 16', 'c at 16', 'frame at 16', 'nested']);
  expect(seen.indexOf('frame at 16')).toBeLessThan(seen.indexOf('nested'));
  const waited = seen.filter((line) => /^[abc] /u.test(line)).map((line) => line[0]);
  expect(waited).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
});

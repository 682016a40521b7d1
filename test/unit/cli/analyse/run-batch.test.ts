import { describe, expect, it, test } from 'vitest';
import { BatchProgress, progressLine } from '../../../../src/cli/analyse/run-batch.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

describe('progressLine', () => {
  test.each([
    [{ done: 0, skipped: 0, failed: 0, total: undefined }, 0, '0'],
    [
      { done: 240, skipped: 7, failed: 3, total: 1000 },
      12.5,
      '[######..................]  25 % 250 of 1000, 7 skipped, 3 failed, 13 a minute, 60 min left',
    ],
    [{ done: 1, skipped: 0, failed: 0, total: 2 }, 2, '[############............]  50 % 1 of 2, 2.0 a minute, 30 s left'],
    [
      { done: 100, skipped: 0, failed: 0, total: 100_000 },
      100,
      '[........................]   0 % 100 of 100000, 100 a minute, 16 h 39 min left',
    ],
  ])('tells of %o at %d a minute', (counts, perMinute, line) => {
    expect(progressLine(counts, perMinute)).toBe(line);
  });

  it('is written every ten seconds without a terminal, with the rate of the last two minutes', () => {
    const clock = new ManualClock();
    const lines: string[] = [];
    let done = 0;
    const stream = { isTTY: false as never, write: (text: string) => lines.push(text) > 0 };
    using _progress = new BatchProgress(clock, () => ({ done, skipped: 0, failed: 0, total: 100 }), stream);
    clock.advance(10_000);
    done = 10;
    clock.advance(10_000);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain('30 a minute, 3 min left');
    clock.advance(300_000);
    expect(lines.at(-1)).not.toContain('a minute');
  });
});

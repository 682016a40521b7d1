import { describe, expect, it } from 'vitest';
import { MarkPatience } from '../../../../src/call/outbound/sent-marks.ts';

describe('waiting for marks', () => {
  it('takes a second and a half, and less once one was lost', () => {
    const patience = new MarkPatience('native');
    expect(patience.isLost(1_000, 2_499)).toBe(false);
    expect(patience.isLost(1_000, 2_500)).toBe(true);
    expect(patience.isLost(5_000, 5_299)).toBe(false);
    expect(patience.isLost(5_000, 5_300)).toBe(true);
  });

  it('takes less where a clear came while one was overdue', () => {
    const patience = new MarkPatience('native');
    patience.cleared(undefined, 1_000);
    patience.cleared(1_000, 1_200);
    expect(patience.isLost(2_000, 2_400)).toBe(false);
    patience.cleared(2_000, 2_400);
    expect(patience.isLost(5_000, 5_300)).toBe(true);
  });

  it('takes its time again where marks come back in time, and not where one comes under the turn of another', () => {
    const patience = new MarkPatience('native');
    expect(patience.isLost(0, 1_500)).toBe(true);
    patience.returned(2_000, 2_450);
    patience.returned(2_500, 2_600);
    expect(patience.isLost(3_000, 3_300)).toBe(true);
    for (const dueMs of [4_000, 4_500, 5_000]) patience.returned(dueMs, dueMs + 100);
    expect(patience.isLost(5_500, 5_900)).toBe(false);
  });

  it('is over once three in a row were lost, until some come back in time', () => {
    const patience = new MarkPatience('native');
    for (const dueMs of [0, 2_000, 3_000]) expect(patience.isLost(dueMs, dueMs + 1_500)).toBe(true);
    expect(patience.hasGivenUp).toBe(true);
    expect(patience.isLost(4_000, 4_000)).toBe(true);
    // Two seconds late is no proof of anything in time.
    patience.returned(4_000, 6_000);
    expect(patience.hasGivenUp).toBe(true);
    for (const dueMs of [7_000, 7_500, 8_000]) patience.returned(dueMs, dueMs + 60);
    expect(patience.hasGivenUp).toBe(false);
  });

  it('is over where every second mark is lost', () => {
    const patience = new MarkPatience('native');
    const waitedMs: number[] = [];
    for (let dueMs = 0; dueMs < 40_000; dueMs += 4_000) {
      waitedMs.push([0, 300, 1_500].find((ms) => patience.isLost(dueMs, dueMs + ms)) ?? Number.NaN);
      patience.returned(dueMs + 2_000, dueMs + 2_060);
    }
    expect(waitedMs.slice(0, 2)).toEqual([1_500, 300]);
    expect(waitedMs.at(-1)).toBeLessThan(1_500);
  });

  it('is over at the second mark of another name where none of ours came back', () => {
    const patience = new MarkPatience('native');
    patience.foreign();
    expect(patience.hasGivenUp).toBe(false);
    patience.foreign();
    expect(patience.hasGivenUp).toBe(true);
    const fine = new MarkPatience('native');
    fine.returned(0, 20);
    for (let more = 0; more < 5; more += 1) fine.foreign();
    expect(fine.hasGivenUp).toBe(false);
  });

  it('takes no time where a carrier has none', () => {
    expect(new MarkPatience('none').isLost(1_000, 1_000)).toBe(true);
  });
});

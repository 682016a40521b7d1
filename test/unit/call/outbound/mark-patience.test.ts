import { describe, expect, it } from 'vitest';
import { MarkPatience } from '../../../../src/call/outbound/mark-patience.ts';

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

  it('takes its time again where a mark comes back in time, and not where it comes under the turn of another', () => {
    const patience = new MarkPatience('native');
    expect(patience.isLost(0, 1_500)).toBe(true);
    patience.returned(2_000, 2_450);
    expect(patience.isLost(3_000, 3_300)).toBe(true);
    patience.returned(4_000, 4_100);
    expect(patience.isLost(5_000, 5_400)).toBe(false);
  });

  it('takes no time where a carrier has none', () => {
    expect(new MarkPatience('none').isLost(1_000, 1_000)).toBe(true);
  });
});

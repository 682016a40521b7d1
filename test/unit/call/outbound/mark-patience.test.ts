import { describe, expect, it } from 'vitest';
import { MarkPatience } from '../../../../src/call/outbound/mark-patience.ts';

const mark = (name: string, dueMs: number) => ({ name, dueMs });

describe('waiting for marks', () => {
  it('takes a second and a half, and less once one was lost', () => {
    const patience = new MarkPatience('native');
    expect(patience.isLost(mark('a', 1_000), 2_499)).toBe(false);
    expect(patience.isLost(mark('a', 1_000), 2_500)).toBe(true);
    expect(patience.isLost(mark('b', 5_000), 5_299)).toBe(false);
    expect(patience.isLost(mark('b', 5_000), 5_300)).toBe(true);
  });

  it('takes its time again where a mark comes back, even one that was given up too soon', () => {
    const patience = new MarkPatience('native');
    expect(patience.isLost(mark('a', 0), 1_500)).toBe(true);
    patience.returned('b', true, 1_600);
    expect(patience.isLost(mark('c', 2_000), 2_400)).toBe(false);
    expect(patience.isLost(mark('c', 2_000), 3_500)).toBe(true);
    expect(patience.isLost(mark('d', 4_000), 4_300)).toBe(true);
    patience.returned('d', false, 4_500);
    expect(patience.isLost(mark('e', 6_000), 6_300)).toBe(false);
  });

  it('stays short where marks come back under names of earlier sentences', () => {
    const patience = new MarkPatience('native');
    expect(patience.isLost(mark('a', 0), 1_500)).toBe(true);
    patience.returned('a', false, 4_000);
    patience.returned('of-an-older-clear', false, 4_000);
    expect(patience.isLost(mark('b', 5_000), 5_300)).toBe(true);
  });

  it('takes no time where a carrier has none', () => {
    expect(new MarkPatience('none').isLost(mark('a', 1_000), 1_000)).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { joinSamples } from '../../../src/audio/samples.ts';

describe('joined samples', () => {
  it('stand one part after another', () => {
    const parts = [Int16Array.of(1, 2), new Int16Array(), Int16Array.of(-3)];
    expect(joinSamples(parts)).toEqual(Int16Array.of(1, 2, -3));
  });

  it('share no memory with a part', () => {
    const part = Int16Array.of(1);
    const joined = joinSamples([part]);
    part[0] = 2;
    expect(joined).toEqual(Int16Array.of(1));
  });

  it('of no parts are none', () => {
    expect(joinSamples([])).toHaveLength(0);
  });
});

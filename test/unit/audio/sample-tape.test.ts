import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMulaw } from '../../../src/audio/g711.ts';
import { SampleTape } from '../../../src/audio/samples.ts';
import { thorough } from '../../support/thorough.ts';

/** Far from the samples of any other step, and all over the range. */
function part(seed: number, length: number, isMulaw: boolean): Int16Array {
  if (isMulaw) return decodeMulaw(Uint8Array.from({ length }, (_, at) => (seed * 31 + at * 7) & 0xff));
  return Int16Array.from({ length }, (_, at) => ((seed * 7_919 + at * 104_729) << 16) >> 16);
}

const step = fc.record({
  length: fc.oneof(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 3_000, max: 13_000 })),
  isMulaw: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  /** How much is kept after it. */
  kept: fc.integer({ min: 0, max: 20_000 }),
});

describe('a tape of samples', () => {
  it('returns all samples not dropped, mu-law or not, while other tapes share its blocks', () => {
    fc.assert(
      fc.property(fc.array(fc.array(step, { maxLength: 12 }), { minLength: 2, maxLength: 3 }), (lines) => {
        const tapes = lines.map(() => ({ tape: new SampleTape(), all: [] as number[], from: 0 }));
        for (let round = 0; round < 12; round += 1)
          for (const [line, { tape, all }] of tapes.entries()) {
            const given = lines[line]![round];
            if (given === undefined) continue;
            const pcm = part(line * 100 + round, given.length, given.isMulaw);
            tape.append(pcm);
            all.push(...pcm);
            expect(tape.end).toBe(all.length);
            const from = Math.max(tapes[line]!.from, all.length - given.kept);
            tape.forgetBefore(from);
            tapes[line]!.from = from;
            for (const other of tapes)
              expect(other.tape.copy(other.from, other.all.length - other.from)).toEqual(
                Int16Array.from(other.all.slice(other.from)),
              );
          }
        for (const { tape } of tapes) tape.close();
      }),
      { numRuns: thorough(20, 60) },
    );
  });

  it('reuses the memory of dropped samples', () => {
    const tape = new SampleTape();
    const line = new Int16Array(8_000);
    for (let second = 0; second < 10; second += 1) {
      tape.append(line);
      tape.forgetBefore(tape.end);
    }
    const before = process.memoryUsage().arrayBuffers;
    for (let second = 0; second < 600; second += 1) {
      tape.append(line);
      tape.forgetBefore(tape.end);
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
    tape.close();
  });
});

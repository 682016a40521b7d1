import fc from 'fast-check';
import { expect, it, describe } from 'vitest';
import { cutFrames, joinSamples, SampleRing, SampleTape } from '../../../src/audio/samples.ts';
import { decodeMulaw } from '../../../src/audio/g711.ts';
import { thorough } from '../../support/thorough.ts';

it('loses and reorders no byte for any chunking and frame size', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 700 })), fc.integer({ min: 1, max: 400 }), (chunks, frameBytes) => {
      let pending = new Uint8Array();
      const frames: Uint8Array[] = [];
      for (const chunk of chunks) {
        const given = Uint8Array.from(chunk);
        const cut = cutFrames(pending, given, frameBytes);
        // The caller may use its buffer again at once.
        given.fill(0);
        frames.push(...cut.frames);
        pending = Uint8Array.from(cut.pending);
        expect(pending.length).toBeLessThan(frameBytes);
      }
      for (const frame of frames) expect(frame).toHaveLength(frameBytes);
      const joined = [...frames, pending].flatMap((part) => [...part]);
      expect(joined).toEqual(chunks.flatMap((chunk) => [...chunk]));
    }),
  );
});

it('refuses a frame of no bytes', () => {
  expect(() => cutFrames(new Uint8Array(), new Uint8Array(5), 0)).toThrow(RangeError);
});

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

const mulaw = fc.uint8Array({ maxLength: 100 }).map((codes) => decodeMulaw(codes));
const anything = fc.int16Array({ maxLength: 100 });

it('gives back every sample as it was, mu-law or not, over the ring’s end', () => {
  const parts = fc.array(fc.oneof({ weight: 8, arbitrary: mulaw }, { weight: 1, arbitrary: anything }), { maxLength: 20 });
  fc.assert(
    fc.property(parts, fc.integer({ min: 100, max: 300 }), (given, capacity) => {
      const ring = new SampleRing(capacity);
      const all: number[] = [];
      for (const part of given) {
        ring.put(all.length, part);
        all.push(...part);
        const kept = new Int16Array(Math.min(all.length, capacity));
        ring.read(all.length - kept.length, kept);
        expect([...kept]).toEqual(all.slice(all.length - kept.length));
      }
    }),
    { numRuns: 300 },
  );
});

it('is silent in the given range, also across its end, and nowhere else', () => {
  fc.assert(
    fc.property(fc.boolean(), fc.nat({ max: 299 }), fc.nat({ max: 100 }), (isMulaw, from, count) => {
      const ring = new SampleRing(100);
      const given = isMulaw ? decodeMulaw(new Uint8Array(100).fill(0x20)) : new Int16Array(100).fill(4_001);
      ring.put(200, given);
      ring.silence(from, count);
      const silent = new Set(Array.from({ length: count }, (_, at) => (from + at) % 100));
      const target = new Int16Array(100);
      ring.read(200, target);
      expect([...target]).toEqual([...given].map((sample, at) => (silent.has(at) ? 0 : sample)));
    }),
  );
});

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

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeMulaw } from '../../../src/audio/g711.ts';
import { SampleRing } from '../../../src/audio/samples.ts';

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

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeMulaw } from '../../../../src/audio/g711.ts';
import { SampleRing } from '../../../../src/speech/asr/sample-ring.ts';

const mulaw = fc.uint8Array({ maxLength: 100 }).map((codes) => decodeMulaw(codes));
const anything = fc.int16Array({ maxLength: 100 });

it('gives back every sample as it was, mu-law or not, over the ring’s end and after it was resized', () => {
  const parts = fc.array(fc.oneof({ weight: 8, arbitrary: mulaw }, { weight: 1, arbitrary: anything }), { maxLength: 20 });
  const capacities = fc.array(fc.integer({ min: 100, max: 300 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(parts, capacities, (given, sizes) => {
      const ring = new SampleRing(sizes[0]!);
      const all: number[] = [];
      for (const [index, part] of given.entries()) {
        ring.put(all.length, part);
        all.push(...part);
        const capacity = sizes[index % sizes.length]!;
        const kept = Math.min(all.length, capacity, ring.capacity);
        expect([...ring.copy(all.length - kept, kept)]).toEqual(all.slice(all.length - kept));
        ring.resize(capacity, all.length - kept, kept);
        expect([...ring.copy(all.length - kept, kept)]).toEqual(all.slice(all.length - kept));
      }
    }),
    { numRuns: 300 },
  );
});

import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { joinSamples } from '../../../../src/audio/samples.ts';
import { AudioBlocks } from '../../../../src/call/outbound/playout-unit.ts';

const part = fc.integer({ min: 0, max: 9_500 }).map((length) => Int16Array.from({ length }, (_, at) => (at * 31 + length) % 251));
/** Buffers are compared many times faster than arrays. */
function same(one: Int16Array, other: Int16Array): boolean {
  return Buffer.compare(Buffer.from(one.slice().buffer), Buffer.from(other.slice().buffer)) === 0;
}

const step = fc.oneof(
  fc.record({ do: fc.constant('append' as const), part }),
  fc.record({ do: fc.constant('write' as const), part, at: fc.nat(30_000) }),
  fc.record({ do: fc.constant('truncate' as const), at: fc.nat(30_000) }),
);

it('holds what one array would hold, wherever it is cut, changed and looked at', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), fc.nat(30_000), fc.nat(9_000), (steps, from, count) => {
      const blocks = new AudioBlocks();
      let whole: Int16Array = new Int16Array();
      for (const change of steps) {
        if (change.do === 'append') {
          blocks.append(change.part);
          whole = joinSamples([whole, change.part]);
        } else if (change.do === 'write') {
          const at = Math.min(change.at, whole.length);
          const fitting = change.part.subarray(0, whole.length - at);
          blocks.write(at, fitting);
          whole.set(fitting, at);
        } else {
          const length = Math.min(change.at, whole.length);
          blocks.truncate(length);
          whole = whole.slice(0, length);
        }
      }
      expect(blocks.length).toBe(whole.length);
      const start = Math.min(from, whole.length);
      expect(same(blocks.between(start, start + count), whole.subarray(start, start + count))).toBe(true);
      expect(same(blocks.between(0, whole.length), whole)).toBe(true);
    }),
  );
});

it('keeps a copy of what it is given', () => {
  const blocks = new AudioBlocks();
  const given = Int16Array.of(1, 2, 3);
  blocks.append(given);
  given.fill(9);
  expect([...blocks.between(0, 3)]).toEqual([1, 2, 3]);
});

it('lets go of its beginning, and keeps the places of the rest', () => {
  const blocks = new AudioBlocks();
  const audio = Int16Array.from({ length: 9_000 }, (_, at) => at % 251);
  blocks.append(audio);
  blocks.forgetBefore(8_500);
  expect(blocks.start).toBe(8_000);
  blocks.forgetBefore(4_100);
  expect([blocks.start, blocks.length]).toEqual([8_000, 9_000]);
  blocks.append(audio);
  expect(same(blocks.between(8_000, 18_000), joinSamples([audio.subarray(8_000), audio]))).toBe(true);
});

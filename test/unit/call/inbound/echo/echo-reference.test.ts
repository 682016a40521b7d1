import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EchoReference } from '../../../../../src/call/inbound/echo/line-clock.ts';
import { thorough } from '../../../../support/thorough.ts';

/** Samples that the ring holds. */
const SIZE = 32_768;

const length = fc.integer({ min: 0, max: SIZE + 2_000 });
const act = fc.oneof(
  fc.record({ type: fc.constant('append' as const), length }),
  // Relative to the end of what was played.
  fc.record({ type: fc.constant('put' as const), length, by: fc.integer({ min: -4_000, max: SIZE + 4_000 }) }),
  fc.record({ type: fc.constant('silence' as const), by: fc.integer({ min: -4_000, max: 500 }) }),
  fc.record({
    type: fc.constant('copy' as const),
    length: fc.integer({ min: 1, max: 9_000 }),
    by: fc.integer({ min: -4_000, max: 500 }),
  }),
);

it('gives back what was played, whatever was put where, over the edge of its ring', () => {
  fc.assert(
    fc.property(fc.array(act, { minLength: 1, maxLength: 14 }), (acts) => {
      const reference = new EchoReference();
      let played: number[] = [];
      let next = 0;
      const sound = (count: number): Int16Array => Int16Array.from({ length: count }, () => (next = (next + 1) % 30_011));
      const reach = (end: number): void => {
        while (played.length < end) played.push(0);
      };
      for (const step of acts) {
        const at = 'by' in step ? Math.max(0, played.length + step.by) : 0;
        if (step.type === 'append') {
          const pcm = sound(step.length);
          reference.append(pcm);
          played = [...played, ...pcm];
        } else if (step.type === 'put') {
          const pcm = sound(step.length);
          reference.put(pcm, at);
          reach(at);
          played = [...played.slice(0, at), ...pcm];
        } else if (step.type === 'silence') {
          reference.silenceFrom(at);
          played = played.slice(0, Math.max(at, 0));
        } else {
          const out = new Int16Array(step.length).fill(-1);
          reference.copyBefore(at, out);
          reach(at);
          const expected = Int16Array.from(out, (_, index) => played[at - out.length + index] ?? 0);
          expect(Buffer.compare(new Uint8Array(out.buffer), new Uint8Array(expected.buffer))).toBe(0);
        }
      }
    }),
    { numRuns: thorough(20, 60) },
  );
});

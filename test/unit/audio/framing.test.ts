import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cutFrames } from '../../../src/audio/samples.ts';

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

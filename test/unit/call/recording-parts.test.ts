import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SampleClock } from '../../../src/call/recording/sample-clock.ts';
import { StereoWindow } from '../../../src/call/recording/stereo-window.ts';

describe('the stereo window', () => {
  it('interleaves caller and bot where they stand, with silence where nothing was put', () => {
    const window = new StereoWindow(10);
    window.put('left', 0, Int16Array.of(1, 2));
    window.put('right', 1, Int16Array.of(7, 8));
    expect([...window.take(4)]).toEqual([1, 0, 2, 7, 0, 8, 0, 0]);
    expect(window.startSample).toBe(4);
  });

  it('counts what comes too late or too early, and keeps the rest', () => {
    const window = new StereoWindow(4);
    window.take(2);
    window.put('left', 0, Int16Array.of(1, 2, 3, 4, 5, 6, 7, 8));
    expect([...window.take(6)].filter((_, index) => index % 2 === 0)).toEqual([3, 4, 5, 6]);
    expect(window.droppedSamples).toBe(4);
  });

  it('silences a channel from a moment on', () => {
    const window = new StereoWindow(8);
    window.put('right', 0, Int16Array.of(1, 2, 3, 4));
    window.silenceFrom('right', 2);
    expect([...window.take(4)].filter((_, index) => index % 2 === 1)).toEqual([1, 2, 0, 0]);
  });

  it('gives back every sample once and in order, however it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 30 }), (sizes) => {
        const window = new StereoWindow(64);
        const out: number[] = [];
        let at = 0;
        for (const size of sizes) {
          window.put(
            'left',
            at,
            Int16Array.from({ length: size }, (_, index) => at + index + 1),
          );
          at += size;
          out.push(...[...window.take(at)].filter((_, index) => index % 2 === 0));
        }
        expect(out).toEqual(Array.from({ length: at }, (_, index) => index + 1));
      }),
    );
  });
});

describe('the sample clock', () => {
  it('puts the bot where the caller was at the same moment, whatever the network added', () => {
    const clock = new SampleClock();
    clock.attach(0, 102, 5_000);
    for (let frame = 1; frame < 200; frame += 1) clock.observe(102 + frame * 20, 5_000 + frame * 20 + (frame % 7) * 4);
    expect(clock.position(102 + 2_000)).toBe(2_000);
    expect(clock.positionAt(7_000)).toBe(2_000);
  });

  it('follows a carrier whose clock runs slow', () => {
    const clock = new SampleClock();
    clock.attach(0, 0, 0);
    const skew = 1.0001;
    for (let frame = 1; frame <= 30_000; frame += 1) clock.observe(frame * 20, frame * 20 * skew);
    const nowMs = 30_000 * 20 * skew;
    expect(Math.abs((clock.positionAt(nowMs) ?? 0) - 30_000 * 20)).toBeLessThan(5);
  });

  it('goes on from the right place after a new socket', () => {
    const clock = new SampleClock();
    clock.attach(0, 0, 1_000);
    clock.observe(500, 1_500);
    clock.attach(clock.positionAt(2_500) ?? 0, 102, 2_500);
    expect(clock.position(102)).toBe(1_500);
    expect(clock.positionAt(2_600)).toBe(1_600);
  });
});

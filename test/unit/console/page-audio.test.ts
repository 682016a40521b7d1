import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameCutter, levelOf } from '../../../src/console/audio/frame-cutter.ts';
import { LIVE_TARGET_MS, type PlayoutOptions, PlayoutQueue } from '../../../src/console/audio/playout-queue.ts';

const BLOCK = 128;
const AHEAD: PlayoutOptions = { rateHz: 16_000, outRateHz: 16_000, channels: 1, arrival: 'ahead' };
const LIVE: PlayoutOptions = { ...AHEAD, arrival: 'live' };

/** Plays so many ms. */
function play(queue: PlayoutQueue, ms: number, { outRateHz = 16_000, channels = 1 } = {}) {
  const sound: number[] = [];
  const marks: string[] = [];
  for (let at = 0; at < (ms * outRateHz) / 1000; at += BLOCK) {
    const outputs = Array.from({ length: channels }, () => new Float32Array(BLOCK));
    marks.push(...queue.render(outputs));
    sound.push(...(outputs[channels - 1] ?? []));
  }
  return { sound, marks };
}

const ramp = (samples: number, from = 1): Int16Array =>
  Int16Array.from({ length: samples }, (_, at) => ((from + at) % 30_000) + 1);
const heard = (sound: readonly number[]): number[] =>
  sound.map((value) => Math.round(value * 32_768)).filter((value) => value !== 0);

describe('PlayoutQueue', () => {
  it('plays every sample once and in order, however they come, and tells marks when they were played', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 12 }), (lengths) => {
        const queue = new PlayoutQueue(AHEAD);
        let total = 0;
        for (const [index, length] of lengths.entries()) {
          queue.push(ramp(length, total));
          total += length;
          queue.mark(`${index}`);
        }
        const { sound, marks } = play(queue, 1_000);
        expect(heard(sound)).toEqual([...ramp(total, 0)]);
        expect(marks).toEqual(lengths.map((_, index) => `${index}`));
        expect(queue.queuedMs).toBe(0);
      }),
    );
  });

  it('tells a mark only once what stands before it was played, and at once where nothing does', () => {
    const queue = new PlayoutQueue(AHEAD);
    queue.mark('before anything');
    expect(play(queue, 8).marks).toEqual(['before anything']);
    queue.push(ramp(16_000));
    queue.mark('behind a second');
    expect(play(queue, 900).marks).toEqual([]);
    expect(play(queue, 200).marks).toEqual(['behind a second']);
  });

  it('fades and drops what waits when it is cleared, with its marks, and plays what comes next', () => {
    const queue = new PlayoutQueue(AHEAD);
    queue.push(new Int16Array(16_000).fill(10_000));
    queue.mark('never');
    play(queue, 200);
    queue.clear();
    const { sound, marks } = play(queue, 100);
    expect(marks).toEqual([]);
    const tail = heard(sound);
    expect(tail.length).toBeLessThanOrEqual(80);
    expect(tail).toEqual(tail.toSorted((one, other) => other - one));
    queue.push(ramp(800));
    queue.mark('next');
    const next = play(queue, 200);
    expect(heard(next.sound)).toEqual([...ramp(800)]);
    expect(next.marks).toEqual(['next']);
  });

  it('keeps two channels apart', () => {
    const queue = new PlayoutQueue({ ...AHEAD, channels: 2 });
    queue.push(Int16Array.from({ length: 3_200 }, (_, at) => (at % 2 === 0 ? 1_000 : -2_000)));
    const { sound } = play(queue, 200, { channels: 2 });
    expect(heard(sound)).toEqual(Array.from({ length: 1_600 }, () => -2_000));
  });

  it('plays a tone at its pitch on a device of another rate', () => {
    const queue = new PlayoutQueue({ ...AHEAD, outRateHz: 48_000 });
    queue.push(Int16Array.from({ length: 16_000 }, (_, at) => 10_000 * Math.sin((2 * Math.PI * 440 * at) / 16_000)));
    const { sound } = play(queue, 1_200, { outRateHz: 48_000 });
    const crossings = sound.filter((value, at) => value >= 0 && (sound[at - 1] ?? 0) < 0).length;
    expect(crossings).toBeGreaterThanOrEqual(438);
    expect(crossings).toBeLessThanOrEqual(442);
  });

  it.each([
    ['fast', 1.002],
    ['slow', 0.998],
  ])('stays live over two minutes when the sender’s clock is %s, without a hole', (_, speed) => {
    const queue = new PlayoutQueue(LIVE);
    let [owed, holes, begun] = [0, 0, false];
    for (let atMs = 0; atMs < 120_000; atMs += 8) {
      owed += 8 * speed;
      for (; owed >= 20; owed -= 20) queue.push(new Int16Array(320).fill(1_000));
      const output = new Float32Array(BLOCK);
      queue.render([output]);
      begun ||= output[0] !== 0;
      if (begun && output.some((value) => value === 0)) holes += 1;
      if (begun) expect(queue.queuedMs).toBeLessThan(LIVE_TARGET_MS * 2);
    }
    expect(holes).toBe(0);
  });

  it('drops the oldest live sound after the page stood still, down to what is live', () => {
    const queue = new PlayoutQueue(LIVE);
    for (let at = 0; at < 500; at += 1) queue.push(ramp(320, at * 320));
    expect(queue.queuedMs).toBeLessThanOrEqual(1_000);
    expect(heard(play(queue, 40).sound).at(-1)).toBeGreaterThan(0);
  });

  it('holds no more than half a minute of what is sent ahead', () => {
    const queue = new PlayoutQueue(AHEAD);
    for (let at = 0; at < 100; at += 1) queue.push(new Int16Array(16_000));
    expect(queue.queuedMs).toBe(30_000);
  });
});

describe('FrameCutter', () => {
  it('cuts frames of 20 ms that hold every sample of the same rate', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 700 }), { maxLength: 20 }), (lengths) => {
        const cutter = new FrameCutter(16_000, 16_000);
        const total = lengths.reduce((sum, length) => sum + length, 0);
        let at = 0;
        const frames = lengths.flatMap((length) =>
          cutter.push(Float32Array.from({ length }, () => ((at += 1) % 1_000) / 32_768)),
        );
        expect(frames.length).toBe(Math.floor(total / 320));
        expect(frames.flatMap((frame) => [...frame])).toEqual(
          Array.from({ length: frames.length * 320 }, (_, index) => (index + 1) % 1_000),
        );
      }),
    );
  });

  it.each([44_100, 48_000])('has a tone of a device at %i Hz at its level and pitch', (inRateHz) => {
    const cutter = new FrameCutter(inRateHz, 16_000);
    const tone = Float32Array.from({ length: inRateHz }, (_, at) => 0.5 * Math.sin((2 * Math.PI * 440 * at) / inRateHz));
    const frames: Int16Array[] = [];
    for (let at = 0; at < tone.length; at += BLOCK) frames.push(...cutter.push(tone.subarray(at, at + BLOCK)));
    const samples = frames.flatMap((frame) => [...frame]);
    expect(frames.length).toBe(50 - (samples.length < 16_000 ? 1 : 0));
    const crossings = samples.filter((value, at) => value >= 0 && (samples[at - 1] ?? 0) < 0).length;
    expect(Math.abs(crossings - (440 * samples.length) / 16_000)).toBeLessThanOrEqual(2);
    expect(levelOf(Float32Array.from(samples, (value) => value / 32_768))).toBeCloseTo(0.5 / Math.SQRT2, 1);
  });

  it('limits what is louder than samples can be', () => {
    const [frame] = new FrameCutter(16_000, 16_000).push(new Float32Array(320).fill(-3));
    expect(frame?.[0]).toBe(-32_768);
  });
});

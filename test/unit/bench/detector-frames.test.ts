import { describe, expect, it } from 'vitest';
import { loadVoiceActivity } from '../../../src/audio/voice-activity/voice-activity.ts';
import { framesAfterEnd, framesToClear, hearLine } from '../../../bench/capacity/detector-frames.ts';
import { workload } from '../../../bench/capacity/workload.ts';

const createDetector = await loadVoiceActivity();

/** A caller's line, and the frames in which something happens on it. */
function lineOf(name: 'W1' | 'exchange', frames: number) {
  const work = workload(name);
  const detector = createDetector();
  const line = hearLine(detector, (frame) => work.pcm(0, frame), frames);
  detector.close();
  const framesOf = (event: string): number[] => line.map((_, at) => at).filter((at) => work.event(0, at) === event);
  return { line, ends: framesOf('speech-ends'), overs: framesOf('talks-over') };
}

describe("the detector's own frames", () => {
  it('hears speech of the workloads end where it ends, within a frame', () => {
    const { line, ends } = lineOf('exchange', 1_000);
    expect(ends.length).toBeGreaterThan(3);
    for (const end of ends) expect(Math.abs(framesAfterEnd(line, end) ?? Number.NaN)).toBeLessThanOrEqual(1);
  });

  it('decides an interruption by 120 ms of evidence, which is six frames of a clear voice', () => {
    const { line, overs } = lineOf('exchange', 1_000);
    expect(overs.length).toBeGreaterThan(1);
    for (const over of overs) expect(framesToClear(line, over)).toBe(5);
  });

  it('decides nothing where nobody speaks', () => {
    const silence = Array.from({ length: 100 }, (_, at) => ({ atMs: at * 20, voiced: false, speechLike: 0 }));
    expect(framesToClear(silence, 10)).toBeUndefined();
    expect(framesAfterEnd(silence, 50)).toBeUndefined();
  });

  it('counts no sound that was given up for the bot', () => {
    const line = Array.from({ length: 100 }, (_, at) => ({ atMs: at * 20, voiced: at >= 10 && at < 13, speechLike: 1 }));
    expect(framesToClear(line, 10)).toBeUndefined();
  });
});

import { beforeAll, describe, expect, it } from 'vitest';
import { activeLevelDb, peakLevel } from '../../../../../src/audio/level.ts';
import { sine } from '../../../../../src/audio/tone.ts';
import {
  Backdrop,
  loopOf,
  sceneLoop,
  isSceneName,
  type SceneName,
} from '../../../../../src/platform/engines/background/backdrop.ts';

const rateHz = 8000;
const names: readonly SceneName[] = ['office', 'cafe', 'rain', 'street'];
const loops = new Map<SceneName, Int16Array>();
beforeAll(async () => {
  for (const name of names) loops.set(name, await sceneLoop(name, rateHz, -20));
});

/** How often the sign turns, in Hz: a coarse measure of how bright a sound is. */
function brightness(pcm: Int16Array): number {
  let turns = 0;
  for (let at = 1; at < pcm.length; at += 1) if (pcm[at - 1]! < 0 !== pcm[at]! < 0) turns += 1;
  return (turns * rateHz) / (2 * pcm.length);
}

describe('a scene', () => {
  it.each(names)('%s has the given level, does not clip, and is made once', async (name) => {
    const loop = loops.get(name)!;
    expect(activeLevelDb(loop, rateHz)).toBeCloseTo(-20, 0);
    expect(peakLevel(loop)).toBeLessThan(32_767);
    expect(await sceneLoop(name, rateHz, -20)).toBe(loop);
  });

  it('differs from the others, rain being the brightest', () => {
    const bright = names.map((name) => brightness(loops.get(name)!));
    expect(Math.max(...bright)).toBe(bright[names.indexOf('rain')]);
    const sorted = bright.toSorted((a, b) => a - b);
    for (let at = 1; at < sorted.length; at += 1) expect(sorted[at]! / sorted[at - 1]!).toBeGreaterThan(1.1);
  });

  it('is one of four names and nothing inherited', () => {
    expect(['cafe', 'Cafe', 'toString', ''].map(isSceneName)).toEqual([true, false, false, false]);
  });
});

describe('a loop', () => {
  it('goes round without a jump', () => {
    const loop = loopOf(sine(310, 700, rateHz), rateHz, -20);
    const step = Math.max(...Array.from({ length: loop.length - 1 }, (_, at) => Math.abs(loop[at + 1]! - loop[at]!)));
    expect(Math.abs(loop[0]! - loop.at(-1)!)).toBeLessThanOrEqual(1.5 * step);
  });

  it('of one sample, or of silence, does no harm', () => {
    expect(loopOf(Int16Array.of(5), rateHz, -20)).toHaveLength(1);
    expect(peakLevel(loopOf(new Int16Array(100), rateHz, -20))).toBe(0);
  });
});

describe('a backdrop', () => {
  const speech = sine(440, 100, rateHz);
  it('mixes the same way for any division into pieces', () => {
    const loop = loops.get('street')!.subarray(0, 333);
    const whole = new Backdrop(loop, 0.5).under(speech);
    const pieced = new Backdrop(loop, 0.5);
    expect([...pieced.under(speech.subarray(0, 7)), ...pieced.under(speech.subarray(7))]).toEqual([...whole]);
    expect(whole[400]).toBe(speech[400]! + Math.round(0.5 * loop[400 % 333]!));
  });

  it('is limited and never wraps', () => {
    expect([...new Backdrop(Int16Array.of(32_767, -32_768), 1).under(Int16Array.of(32_767, -32_768))]).toEqual([32_767, -32_768]);
  });
});

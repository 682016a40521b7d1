import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clusterCentres, diarise } from '../../../../../src/platform/engines/speakers/diarise.ts';
import { cosine } from '../../../../../src/platform/engines/speakers/embedding.ts';
import { VoiceTrack } from '../../../../../src/platform/engines/speakers/voice-track.ts';
import { buzz } from '../../../../support/buzz.ts';

const deep = (seconds: number) => buzz({ hz: 105, formants: [450, 1100, 2300], seconds, wobble: 1 });
const bright = (seconds: number) => buzz({ hz: 215, formants: [650, 1800, 2900], seconds, wobble: 2 });

describe('clustering', () => {
  const unit = (values: number[]) => Float32Array.from(values, (value) => value / (Math.hypot(...values) || 1));
  const point = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 3, maxLength: 3 }).map(unit);

  it('finds the two heaps there are', () => {
    const heap = (x: number, y: number) => Array.from({ length: 40 }, (_, index) => unit([x, y, 0.02 * (index % 7)]));
    const centres = clusterCentres([...heap(1, 0), ...heap(0, 1)], 2);
    expect(centres.map((centre) => [centre[0]! > 0.9, centre[1]! > 0.9])).toEqual(
      expect.arrayContaining([
        [true, false],
        [false, true],
      ]),
    );
  });

  it('takes no stray point for a group', () => {
    const heap = (x: number, y: number) => Array.from({ length: 40 }, (_, index) => unit([x, y, 0.02 * (index % 7)]));
    const centres = clusterCentres([...heap(1, 0), unit([0, 0, -1]), ...heap(0, 1)], 2);
    expect(centres.every((centre) => cosine(centre, unit([0, 0, -1])) < 0.5)).toBe(true);
  });

  it('returns unit centres, at most the given number, for any points', () => {
    fc.assert(
      fc.property(fc.array(point, { maxLength: 30 }), fc.integer({ min: 1, max: 6 }), (points, groups) => {
        const centres = clusterCentres(points, groups);
        expect(centres.length).toBeLessThanOrEqual(groups);
        for (const centre of centres) expect([0, 1]).toContain(Math.round(Math.hypot(...centre) * 1e4) / 1e4);
      }),
    );
  });
});

describe('diarization', () => {
  it('finds the change within one stretch of speech to a second', () => {
    const track = new VoiceTrack();
    track.add(Int16Array.from([...deep(4), ...bright(4)]), 10);
    const { turns, embeddings } = diarise(track.windows, 2);
    expect(turns.map(({ speaker }) => speaker)).toEqual([0, 1]);
    expect(embeddings).toHaveLength(2);
    expect(turns[0]!.startS).toBe(10);
    expect(turns[1]!.endS).toBe(18);
    expect(turns[0]!.endS).toBe(turns[1]!.startS);
    expect(Math.abs(turns[0]!.endS - 14)).toBeLessThan(1);
  });

  it('finds one speaker in one voice, although three are allowed', () => {
    const track = new VoiceTrack();
    for (const startS of [0, 3, 6]) track.add(buzz({ hz: 120, formants: [500, 1500], seconds: 2 }), startS);
    const { turns, embeddings } = diarise(track.windows, 3);
    expect([turns.map(({ speaker }) => speaker), embeddings.length]).toEqual([[0, 0, 0], 1]);
  });

  it('covers all speech in order, without overlap, however it is cut', () => {
    const voice = deep(1);
    const stretches = fc.array(fc.integer({ min: 1, max: 40_000 }), { maxLength: 4 });
    fc.assert(
      fc.property(stretches, fc.integer({ min: 1, max: 4 }), (lengths, most) => {
        const track = new VoiceTrack();
        let atS = 0;
        for (const length of lengths) {
          track.add(
            Int16Array.from({ length }, (_, index) => voice[index % voice.length]!),
            atS,
          );
          atS += length / 16_000 + 1;
        }
        const { turns } = diarise(track.windows, most);
        let end = 0;
        for (const turn of turns) {
          expect(turn.startS).toBeGreaterThanOrEqual(end);
          expect(turn.endS).toBeGreaterThan(turn.startS);
          end = turn.endS;
        }
        const spoken = turns.reduce((sum, { startS, endS }) => sum + endS - startS, 0);
        expect(spoken).toBeCloseTo(lengths.reduce((sum, length) => sum + length, 0) / 16_000, 6);
      }),
      { numRuns: 12 },
    );
  });

  it('of nothing is nothing', () => expect(diarise([], 2)).toEqual({ turns: [], embeddings: [] }));
});

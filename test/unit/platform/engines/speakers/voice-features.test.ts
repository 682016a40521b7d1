import { describe, expect, it } from 'vitest';
import {
  emotionOf,
  emotions,
  prosodyOf,
  SHAPE,
  STATISTICS,
} from '../../../../../src/platform/engines/speakers/voice-features.ts';
import { builtInSpeakers } from '../../../../../src/platform/engines/speakers/diarise.ts';
import { identifySpeaker } from '../../../../../src/platform/engines/speakers/port.ts';

function prosody(pitch: number, spread: number, level: number) {
  const statistics = new Float64Array(STATISTICS);
  statistics[2 * SHAPE] = pitch;
  statistics[2 * SHAPE + 1] = spread;
  return { statistics, level };
}

describe('the emotion of a stretch of speech', () => {
  const usual = prosodyOf([prosody(6, 2.5, 50)]);

  it.each([
    ['neutral', prosody(6, 2.5, 50)],
    ['happy', prosody(9, 5, 51)],
    ['sad', prosody(2, 0.8, 43)],
    ['angry', prosody(8, 2.5, 59)],
  ])('is %s', (label, part) => {
    const scores = emotionOf([part], usual);
    expect([...scores].sort((a, b) => b[1] - a[1])[0]![0]).toBe(label);
    expect([...scores.keys()]).toEqual([...emotions]);
    expect([...scores.values()].reduce((sum, score) => sum + score, 0)).toBeCloseTo(1, 9);
  });

  it('is neutral where nothing is voiced', () => {
    expect([...emotionOf([], prosodyOf([]))].sort((a, b) => b[1] - a[1])[0]![0]).toBe('neutral');
  });
});

describe('identification', () => {
  const [right, up] = [Float32Array.from([1, 0]), Float32Array.from([0, 1])];
  const profiles = [
    { name: 'Asha', project: '', kind: 'built-in', embedding: right },
    { name: 'Ravi', project: '', kind: 'built-in', embedding: up },
  ];

  it('names the nearest profile', () => {
    expect(identifySpeaker(Float32Array.from([0.05, 0.999]), profiles, builtInSpeakers).name).toBe('Ravi');
  });

  it('names no one below the threshold, nor without registered voices', () => {
    const between = Float32Array.from([Math.SQRT1_2, Math.SQRT1_2]);
    expect(identifySpeaker(between, profiles, builtInSpeakers)).toEqual({ name: undefined, confidence: expect.any(Number) });
    expect(identifySpeaker(right, [], builtInSpeakers)).toEqual({ name: undefined, confidence: 0 });
    const easy = { kind: 'built-in', similarity: () => 0.7, identifiesFrom: 0.7 };
    expect(identifySpeaker(between, profiles, easy).name).toBe('Asha');
    // Another man's voice may be that much like a profile (docs/platform-features.md).
    const likeAnother = { ...builtInSpeakers, similarity: () => 0.83 };
    expect(identifySpeaker(between, profiles, likeAnother)).toEqual({ name: undefined, confidence: 0.83 });
    // Of another kind, a voice is like none.
    expect(identifySpeaker(between, profiles, { ...easy, kind: 'own' })).toEqual({ name: undefined, confidence: 0 });
  });
});

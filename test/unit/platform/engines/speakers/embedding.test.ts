import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { amplify } from '../../../../../src/audio/level.ts';
import { embedSpeaker, similarity, SpeakerTracker } from '../../../../../src/platform/engines/speakers/embedding.ts';
import { SAME_VOICE } from '../../../../../src/platform/engines/speakers/port.ts';
import { forPitch, pitchAt } from '../../../../../src/platform/engines/speakers/voice-features.ts';
import { buzz } from '../../../../support/buzz.ts';

describe('pitch', () => {
  it.each([80, 120, 200, 310])('finds a buzz of %d Hz within two percent', (hz) => {
    const pcm8k = buzz({ hz, formants: [500, 1500], seconds: 0.5 }).filter((_, index) => index % 2 === 0);
    expect(Math.abs(pitchAt(forPitch(pcm8k), 200)! / hz - 1)).toBeLessThan(0.02);
  });

  it('finds none in silence and none in noise', () => {
    expect(pitchAt(forPitch(new Int16Array(4000)), 200)).toBeUndefined();
    let seed = 1;
    const noise = Int16Array.from({ length: 4000 }, () => ((seed = (seed * 48_271) % 2_147_483_647) % 8000) - 4000);
    expect(pitchAt(forPitch(noise), 200)).toBeUndefined();
  });
});

describe('the speaker embedding', () => {
  const low = buzz({ hz: 105, formants: [450, 1100, 2300], seconds: 2, wobble: 1 });
  const lowAgain = buzz({ hz: 109, formants: [470, 1140, 2330], seconds: 2.5, wobble: 2 });
  const high = buzz({ hz: 215, formants: [600, 1700, 2900], seconds: 2, wobble: 1 });

  it('has length one', () => {
    expect(Math.hypot(...embedSpeaker(low))).toBeCloseTo(1, 5);
  });

  it('holds two takes of a voice together and two voices apart', () => {
    expect(similarity(embedSpeaker(low), embedSpeaker(lowAgain))).toBeGreaterThan(SAME_VOICE);
    expect(similarity(embedSpeaker(low), embedSpeaker(high))).toBeLessThan(SAME_VOICE);
  });

  it('does not hear loudness', () => {
    expect(similarity(embedSpeaker(low), embedSpeaker(amplify(low, -12)))).toBeGreaterThan(0.9);
  });

  it('matches no profile without speech', () => {
    const silence = embedSpeaker(new Int16Array(16_000));
    expect([...silence]).toEqual(Array.from(silence, () => 0));
    expect(similarity(silence, embedSpeaker(low))).toBe(0);
    expect(embedSpeaker(new Int16Array(0))).toHaveLength(silence.length);
  });

  it('gives a similarity from 0 to 1, the same both ways, for any unit vectors', () => {
    const vector = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 8, maxLength: 8 }).map((values) => {
      const length = Math.hypot(...values) || 1;
      return Float32Array.from(values, (value) => value / length);
    });
    fc.assert(
      fc.property(vector, vector, (a, b) => {
        expect(similarity(a, b)).toBe(similarity(b, a));
        expect(similarity(a, b)).toBeGreaterThanOrEqual(0);
        expect(similarity(a, b)).toBeLessThanOrEqual(1);
      }),
    );
  });
});

const deep = buzz({ hz: 105, formants: [450, 1100, 2300], seconds: 1.5, wobble: 1 });
const deepAgain = buzz({ hz: 108, formants: [460, 1120, 2300], seconds: 1.5, wobble: 2 });
const bright = buzz({ hz: 215, formants: [650, 1800, 2900], seconds: 1.5, wobble: 2 });

/** Hears each voice for 1.5 s, half a second apart. */
function labels(voices: readonly Int16Array[], most: number) {
  const ear = new SpeakerTracker({ rateHz: 16_000, most });
  return voices.map((voice, index) => {
    for (let at = 0; at < voice.length; at += 999) ear.push(voice.subarray(at, at + 999));
    ear.push(new Int16Array(8_000));
    return ear.speakerOf(index * 2, index * 2 + 1.5);
  });
}

describe('the speakers of a running session', () => {
  it('keep their number when they speak again', () => {
    expect(labels([deep, bright, deepAgain, bright], 4)).toEqual([0, 1, 0, 1]);
  });

  it('are no more than there can be', () => {
    expect(labels([deep, bright], 1)).toEqual([0, 0]);
  });

  it('are unknown without speech, and in audio no longer stored', () => {
    expect(labels([new Int16Array(24_000), deep], 4)).toEqual([undefined, 0]);
    const ear = new SpeakerTracker({ rateHz: 16_000, most: 2 });
    ear.push(deep);
    for (let second = 0; second < 41; second += 1) ear.push(new Int16Array(16_000));
    expect(ear.speakerOf(0, 1.5)).toBeUndefined();
  });
});

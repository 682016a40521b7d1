import { describe, expect, it } from 'vitest';
import { SpeakerTracker } from '../../../../../src/platform/engines/speakers/embedding.ts';
import { buzz } from '../../../../support/buzz.ts';

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

import { describe, expect, it, test } from 'vitest';
import { SpeechMeter } from '../../../../src/records/analysis/speech-meter.ts';

const RATE_HZ = 8000;

/** A 300 Hz tone at this level for this long; noise below it is even. */
function tone(seconds: number, levelDb: number): number[] {
  const peak = 32_767 * Math.SQRT2 * 10 ** (levelDb / 20);
  return Array.from({ length: Math.round(seconds * RATE_HZ) }, (_, n) =>
    Math.round(peak * Math.sin((2 * Math.PI * 300 * n) / RATE_HZ)),
  );
}

/** A steady line noise: the same sequence at each run. */
function noise(seconds: number, levelDb: number): number[] {
  let state = 1;
  const peak = 32_767 * Math.sqrt(3) * 10 ** (levelDb / 20);
  return Array.from({ length: Math.round(seconds * RATE_HZ) }, () => {
    state = (state * 16_807) % 2_147_483_647;
    return Math.round(peak * ((2 * state) / 2_147_483_647 - 1));
  });
}

/** Measured in pieces of a size that divides nothing. */
function speechSeconds(samples: Int16Array, rateHz: number): number {
  const meter = new SpeechMeter(rateHz);
  for (let at = 0; at < samples.length; at += 977) meter.push(samples.subarray(at, at + 977));
  return meter.seconds;
}

const silence = (seconds: number): number[] => Array.from({ length: Math.round(seconds * RATE_HZ) }, () => 0);

describe('SpeechMeter', () => {
  test.each([
    { note: 'nothing', samples: [], seconds: 0 },
    { note: 'digital silence', samples: silence(3), seconds: 0 },
    { note: 'line noise alone', samples: noise(3, -60), seconds: 0 },
    {
      note: 'two phrases in digital silence',
      samples: [...silence(1), ...tone(1, -20), ...silence(2), ...tone(0.5, -25)],
      seconds: 1.5,
    },
    { note: 'a phrase above line noise', samples: [...noise(2, -48), ...tone(1, -20), ...noise(2, -48)], seconds: 1 },
    {
      note: 'a phrase with a short pause in it',
      samples: [...silence(1), ...tone(0.5, -20), ...silence(0.1), ...tone(0.4, -20)],
      seconds: 1,
    },
    { note: 'speech without a pause', samples: tone(2, -20), seconds: 2 },
    { note: 'a quiet speaker', samples: [...noise(2, -70), ...tone(1, -42), ...noise(1, -70)], seconds: 1 },
  ])('measures $note', ({ samples, seconds }) => {
    expect(speechSeconds(Int16Array.from(samples), RATE_HZ)).toBeCloseTo(seconds, 1);
  });

  it('counts the same at another rate', () => {
    const samples = Int16Array.from([...silence(1), ...tone(1, -20), ...silence(1)]);
    expect(speechSeconds(samples, RATE_HZ * 2)).toBeCloseTo(0.5, 1);
  });
});

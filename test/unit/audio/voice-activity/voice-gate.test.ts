import fc from 'fast-check';
import { expect, it } from 'vitest';
import { joinSamples } from '../../../../src/audio/samples.ts';
import { noise, seededRandom, sine } from '../../../../src/audio/tone.ts';
import { VoiceGate } from '../../../../src/audio/voice-activity/voice-gate.ts';

const RATE_HZ = 8_000;
const random = seededRandom(7);
const hiss = (ms: number, rateHz = RATE_HZ): Int16Array => noise(ms, rateHz, 0.001, random);
/** A vowel of 150 Hz with overtones. */
const voice = (ms: number, rateHz = RATE_HZ): Int16Array => {
  const tones = [150, 300, 450, 600, 900].map((hz) => sine(hz, ms, rateHz));
  return Int16Array.from(tones[0] ?? [], (_, at) => tones.reduce((sum, tone) => sum + (tone[at] ?? 0), 0) / 10);
};
const lengthMs = (pcm: Int16Array, rateHz = RATE_HZ): number => (pcm.length / rateHz) * 1000;

function gated(audio: Int16Array, rateHz = RATE_HZ): VoiceGate {
  const gate = new VoiceGate(rateHz);
  gate.push(audio);
  return gate;
}

it.each([8_000, 16_000, 24_000])(
  'passes a voice with its margins and neither the silence before nor after, at %d Hz',
  (rateHz) => {
    const gate = gated(joinSamples([hiss(2_000, rateHz), voice(800, rateHz), hiss(2_000, rateHz)]), rateHz);
    expect(gate.hasVoice).toBe(true);
    const { pcm, fromSample, toSample } = gate.cut();
    expect(lengthMs(pcm, rateHz)).toBeGreaterThan(1_300);
    expect(lengthMs(pcm, rateHz)).toBeLessThan(1_500);
    expect([fromSample, toSample]).toEqual([0, 4.8 * rateHz]);
  },
);

it('shortens a long pause between two words and keeps a short one', () => {
  const long = gated(joinSamples([hiss(1_000), voice(500), hiss(3_000), voice(500), hiss(1_000)])).cut();
  expect(lengthMs(long.pcm)).toBeGreaterThan(2_000);
  expect(lengthMs(long.pcm)).toBeLessThan(2_400);
  const short = gated(joinSamples([hiss(1_000), voice(500), hiss(400), voice(500), hiss(1_000)])).cut();
  expect(lengthMs(short.pcm)).toBeGreaterThan(1_900);
});

it('passes nothing of a silent line, nor of a click', () => {
  expect(gated(hiss(3_000)).cut().pcm).toHaveLength(0);
  const clicked = gated(joinSamples([hiss(1_000), voice(40), hiss(2_000)]));
  expect(clicked.hasVoice).toBe(false);
  expect(clicked.openMs).toBe(0);
  expect(clicked.cut().pcm).toHaveLength(0);
});

it('gives a word to one segment alone when a cut goes through the line', () => {
  const gate = gated(joinSamples([hiss(1_000), voice(500), hiss(600)]));
  expect(lengthMs(gate.cut().pcm)).toBeGreaterThan(1_000);
  gate.push(hiss(2_000));
  const { pcm, fromSample } = gate.cut();
  expect(pcm).toHaveLength(0);
  expect(fromSample).toBe(2.1 * RATE_HZ);
});

it('tells for how long there was speech, and for how long silence', () => {
  const gate = gated(joinSamples([hiss(1_000), voice(500)]));
  expect(gate.openMs).toBeGreaterThanOrEqual(780);
  expect(gate.quietMs).toBeLessThan(100);
  gate.push(hiss(1_000));
  expect(gate.quietMs).toBeGreaterThanOrEqual(900);
});

it('passes the same samples however the line is cut into messages', () => {
  const audio = joinSamples([hiss(500), voice(400), hiss(900), voice(300), hiss(500)]);
  const whole = gated(audio).cut().pcm;
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 20 }), (sizes) => {
      const gate = new VoiceGate(RATE_HZ);
      for (let at = 0, index = 0; at < audio.length; index += 1) {
        const size = sizes[index % sizes.length] ?? 1;
        gate.push(audio.subarray(at, at + size));
        at += size;
      }
      expect(gate.cut().pcm).toEqual(whole);
    }),
    { numRuns: 20 },
  );
});

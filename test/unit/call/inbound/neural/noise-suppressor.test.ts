import { expect, it } from 'vitest';
import { rmsLevelDb } from '../../../../../src/audio/level.ts';
import { joinSamples } from '../../../../../src/audio/samples.ts';
import { noise, seededRandom } from '../../../../../src/audio/tone.ts';
import { loadNoiseSuppressor } from '../../../../../src/call/inbound/neural/noise-suppressor.ts';

const suppressor = await loadNoiseSuppressor();

it.each([8_000, 16_000])('gives a frame for a frame at %i Hz, and takes a steady noise away', (rateHz) => {
  const line = suppressor.open(rateHz);
  const frame = rateHz / 50;
  const hiss = noise(2_000, rateHz, 0.03, seededRandom(1));
  const heard: Int16Array[] = [];
  for (let from = 0; from < hiss.length; from += frame) heard.push(line.process(hiss.subarray(from, from + frame)));
  line.close();
  expect(new Set(heard.slice(1).map(({ length }) => length))).toEqual(new Set([frame]));
  const last = joinSamples(heard.slice(-25));
  expect(rmsLevelDb(last)).toBeLessThan(rmsLevelDb(hiss) - 15);
});

it('loses no sound of messages of any length', () => {
  const line = suppressor.open(8_000);
  const sent = [33, 160, 1, 79, 320, 247].map((length) => new Int16Array(length));
  const heard = sent.reduce((sum, pcm) => sum + line.process(pcm).length, 0);
  line.close();
  // What is no whole frame waits for the next message.
  expect(840 - heard).toBeGreaterThanOrEqual(0);
  expect(840 - heard).toBeLessThan(160);
});

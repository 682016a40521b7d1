import { PLATFORM_SYNTHESIS } from '../../../../src/speech/platform-capabilities.ts';
import { expect, it } from 'vitest';
import { decodeMulaw, encodeMulaw } from '../../../../src/audio/g711.ts';
import { activeLevelDb } from '../../../../src/audio/level.ts';
import { sine } from '../../../../src/audio/tone.ts';
import { EvenLoudness } from '../../../../src/call/outbound/loudness.ts';
import type { Synthesizer } from '../../../../src/speech/port.ts';

/** Voices by the amplitude they speak with, two seconds of tone behind half a second of silence, in chunks of 100 ms. */
const synthesizer: Synthesizer = {
  capabilities: PLATFORM_SYNTHESIS,
  async *speak({ voice }) {
    const bytes = encodeMulaw(Int16Array.from([...new Int16Array(4_000), ...sine(440, 2_000, 8_000, Number(voice))]));
    for (let at = 0; at < bytes.length; at += 800) yield bytes.subarray(at, at + 800);
  },
};

async function levelOf(loudness: Synthesizer, voice: string): Promise<number> {
  const parts: number[] = [];
  for await (const audio of loudness.speak({ text: 'x', voice, language: 'en' }, new AbortController().signal))
    parts.push(...audio);
  return activeLevelDb(decodeMulaw(Uint8Array.from(parts)), 8_000);
}

it('brings a quiet voice and a loud one to one level, from their second sentence on', async () => {
  const loudness = new EvenLoudness(synthesizer);
  expect(await levelOf(loudness, '0.08')).toBeCloseTo(-25, 0);
  expect(await levelOf(loudness, '0.5')).toBeCloseTo(-9, 0);
  expect(Math.abs((await levelOf(loudness, '0.08')) + 20)).toBeLessThan(1);
  expect(Math.abs((await levelOf(loudness, '0.5')) + 20)).toBeLessThan(1.5);
});

it('learns from what the voice says, not from what was made of it', async () => {
  const loudness = new EvenLoudness(synthesizer);
  for (let sentence = 0; sentence < 5; sentence += 1) await levelOf(loudness, '0.08');
  expect(Math.abs((await levelOf(loudness, '0.08')) + 20)).toBeLessThan(1);
});

it('leaves a voice alone that is near enough, and does not amplify beyond reason', async () => {
  const loudness = new EvenLoudness(synthesizer);
  for (const voice of ['0.14', '0.01']) await levelOf(loudness, voice);
  expect(await levelOf(loudness, '0.14')).toBeCloseTo(-20.1, 0);
  expect(await levelOf(loudness, '0.01')).toBeCloseTo(-33, 0);
});

it('follows a voice that it has known for long, as when the platform changes it', async () => {
  let amplitude = '0.08';
  const changing: Synthesizer = {
    capabilities: PLATFORM_SYNTHESIS,
    speak: (request, signal) => synthesizer.speak({ ...request, voice: amplitude }, signal),
  };
  const loudness = new EvenLoudness(changing);
  // Thirty seconds make it known; much later it speaks louder.
  for (let sentence = 0; sentence < 20; sentence += 1) await levelOf(loudness, 'anna');
  expect(Math.abs((await levelOf(loudness, 'anna')) + 20)).toBeLessThan(1);
  amplitude = '0.2';
  for (let sentence = 0; sentence < 200; sentence += 1) await levelOf(loudness, 'anna');
  expect(Math.abs((await levelOf(loudness, 'anna')) + 20)).toBeLessThan(1);
});

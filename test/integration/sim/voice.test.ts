import { afterAll, beforeAll, expect, it } from 'vitest';
import { activeLevelDb } from '../../../src/audio/level.ts';
import { CallerVoiceError } from '../../../src/sim/errors.ts';
import { CallerVoice } from '../../../src/sim/caller/voice.ts';

let voice: CallerVoice;
beforeAll(() => {
  voice = new CallerVoice();
});
afterAll(() => voice[Symbol.asyncDispose]());

it('speaks English at the level of speech, from its first sample on', async () => {
  const pcm = await voice.say('I would like an appointment', { language: 'en' });
  expect(pcm.length / 8).toBeGreaterThan(900);
  expect(pcm.length / 8).toBeLessThan(4000);
  expect(activeLevelDb(pcm, 8000)).toBeCloseTo(-20, 0);
  expect(activeLevelDb(pcm.subarray(0, 800), 8000)).toBeGreaterThan(-45);
});

it('speaks faster where it is told to', async () => {
  const [slow, fast] = await Promise.all([
    voice.say('Tuesday at half past ten', { language: 'en-IN', rate: 0.8 }),
    voice.say('Tuesday at half past ten', { language: 'en-IN', rate: 1.25 }),
  ]);
  expect(slow.length / fast.length).toBeGreaterThan(1.3);
});

it('speaks Hindi, or says which package is missing', async () => {
  try {
    const pcm = await voice.say('मुझे अपॉइंटमेंट चाहिए', { language: 'hi' });
    expect(pcm.length / 8).toBeGreaterThan(700);
    expect(activeLevelDb(pcm, 8000)).toBeCloseTo(-20, 0);
  } catch (error) {
    expect(error).toBeInstanceOf(CallerVoiceError);
    expect(String(error)).toContain('@echogarden/espeak-ng-emscripten');
  }
});

it('refuses a voice there is not, and goes on speaking', async () => {
  await expect(voice.say('hello', { language: 'hi', voice: 'xx-none' })).rejects.toThrow(CallerVoiceError);
  await expect(voice.say('hello', { language: 'en' })).resolves.toBeInstanceOf(Int16Array);
});

it('refuses to speak when it was closed, and what it was asked before is refused too', async () => {
  const other = new CallerVoice();
  const cut = other.say('hello', { language: 'en' });
  const refused = expect(cut).rejects.toThrow(CallerVoiceError);
  await other[Symbol.asyncDispose]();
  await refused;
  await expect(other.say('hello', { language: 'en' })).rejects.toThrow(CallerVoiceError);
});

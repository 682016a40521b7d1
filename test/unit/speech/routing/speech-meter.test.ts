import { expect, it } from 'vitest';
import { PLATFORM_RECOGNITION, PLATFORM_SYNTHESIS } from '../../../../src/speech/platform-capabilities.ts';
import type { Recogniser, Synthesizer } from '../../../../src/speech/port.ts';
import { SpeechMeter } from '../../../../src/speech/routing/speech-meter.ts';

const recogniser: Recogniser = {
  capabilities: PLATFORM_RECOGNITION,
  open: () => ({ send: () => undefined, commit: () => undefined, end: async () => undefined, abort: () => undefined }),
};
const speaks = (known: string): Synthesizer => ({
  capabilities: PLATFORM_SYNTHESIS,
  isInMemory: ({ text }) => text === known,
  async *speak() {
    yield new Uint8Array(1);
  },
});

it('counts the audio that each recogniser is given, at any rate', () => {
  const meter = new SpeechMeter();
  const [one, other] = [meter.recogniser('acme', recogniser), meter.recogniser('platform', recogniser)];
  const first = one.open({ language: 'en', sampleRateHz: 8_000 }, () => undefined);
  first.send(new Int16Array(4_000));
  first.send(new Int16Array(4_000));
  other.open({ language: 'en', sampleRateHz: 16_000 }, () => undefined).send(new Int16Array(4_000));
  expect(meter.used).toEqual([
    { vendor: 'acme', unit: 'recogniser-seconds', amount: 1 },
    { vendor: 'platform', unit: 'recogniser-seconds', amount: 0.25 },
  ]);
  expect('listenFor' in first).toBe(false);
});

it('counts characters, and those from the cache by themselves', () => {
  const meter = new SpeechMeter();
  const synthesizer = meter.synthesizer('acme', speaks('Hello.'));
  for (const text of ['Hello.', 'Goodbye.', 'नमस्ते'])
    synthesizer.speak({ text, voice: 'v', language: 'en' }, new AbortController().signal);
  expect(meter.used).toEqual([
    { vendor: 'acme', unit: 'cached-characters', amount: 6 },
    { vendor: 'acme', unit: 'synthesized-characters', amount: 14 },
  ]);
});

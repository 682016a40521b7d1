import { beforeAll, describe, expect, it } from 'vitest';
import { resample } from '../../src/audio/resample.ts';
import { joinSamples } from '../../src/audio/samples.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { SHAPE, voiceFrames, voiceStatistics } from '../../src/platform/engines/speakers/voice-features.ts';
import { startSynthesizer } from '../../src/platform/engines/synth/synthesizer.ts';
import { voices } from '../../src/platform/engines/synth/voices.ts';
import { shared } from '../support/shared.ts';

/** Two texts a language: what one voice differs by between them is no difference of voices. */
const texts = {
  en: [
    'Your appointment is on Tuesday, and the doctor will see you at half past three. Please bring all the papers that you have from your last visit.',
    'Thank you for calling, how can I help you today? I have found two free places in the coming week, one in the morning and one late in the evening.',
  ],
  hi: [
    'आपकी मुलाकात मंगलवार को है, डॉक्टर साढ़े तीन बजे मिलेंगे। कृपया पिछली बार के सभी काग़ज़ साथ लेकर आइए।',
    'फ़ोन करने के लिए धन्यवाद, मैं आपकी क्या मदद कर सकता हूँ? अगले हफ़्ते दो समय खाली हैं, एक सुबह और एक देर शाम को।',
  ],
} as const;

const synthesizer = shared(() => startSynthesizer({ clock: systemClock, logger: silentLogger }));

/** Mean cepstrum of the voiced frames, then the median pitch in semitones over 100 Hz. */
async function featuresOf(text: string, voice: string, language: string): Promise<readonly number[]> {
  const parts: Int16Array[] = [];
  let rate = 0;
  for await (const { pcm, rateHz } of synthesizer.synthesize({ text, voice, language, speed: 1 }, new AbortController().signal)) {
    parts.push(pcm);
    rate = rateHz;
  }
  const statistics = voiceStatistics(voiceFrames(resample(joinSamples(parts), rate, 16_000)))!;
  return [...statistics.subarray(0, SHAPE), statistics[2 * SHAPE]!];
}

describe.each(Object.entries(texts))('the 46 voices in %s', (language, [one, other]) => {
  let features: {
    readonly name: string;
    readonly gender: string;
    readonly one: readonly number[];
    readonly other: readonly number[];
  }[];
  beforeAll(async () => {
    features = [];
    for (const { name, gender } of voices) {
      features.push({ name, gender, one: await featuresOf(one, name, language), other: await featuresOf(other, name, language) });
    }
  }, 600_000);

  it('were 8 sounds: each two differ by more than one voice does between two texts', () => {
    // Each feature is measured by how much it varies within one voice.
    const deviations = features[0]!.one.map((_, index) =>
      Math.sqrt(features.reduce((sum, voice) => sum + (voice.one[index]! - voice.other[index]!) ** 2, 0) / features.length),
    );
    const distance = (a: readonly number[], b: readonly number[]): number =>
      Math.sqrt(a.reduce((sum, value, index) => sum + ((value - b[index]!) / deviations[index]!) ** 2, 0) / a.length);
    const within = features.map((voice) => distance(voice.one, voice.other));
    const between = features.flatMap((a, index) =>
      features.slice(index + 1).map((b) => ({
        pair: `${a.name} ${b.name}`,
        distance: (distance(a.one, b.one) + distance(a.other, b.other)) / 2,
      })),
    );
    expect(between).toHaveLength((46 * 45) / 2);
    const most = Math.max(...within);
    expect(between.filter((each) => each.distance <= most)).toEqual([]);
  });

  it('have the pitch of their gender', () => {
    for (const voice of features) {
      for (const values of [voice.one, voice.other]) {
        const pitchHz = 100 * 2 ** (values[SHAPE]! / 12);
        expect(pitchHz, voice.name).toBeGreaterThan(voice.gender === 'male' ? 70 : 150);
        expect(pitchHz, voice.name).toBeLessThan(voice.gender === 'male' ? 145 : 280);
      }
    }
  });
});

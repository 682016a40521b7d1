import { seededRandom } from '../../../../../src/audio/tone.ts';

/**
 * Something with the ups and downs of speech, for tests of sound without words: vowels of changing pitch and formants, 8 kHz,
 * about −20 dBFS where it is loud.
 * @param pitchHz of the speaker
 */
export function babble(ms: number, seed: number, pitchHz = 120): Int16Array {
  const random = seededRandom(seed);
  const out = new Int16Array(ms * 8);
  for (let at = 0; at < out.length;) {
    const length = Math.round((100 + random() * 160) * 8);
    const formants = [300 + random() * 500, 900 + random() * 1_100, 2_300 + random() * 900];
    const pitch = pitchHz * (0.85 + random() * 0.3);
    const glide = (random() - 0.5) * 0.3;
    let phase = random() * 6;
    for (let index = 0; index < length && at + index < out.length; index += 1) {
      const hz = pitch * (1 + (glide * index) / length);
      phase += (2 * Math.PI * hz) / 8_000;
      let sum = (random() - 0.5) * 0.1;
      for (let harmonic = 1; harmonic * hz < 3_400; harmonic += 1) {
        const gain = formants.reduce((all, centre) => all + Math.exp(-(((harmonic * hz - centre) / 180) ** 2)), 0.02);
        sum += gain * Math.sin(harmonic * phase);
      }
      out[at + index] = 2_600 * sum * Math.sin((Math.PI * index) / length) ** 0.5;
    }
    at += length + Math.round(random() * 60 * 8);
  }
  return out;
}

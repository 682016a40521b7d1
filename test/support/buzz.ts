/** A buzzing throat: harmonics of a wavering pitch, loud near the formants. 16 kHz. Two wobbles are two sentences. */
export function buzz(voice: { hz: number; formants: readonly number[]; seconds: number; wobble?: number }): Int16Array {
  const { hz, formants, seconds, wobble = 0 } = voice;
  const out = new Int16Array(Math.round(seconds * 16_000));
  let phase = 0;
  for (let n = 0; n < out.length; n += 1) {
    const time = n / 16_000;
    const drift = wobble === 0 ? 0 : 0.08 * Math.sin(2 * Math.PI * (1.3 + 0.4 * wobble) * time);
    phase += (2 * Math.PI * hz * (1 + drift)) / 16_000;
    let sum = 0;
    for (let harmonic = 1; harmonic * hz < 3_600; harmonic += 1) {
      const place = harmonic * hz;
      const vowel = wobble === 0 ? 0 : 90 * Math.sin(2 * Math.PI * (2.1 + wobble) * time);
      const gain = formants.reduce((most, formant) => most + Math.exp(-(((place - formant - vowel) / 160) ** 2)), 0.02);
      sum += gain * Math.sin(harmonic * phase);
    }
    out[n] = Math.round(2_500 * sum);
  }
  return out;
}

import { decodeMulaw, encodeMulaw } from '../../../audio/g711.ts';
import { activeLevelDb, amplify } from '../../../audio/level.ts';
import { resample } from '../../../audio/resample.ts';
import { features, frameEnergies, normaliserOf, peakEnergy } from './features.ts';
import { BANDS, MelBank, melFrames, RATE_HZ } from '../acoustics/mel.ts';
import type { TrainingUtterance } from './train.ts';

/** Throats from short to long. */
const WARPS = [0.86, 0.9, 0.94, 0.97, 1, 1.03, 1.07, 1.12, 1.17];
const banks = WARPS.map((warp) => new MelBank(warp));
/** Signal to noise ratios of the second hearing of each line, in dB. */
const NOISES_DB = [26, 22, 20, 18, 15];
const LEVEL_DB = -20;
const LEAD_S = 0.25;
const TAIL_S = 0.35;
const SOUND_BELOW_PEAK = 1e-3;

/** Full-band noise of normal distribution (a sum of six). */
function noiseSample(random: () => number): number {
  let sum = -3;
  for (let i = 0; i < 6; i += 1) sum += random();
  return sum * Math.SQRT2;
}

/** What one rendered line teaches: heard clean, and over worse lines and through other throats. */
export function hearings(pcm: Int16Array, rateHz: number, words: readonly number[], random: () => number): TrainingUtterance {
  const narrow = resample(pcm, rateHz, RATE_HZ);
  const level = amplify(narrow, LEVEL_DB - activeLevelDb(narrow, RATE_HZ));
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  const clean = melFrames(throughTelephone(level, undefined, random), [banks[4]!, pick(banks), pick(banks)]);
  const noisy = [pick(NOISES_DB), pick(NOISES_DB)].flatMap((db) => melFrames(throughTelephone(level, db, random), [pick(banks)]));
  const [frames, ...twins] = [...clean, ...noisy].map((mel) => features(mel, normaliserOf(mel)));
  return { frames: frames!, twins, words, active: activePart(clean[0]!) };
}

/** With silence at both ends, noise over all of it, and mu-law. */
export function throughTelephone(pcm: Int16Array, snrDb: number | undefined, random: () => number): Int16Array {
  const lead = Math.round(LEAD_S * RATE_HZ);
  const out = new Int16Array(lead + pcm.length + Math.round(TAIL_S * RATE_HZ));
  out.set(pcm, lead);
  if (snrDb !== undefined) {
    const deviation = 32_768 * 10 ** ((LEVEL_DB - snrDb) / 20);
    for (let i = 0; i < out.length; i += 1) {
      out[i] = Math.max(-32_768, Math.min(32_767, (out[i] ?? 0) + noiseSample(random) * deviation));
    }
  }
  return decodeMulaw(encodeMulaw(out));
}

function activePart(mel: Float32Array): { from: number; to: number } {
  const energies = frameEnergies(mel);
  const least = peakEnergy(mel) * BANDS * SOUND_BELOW_PEAK;
  let [from, to] = [0, energies.length];
  while (from < to && (energies[from] ?? 0) < least) from += 1;
  while (to > from && (energies[to - 1] ?? 0) < least) to -= 1;
  return { from, to };
}

import { decodeMulaw, encodeMulaw } from '../../../audio/g711.ts';
import { activeLevelDb, amplify } from '../../../audio/level.ts';
import { resample } from '../../../audio/resample.ts';
import { features, frameEnergies, normaliserOf, peakEnergy } from './features.ts';
import { BANDS, MelBank, melFrames, RATE_HZ } from '../acoustics/mel.ts';
import type { TrainingUtterance } from './train.ts';

/** Vocal tract lengths, short to long. */
const averageBank = new MelBank(1);
const banks: readonly [MelBank, ...MelBank[]] = [
  new MelBank(0.86),
  new MelBank(0.9),
  new MelBank(0.94),
  new MelBank(0.97),
  averageBank,
  new MelBank(1.03),
  new MelBank(1.07),
  new MelBank(1.12),
  new MelBank(1.17),
];
/** Signal to noise ratios of the noisy variants, in dB. */
const NOISES_DB: readonly [number, ...number[]] = [26, 22, 20, 18, 15];
const LEVEL_DB = -20;
const LEAD_S = 0.25;
const TAIL_S = 0.35;
const SOUND_BELOW_PEAK = 1e-3;

/** White noise of nearly normal distribution (a sum of six). */
function noiseSample(random: () => number): number {
  let sum = -3;
  for (let i = 0; i < 6; i += 1) sum += random();
  return sum * Math.SQRT2;
}

/** A training utterance from one rendered line: clean, with noisy variants and other vocal tract lengths. */
export function trainingUtterance(
  pcm: Int16Array,
  rateHz: number,
  words: readonly number[],
  random: () => number,
): TrainingUtterance {
  const narrow = resample(pcm, rateHz, RATE_HZ);
  const level = amplify(narrow, LEVEL_DB - activeLevelDb(narrow, RATE_HZ));
  const pick = <Item>(items: readonly [Item, ...Item[]]): Item => items[Math.floor(random() * items.length)] ?? items[0];
  const clean = melFrames(throughTelephone(level, undefined, random), [averageBank, pick(banks), pick(banks)]);
  const noisy = [pick(NOISES_DB), pick(NOISES_DB)].flatMap((db) => melFrames(throughTelephone(level, db, random), [pick(banks)]));
  const [first = new Float32Array(0), ...others] = [...clean, ...noisy];
  const featuresOf = (mel: Float32Array): Float32Array => features(mel, normaliserOf(mel));
  return { frames: featuresOf(first), twins: others.map(featuresOf), words, active: activePart(first) };
}

/** Adds silence at both ends, noise, and a pass through mu-law. */
export function throughTelephone(pcm: Int16Array, snrDb: number | undefined, random: () => number): Int16Array {
  const lead = Math.round(LEAD_S * RATE_HZ);
  const out = new Int16Array(lead + pcm.length + Math.round(TAIL_S * RATE_HZ));
  out.set(pcm, lead);
  if (snrDb !== undefined) {
    const deviation = 32_768 * 10 ** ((LEVEL_DB - snrDb) / 20);
    for (const [index, sample] of out.entries()) {
      out[index] = Math.max(-32_768, Math.min(32_767, sample + noiseSample(random) * deviation));
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

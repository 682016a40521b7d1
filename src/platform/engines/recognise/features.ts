import { BANDS } from '../acoustics/mel.ts';

const CEPSTRA = 13;
/** Cepstra, their slopes (deltas) and the slopes of those (delta deltas). */
export const FEATURES = CEPSTRA * 3;
/** Frames on each side that a slope is computed from. */
const SLOPE_REACH = 2;
/** Energy added to every band, relative to the loudest: hides the noise of a quiet line. */
const FLOOR = 10 ** (-45 / 10);
/** Frames this far below the loudest do not count as speech for means and scales. */
const ACTIVE_DB = 30;
/** Nor do frames that are not this much above the quietest tenth, the line's noise. */
const ABOVE_NOISE = 10 ** (5 / 10);

/** The cosine transform, `BANDS` values for each cepstral coefficient. */
const dct = Float64Array.from({ length: CEPSTRA * BANDS }, (_, index) => {
  const k = Math.floor(index / BANDS);
  return Math.cos((Math.PI * k * ((index % BANDS) + 0.5)) / BANDS) * Math.sqrt(2 / BANDS);
});

/** Means and scales of an utterance's cepstra. */
export interface Normaliser {
  /** Reference level: band energy of the utterance's loud parts. */
  readonly peak: number;
  readonly mean: Float64Array;
  readonly scale: Float64Array;
}

/** The band energy of loud frames: the 95th percentile of frame energy. */
export function peakEnergy(mel: Float32Array): number {
  const totals = frameEnergies(mel).sort();
  return Math.max(1e5, totals[Math.floor((totals.length - 1) * 0.95)] ?? 0) / BANDS;
}

export function frameEnergies(mel: Float32Array): Float64Array {
  return Float64Array.from({ length: mel.length / BANDS }, (_, frame) => {
    let sum = 0;
    for (let band = 0; band < BANDS; band += 1) sum += mel[frame * BANDS + band] ?? 0;
    return sum;
  });
}

/** Cepstra before normalisation, `CEPSTRA` a frame. */
function cepstra(mel: Float32Array, peak: number): Float64Array {
  const frames = mel.length / BANDS;
  const out = new Float64Array(frames * CEPSTRA);
  const logs = new Float64Array(BANDS);
  for (let frame = 0; frame < frames; frame += 1) {
    for (let band = 0; band < BANDS; band += 1) logs[band] = Math.log((mel[frame * BANDS + band] ?? 0) / peak + FLOOR);
    for (let k = 0; k < CEPSTRA; k += 1) {
      let sum = 0;
      for (let band = 0; band < BANDS; band += 1) sum += (dct[k * BANDS + band] ?? 0) * (logs[band] ?? 0);
      out[frame * CEPSTRA + k] = sum;
    }
  }
  return out;
}

/** Weight of the typical deviations, which keep a short utterance from normalising itself away. */
const PRIOR_FRAMES = 30;

/** Means and deviations over the frames that are speech. */
export function normaliserOf(mel: Float32Array): Normaliser {
  const peak = peakEnergy(mel);
  const values = cepstra(mel, peak);
  const energies = frameEnergies(mel);
  const quiet = Float64Array.from(energies).sort()[Math.floor(energies.length / 10)] ?? 0;
  const least = Math.max(peak * BANDS * 10 ** (-ACTIVE_DB / 10), Math.min(quiet * ABOVE_NOISE, peak * BANDS * 0.3));
  const mean = new Float64Array(CEPSTRA);
  const square = new Float64Array(CEPSTRA);
  let count = 0;
  for (let frame = 0; frame < energies.length; frame += 1) {
    if ((energies[frame] ?? 0) < least) continue;
    count += 1;
    for (let k = 0; k < CEPSTRA; k += 1) {
      const value = values[frame * CEPSTRA + k] ?? 0;
      mean[k] = (mean[k] ?? 0) + value;
      square[k] = (square[k] ?? 0) + value * value;
    }
  }
  const scale = new Float64Array(CEPSTRA);
  for (let k = 0; k < CEPSTRA; k += 1) {
    const own = (mean[k] ?? 0) / Math.max(1, count);
    const variance = Math.max(0, (square[k] ?? 0) / Math.max(1, count) - own * own);
    const typical = (TYPICAL_DEVIATION[k] ?? 0) ** 2;
    mean[k] = own;
    scale[k] = 1 / Math.sqrt((variance * count + typical * PRIOR_FRAMES) / (count + PRIOR_FRAMES));
  }
  return { peak, mean, scale };
}

/** Deviations of cepstra in synthetic telephone speech, used as a prior. */
const TYPICAL_DEVIATION = [9.7, 4.0, 3.7, 3.1, 2.3, 1.8, 1.6, 1.5, 1.3, 1.2, 1.0, 0.9, 0.9];
/** Loudness identifies words less well than spectral shape does. */
const ENERGY_WEIGHT = 0.6;
const SLOPE_GAIN = 2.2;
const CURVE_GAIN = 3;

/**
 * The features the models are trained on: normalised cepstra, slopes and curvature; `FEATURES` values a frame.
 * @param mel band energies, `BANDS` a frame
 */
export function features(mel: Float32Array, norm: Normaliser): Float32Array {
  const frames = mel.length / BANDS;
  const values = cepstra(mel, norm.peak);
  for (let frame = 0; frame < frames; frame += 1) {
    for (let k = 0; k < CEPSTRA; k += 1) {
      const at = frame * CEPSTRA + k;
      values[at] = ((values[at] ?? 0) - (norm.mean[k] ?? 0)) * (norm.scale[k] ?? 0) * (k === 0 ? ENERGY_WEIGHT : 1);
    }
  }
  const slope = slopes(values, frames, SLOPE_GAIN);
  const curve = slopes(slope, frames, CURVE_GAIN / SLOPE_GAIN);
  const out = new Float32Array(frames * FEATURES);
  for (let frame = 0; frame < frames; frame += 1) {
    for (let k = 0; k < CEPSTRA; k += 1) {
      const at = frame * CEPSTRA + k;
      out[frame * FEATURES + k] = values[at] ?? 0;
      out[frame * FEATURES + CEPSTRA + k] = slope[at] ?? 0;
      out[frame * FEATURES + 2 * CEPSTRA + k] = curve[at] ?? 0;
    }
  }
  return out;
}

function slopes(values: Float64Array, frames: number, gain: number): Float64Array {
  const out = new Float64Array(values.length);
  for (let frame = 0; frame < frames; frame += 1) {
    for (let k = 0; k < CEPSTRA; k += 1) {
      let sum = 0;
      for (let distance = 1; distance <= SLOPE_REACH; distance += 1) {
        const after = Math.min(frames - 1, frame + distance);
        const before = Math.max(0, frame - distance);
        sum += distance * ((values[after * CEPSTRA + k] ?? 0) - (values[before * CEPSTRA + k] ?? 0));
      }
      out[frame * CEPSTRA + k] = (sum / 10) * gain;
    }
  }
  return out;
}

/** The recogniser works at the telephone's sample rate. */
export const RATE_HZ = 8_000;
/** Samples from one frame to the next: 15 ms. */
export const HOP = 120;
export const FRAME_S = HOP / RATE_HZ;
/** Samples in the window of a frame: 25 ms. */
export const WINDOW = 200;
export const BANDS = 22;

const FFT_SIZE = 256;
const BINS = FFT_SIZE / 2 + 1;
const PRE_EMPHASIS = 0.97;
const LOWEST_HZ = 150;
const HIGHEST_HZ = 3_700;

const hamming = Float64Array.from({ length: WINDOW }, (_, n) => 0.54 - 0.46 * Math.cos((2 * Math.PI * n) / (WINDOW - 1)));
const cosines = Float64Array.from({ length: FFT_SIZE / 2 }, (_, k) => Math.cos((2 * Math.PI * k) / FFT_SIZE));
const sines = Float64Array.from({ length: FFT_SIZE / 2 }, (_, k) => -Math.sin((2 * Math.PI * k) / FFT_SIZE));
const reversed = Uint16Array.from({ length: FFT_SIZE }, (_, n) => {
  let out = 0;
  for (let bit = 1; bit < FFT_SIZE; bit <<= 1) out = (out << 1) | ((n & bit) === 0 ? 0 : 1);
  return out;
});

/** Computes the power spectrum of one frame. */
export class Spectrum {
  readonly #re = new Float64Array(FFT_SIZE);
  readonly #im = new Float64Array(FFT_SIZE);
  readonly power = new Float64Array(BINS);

  /**
   * @param pcm 8 kHz samples, of which `at - 1` to `at + WINDOW - 1` are read; missing ones count as silence
   * @returns 129 values, valid until the next call
   */
  compute(pcm: Int16Array, at: number): Float64Array {
    const [re, im] = [this.#re, this.#im];
    re.fill(0);
    im.fill(0);
    for (let n = 0; n < WINDOW; n += 1) {
      const sample = (pcm[at + n] ?? 0) - PRE_EMPHASIS * (pcm[at + n - 1] ?? 0);
      re[reversed[n] ?? 0] = sample * (hamming[n] ?? 0);
    }
    for (let size = 2; size <= FFT_SIZE; size <<= 1) {
      const half = size >> 1;
      const step = FFT_SIZE / size;
      for (let from = 0; from < FFT_SIZE; from += size) {
        for (let k = 0; k < half; k += 1) {
          const [a, b] = [from + k, from + k + half];
          const [c, s] = [cosines[k * step] ?? 0, sines[k * step] ?? 0];
          const tRe = (re[b] ?? 0) * c - (im[b] ?? 0) * s;
          const tIm = (re[b] ?? 0) * s + (im[b] ?? 0) * c;
          re[b] = (re[a] ?? 0) - tRe;
          im[b] = (im[a] ?? 0) - tIm;
          re[a] = (re[a] ?? 0) + tRe;
          im[a] = (im[a] ?? 0) + tIm;
        }
      }
    }
    for (let k = 0; k < BINS; k += 1) this.power[k] = (re[k] ?? 0) * (re[k] ?? 0) + (im[k] ?? 0) * (im[k] ?? 0);
    return this.power;
  }
}

/** Triangular mel filters. */
export class MelBank {
  readonly #filters: { readonly first: number; readonly weights: Float64Array }[] = [];

  /** @param warp moves every centre (vocal tract length normalisation); above 1 maps a longer vocal tract to the average one */
  constructor(warp = 1) {
    const mel = (hz: number): number => 2_595 * Math.log10(1 + hz / 700);
    const [low, high] = [mel(LOWEST_HZ), mel(HIGHEST_HZ)];
    const edge = (index: number): number => {
      const hz = 700 * (10 ** ((low + ((high - low) * index) / (BANDS + 1)) / 2_595) - 1);
      return Math.min(RATE_HZ / 2, hz * warp) / (RATE_HZ / FFT_SIZE);
    };
    for (let band = 0; band < BANDS; band += 1) {
      const [left, centre, right] = [edge(band), edge(band + 1), edge(band + 2)];
      const first = Math.ceil(left);
      const last = Math.min(BINS - 1, Math.floor(right));
      const weights: number[] = [];
      for (let bin = first; bin <= last; bin += 1) {
        weights.push(Math.max(0, bin <= centre ? (bin - left) / (centre - left) : (right - bin) / (right - centre)));
      }
      this.#filters.push({ first, weights: Float64Array.from(weights) });
    }
  }

  /** Writes the energy of each band. */
  apply(power: Float64Array, out: Float32Array, at: number): void {
    for (const [band, { first, weights }] of this.#filters.entries()) {
      let sum = 0;
      for (let index = 0; index < weights.length; index += 1) sum += (weights[index] ?? 0) * (power[first + index] ?? 0);
      out[at + band] = sum;
    }
  }
}

/** Band energies of all whole frames of 8 kHz audio, for each of the banks; `BANDS` values a frame. */
export function melFrames(pcm: Int16Array, banks: readonly MelBank[]): Float32Array[] {
  const frames = Math.max(0, Math.floor((pcm.length - WINDOW) / HOP) + 1);
  const outs = banks.map((bank) => ({ bank, energies: new Float32Array(frames * BANDS) }));
  const spectrum = new Spectrum();
  for (let frame = 0; frame < frames; frame += 1) {
    const power = spectrum.compute(pcm, frame * HOP);
    for (const { bank, energies } of outs) bank.apply(power, energies, frame * BANDS);
  }
  return outs.map(({ energies }) => energies);
}

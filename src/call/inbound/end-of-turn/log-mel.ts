import { Fft } from '../../../audio/fft.ts';

/** What the model hears: 8 s at 16 kHz, as 80 bands of 800 steps. */
export const WINDOW_RATE_HZ = 16_000;
export const WINDOW_SAMPLES = 8 * WINDOW_RATE_HZ;
export const BANDS = 80;
export const STEPS = 800;

/** Length of a step's transform, and the way to the next step. */
const SIZE = 400;
const HOP = WINDOW_SAMPLES / STEPS;
const BINS = SIZE / 2 + 1;
/** Keeps silence finite. */
const LEAST_POWER = 1e-10;
const LEAST_VARIANCE = 1e-7;
/** Bands quieter than the loudest by this many tens of dB are raised to it. */
const RANGE = 8;

/**
 * Log-mel features as Whisper's feature extractor makes them (Hugging Face `WhisperFeatureExtractor(chunk_length=8)` with `do_normalize`), for
 * models that were trained on them: zero mean and unit variance, a periodic Hann window, a centred power spectrum, Slaney's mel scale, and a range
 * of 80 dB below the loudest band, scaled to about -1 to 1.
 */
export class LogMel {
  readonly #transform = new RealTransform();
  readonly #padded = new Float64Array(WINDOW_SAMPLES + SIZE);
  readonly #power = [new Float64Array(BINS), new Float64Array(BINS)] as const;

  /**
   * @param pcm at 16 kHz; of more than 8 s the end counts, less is preceded by silence
   * @param into takes 80 × 800 features, band by band
   */
  process(pcm: Int16Array, into: Float32Array): void {
    const quiet = this.#prepare(pcm);
    let loudest = Number.NEGATIVE_INFINITY;
    for (let step = 0; step < STEPS; step += step === 0 ? Math.max(2, quiet) : 2) {
      this.#transform.powers(this.#padded, step * HOP, (step + 1) * HOP, this.#power);
      for (const [offset, power] of this.#power.entries()) {
        for (const [band, { from, weights }] of MEL_BANDS.entries()) {
          let sum = 0;
          for (let index = 0; index < weights.length; index += 1) sum += weights[index]! * power[from + index]!;
          const level = Math.log10(Math.max(LEAST_POWER, sum));
          into[band * STEPS + step + offset] = level;
          loudest = Math.max(loudest, level);
        }
      }
    }
    // The steps of the silence before the sound are all the same.
    for (let band = 0; band < BANDS; band += 1) into.fill(into[band * STEPS]!, band * STEPS, band * STEPS + quiet);
    for (let index = 0; index < into.length; index += 1) into[index] = (Math.max(into[index]!, loudest - RANGE) + 4) / 4;
  }

  /**
   * Silence, the sound, and its two ends mirrored; with zero mean and unit variance.
   * @returns how many steps, an even number, hold nothing but that silence
   */
  #prepare(pcm: Int16Array): number {
    const heard = pcm.length > WINDOW_SAMPLES ? pcm.subarray(pcm.length - WINDOW_SAMPLES) : pcm;
    const half = SIZE / 2;
    const first = half + WINDOW_SAMPLES - heard.length;
    let [sum, squares] = [0, 0];
    for (const sample of heard) {
      sum += sample / 32_768;
      squares += (sample / 32_768) ** 2;
    }
    const mean = sum / WINDOW_SAMPLES;
    const scale = 1 / Math.sqrt(squares / WINDOW_SAMPLES - mean * mean + LEAST_VARIANCE);
    this.#padded.fill(-mean * scale, half, first);
    for (let index = 0; index < heard.length; index += 1) this.#padded[first + index] = (heard[index]! / 32_768 - mean) * scale;
    const last = half + WINDOW_SAMPLES - 1;
    for (let distance = 1; distance <= half; distance += 1) {
      this.#padded[half - distance] = this.#padded[half + distance]!;
      this.#padded[last + distance] = this.#padded[last - distance]!;
    }
    return 2 * Math.max(0, Math.floor((first - SIZE) / HOP / 2));
  }
}

/**
 * Power spectra of 400 windowed samples, two at a time: one is the real part of the input, the other the imaginary one. 400 is no power of two, so
 * the transform is a convolution with a chirp (Bluestein).
 */
class RealTransform {
  readonly #fft = new Fft(1_024);
  readonly #re = new Float64Array(1_024);
  readonly #im = new Float64Array(1_024);
  readonly #chirpRe = new Float64Array(SIZE);
  readonly #chirpIm = new Float64Array(SIZE);
  readonly #filterRe = new Float64Array(1_024);
  readonly #filterIm = new Float64Array(1_024);
  readonly #window = Float64Array.from({ length: SIZE }, (_, index) => 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / SIZE));

  constructor() {
    const { size } = this.#fft;
    for (let index = 0; index < SIZE; index += 1) {
      // The square is reduced first: a cosine of a large angle is inexact.
      const angle = (Math.PI * ((index * index) % (2 * SIZE))) / SIZE;
      this.#chirpRe[index] = Math.cos(angle);
      this.#chirpIm[index] = -Math.sin(angle);
      for (const place of index === 0 ? [0] : [index, size - index]) {
        this.#filterRe[place] = Math.cos(angle) / size;
        this.#filterIm[place] = Math.sin(angle) / size;
      }
    }
    this.#fft.toBins(this.#filterRe, this.#filterIm);
  }

  /** @param into takes the powers of the samples from `first` on, and of those from `second` on */
  powers(samples: Float64Array, first: number, second: number, into: readonly [Float64Array, Float64Array]): void {
    const [re, im] = [this.#re, this.#im];
    for (let index = 0; index < SIZE; index += 1) {
      const weight = this.#window[index]!;
      const [one, other] = [weight * samples[first + index]!, weight * samples[second + index]!];
      const [chirpRe, chirpIm] = [this.#chirpRe[index]!, this.#chirpIm[index]!];
      re[index] = one * chirpRe - other * chirpIm;
      im[index] = one * chirpIm + other * chirpRe;
    }
    this.#fft.toBins(re, im, SIZE);
    for (let index = 0; index < re.length; index += 1) {
      const [a, b, c, d] = [re[index]!, im[index]!, this.#filterRe[index]!, this.#filterIm[index]!];
      re[index] = a * c - b * d;
      im[index] = a * d + b * c;
    }
    this.#fft.fromBins(re, im);
    for (let index = 0; index < SIZE; index += 1) {
      const [a, b, c, d] = [re[index]!, im[index]!, this.#chirpRe[index]!, this.#chirpIm[index]!];
      re[index] = a * c - b * d;
      im[index] = a * d + b * c;
    }
    for (let bin = 0; bin < BINS; bin += 1) {
      const mirrored = (SIZE - bin) % SIZE;
      const [a, b, c, d] = [re[bin]!, im[bin]!, re[mirrored]!, im[mirrored]!];
      into[0][bin] = ((a + c) ** 2 + (b - d) ** 2) / 4;
      into[1][bin] = ((b + d) ** 2 + (c - a) ** 2) / 4;
    }
  }
}

interface MelBand {
  /** Its first bin. */
  readonly from: number;
  readonly weights: Float64Array;
}

const MEL_BANDS: readonly MelBand[] = melBands();

/** Triangles that overlap by half on Slaney's mel scale from 0 to 8 kHz, each of the same area. */
function melBands(): readonly MelBand[] {
  const most = melOf(WINDOW_RATE_HZ / 2);
  const corners = Array.from({ length: BANDS + 2 }, (_, index) => hertzOf((most * index) / (BANDS + 1)));
  return Array.from({ length: BANDS }, (_, band) => {
    const [low, middle, high] = [corners[band]!, corners[band + 1]!, corners[band + 2]!];
    const weights = Array.from({ length: BINS }, (__, bin) => {
      const hertz = (bin * WINDOW_RATE_HZ) / SIZE;
      const height = Math.max(0, Math.min((hertz - low) / (middle - low), (high - hertz) / (high - middle)));
      return (2 * height) / (high - low);
    });
    const from = Math.max(
      0,
      weights.findIndex((weight) => weight > 0),
    );
    return { from, weights: Float64Array.from(weights.slice(from, weights.findLastIndex((weight) => weight > 0) + 1)) };
  });
}

/** Linear up to 1 kHz, which is 15 mel, logarithmic above. */
function melOf(hertz: number): number {
  return hertz < 1_000 ? (3 * hertz) / 200 : 15 + (27 * Math.log(hertz / 1_000)) / Math.log(6.4);
}

function hertzOf(mel: number): number {
  return mel < 15 ? (200 * mel) / 3 : 1_000 * Math.exp((Math.log(6.4) * (mel - 15)) / 27);
}

import { FRAME_SAMPLES_8K } from '../../audio/format.ts';
import { Fft } from '../../audio/fft.ts';
import { rmsLevelDb } from '../../audio/level.ts';

/** Acoustic features of a 20 ms frame, beside voicing; all but `likeLast` depend on that frame alone. */
export interface FrameSound {
  readonly levelDb: number;
  /** Frequency of the frame's only tone, or of the lower of two; 0 where the frame has more. */
  readonly toneHz: number;
  /** The upper of two tones; 0 where there are fewer. */
  readonly secondHz: number;
  /** How alike the spectrum is to that of the frame before: near 1 for held notes, lower for speech and noise. */
  readonly likeLast: number;
}

const RATE_HZ = 8_000;
const SIZE = 256;
const BIN_HZ = RATE_HZ / SIZE;
/** Lower and upper edge of the telephone band. */
const LOWEST_BIN = 7;
const HIGHEST_BIN = 110;
/** Bins to each side over which a 20 ms window spreads a tone. */
const SPREAD = 4;
/** Share of a frame's power that one or two tones must have to count as the whole frame. */
const TONE_SHARE = 0.86;
/** Least share of the weaker of two tones. */
const SECOND_SHARE = 0.15;
/** Below this level a frame holds no signal. */
const LEAST_LEVEL_DB = -48;
const NO_SOUND = { toneHz: 0, secondHz: 0, likeLast: 0 };

const fft = new Fft(SIZE);
const hann = Float64Array.from(
  { length: FRAME_SAMPLES_8K },
  (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (at + 0.5)) / FRAME_SAMPLES_8K),
);

/** Measures the frames of one line, one after the other. */
export class FrameSounds {
  readonly #re = new Float64Array(SIZE);
  readonly #im = new Float64Array(SIZE);
  #powers = new Float64Array(HIGHEST_BIN + 2);
  #last = new Float64Array(HIGHEST_BIN + 2);

  /** @param frame the next 160 samples of the line at 8 kHz; not kept */
  measure(frame: Int16Array): FrameSound {
    const levelDb = rmsLevelDb(frame);
    if (levelDb < LEAST_LEVEL_DB) {
      this.#last.fill(0);
      return { levelDb, ...NO_SOUND };
    }
    [this.#powers, this.#last] = [this.#last, this.#powers];
    const total = this.#transform(frame);
    return { levelDb, ...this.#tones(total), likeLast: likeness(this.#powers, this.#last) };
  }

  #transform(frame: Int16Array): number {
    this.#re.fill(0);
    this.#im.fill(0);
    for (const [at, weight] of hann.entries()) this.#re[at] = weight * (frame[at] ?? 0);
    fft.forward(this.#re, this.#im);
    let total = 0;
    for (let bin = LOWEST_BIN - 1; bin <= HIGHEST_BIN + 1; bin += 1) {
      const power = (this.#re[bin] ?? 0) ** 2 + (this.#im[bin] ?? 0) ** 2;
      this.#powers[bin] = power;
      total += power;
    }
    return total;
  }

  #tones(total: number): { readonly toneHz: number; readonly secondHz: number } {
    const first = this.#peak(Number.NEGATIVE_INFINITY);
    const firstShare = this.#around(first) / total;
    if (firstShare >= TONE_SHARE) return { toneHz: this.#frequency(first), secondHz: 0 };
    const second = this.#peak(first);
    const secondShare = this.#around(second) / total;
    if (second === 0 || secondShare < SECOND_SHARE || firstShare + secondShare < TONE_SHARE) return { toneHz: 0, secondHz: 0 };
    const [low, high] = [this.#frequency(first), this.#frequency(second)].sort((a, b) => a - b);
    return { toneHz: low ?? 0, secondHz: high ?? 0 };
  }

  /** The strongest bin outside the tone at `except`; 0 where there is none. */
  #peak(except: number): number {
    let best = 0;
    for (let bin = LOWEST_BIN; bin <= HIGHEST_BIN; bin += 1)
      if (Math.abs(bin - except) > SPREAD && this.#power(bin) > this.#power(best)) best = bin;
    return best;
  }

  #around(bin: number): number {
    let power = 0;
    for (let at = Math.max(LOWEST_BIN - 1, bin - SPREAD); at <= Math.min(HIGHEST_BIN + 1, bin + SPREAD); at += 1)
      power += this.#power(at);
    return power;
  }

  /** Interpolated between bins by a parabola through the log powers of the peak and its neighbours. */
  #frequency(bin: number): number {
    const [before, at, after] = [bin - 1, bin, bin + 1].map((near) => Math.log(this.#power(near) + 1));
    const curve = (before ?? 0) - 2 * (at ?? 0) + (after ?? 0);
    const offset = curve === 0 ? 0 : (0.5 * ((before ?? 0) - (after ?? 0))) / curve;
    return (bin + offset) * BIN_HZ;
  }

  #power(bin: number): number {
    return this.#powers[bin] ?? 0;
  }
}

/** Cosine of the angle between two power spectra. */
function likeness(powers: Float64Array, last: Float64Array): number {
  let [both, one, other] = [0, 0, 0];
  for (let bin = LOWEST_BIN; bin <= HIGHEST_BIN; bin += 1) {
    const [now, before] = [powers[bin] ?? 0, last[bin] ?? 0];
    both += now * before;
    one += now * now;
    other += before * before;
  }
  return one === 0 || other === 0 ? 0 : both / Math.sqrt(one * other);
}

import { FRAME_SAMPLES_8K } from './format.ts';

const HALF_RATE_SAMPLES = FRAME_SAMPLES_8K / 2;
/** Lags of 400 down to 62 Hz at 4 kHz, where human pitch lies. */
const LEAST_LAG = 10;
const MOST_LAG = 64;

/** So alike is a pitch: whether another lag is more alike yet, nobody asks. */
const SURELY = 0.9;

/** Measures how periodic a frame is, by the best normalised autocorrelation in the range of human pitch. */
export class PitchMeter {
  /** The last two frames at 4 kHz, oldest first. */
  readonly #recent = new Float64Array(2 * HALF_RATE_SAMPLES);

  measure(frame: Int16Array, wanted: boolean): number {
    const recent = this.#recent;
    recent.copyWithin(0, HALF_RATE_SAMPLES);
    for (let index = 0; index < HALF_RATE_SAMPLES; index += 1) {
      recent[HALF_RATE_SAMPLES + index] = (frame[2 * index]! + frame[2 * index + 1]!) / 2;
    }
    if (!wanted) return 0;
    const from = HALF_RATE_SAMPLES;
    const energy = energyOf(recent, from, recent.length);
    if (energy === 0) return 0;
    let lagged = energyOf(recent, from - LEAST_LAG, recent.length - LEAST_LAG);
    let bestShare = 0;
    for (let lag = LEAST_LAG; lag <= MOST_LAG; lag += 1) {
      const product = productAt(recent, lag);
      if (product > 0 && product * product > bestShare * lagged) {
        bestShare = (product * product) / lagged;
        if (bestShare >= SURELY * SURELY * energy) break;
      }
      // The next lag's window begins one sample earlier. Samples are whole halves, so that nothing is lost by adding and taking away.
      const enters = recent[from - lag - 1]!;
      const leaves = recent[recent.length - lag - 1]!;
      lagged += enters * enters - leaves * leaves;
    }
    return Math.sqrt(bestShare / energy);
  }
}

function energyOf(samples: Float64Array, from: number, until: number): number {
  let energy = 0;
  for (let index = from; index < until; index += 1) energy += samples[index]! * samples[index]!;
  return energy;
}

/** The newest frame times what came `lag` samples before it, four at a time: the sums do not wait for one another. */
function productAt(samples: Float64Array, lag: number): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let index = HALF_RATE_SAMPLES; index < 2 * HALF_RATE_SAMPLES; index += 4) {
    a += samples[index]! * samples[index - lag]!;
    b += samples[index + 1]! * samples[index + 1 - lag]!;
    c += samples[index + 2]! * samples[index + 2 - lag]!;
    d += samples[index + 3]! * samples[index + 3 - lag]!;
  }
  return a + b + c + d;
}

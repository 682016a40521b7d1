import rnnoise from '@echogarden/rnnoise-wasm';
import { FRAME_SAMPLES_8K } from '../../../audio/format.ts';

/** The network hears 10 ms at 48 kHz at a time. */
const PART_SAMPLES = 480;
/** From 8 to 48 kHz. */
const TIMES = 6;
const FLOAT_BYTES = 4;

/** The part of the WebAssembly module that is used. */
export interface RnnoiseModule {
  readonly HEAPF32: Float32Array;
  /** @param model 0 for the one that is built in */
  _rnnoise_create(model: number): number;
  _rnnoise_destroy(state: number): void;
  /** Denoises `from` into `into` and says how likely it is speech. */
  _rnnoise_process_frame(state: number, into: number, from: number): number;
  _malloc(bytes: number): number;
  _free(address: number): void;
}

/** RNNoise, a recurrent network of 88,000 weights; only its speech probability is used, not the denoised sound. */
export async function loadRnnoise(): Promise<SpeechModel> {
  const module = await rnnoise();
  return { open: () => new RnnoiseLine(module) };
}

class RnnoiseLine implements ModelLine {
  readonly #module: RnnoiseModule;
  readonly #state: number;
  readonly #part: number;
  readonly #upsampler = new Upsampler();
  readonly #wide = new Float32Array(FRAME_SAMPLES_8K * TIMES);

  constructor(module: RnnoiseModule) {
    this.#module = module;
    this.#state = module._rnnoise_create(0);
    this.#part = module._malloc(PART_SAMPLES * FLOAT_BYTES);
  }

  /** The likelier half of the frame counts. */
  judge(frame: Int16Array): number {
    this.#upsampler.process(frame, this.#wide);
    let most = 0;
    for (let from = 0; from < this.#wide.length; from += PART_SAMPLES) {
      this.#module.HEAPF32.set(this.#wide.subarray(from, from + PART_SAMPLES), this.#part / FLOAT_BYTES);
      most = Math.max(most, this.#module._rnnoise_process_frame(this.#state, this.#part, this.#part));
    }
    return most;
  }

  close(): void {
    this.#module._rnnoise_destroy(this.#state);
    this.#module._free(this.#part);
  }
}

/** Taps for each of the six output phases: as short as does no harm, since every frame of every call passes here. */
const TAPS = 8;

/**
 * Upsamples a line from 8 to 48 kHz frame by frame, 0.5 ms late. A fifth of the cost of `audio/resample`, whose longer filter the network does not
 * need.
 */
export class Upsampler {
  readonly #history = new Float32Array(TAPS + FRAME_SAMPLES_8K);

  /** @param frame 160 samples @param into takes 960 samples, in the scale of 16 bits */
  process(frame: Int16Array, into: Float32Array): void {
    const history = this.#history;
    history.copyWithin(0, FRAME_SAMPLES_8K);
    for (let index = 0; index < FRAME_SAMPLES_8K; index += 1) history[TAPS + index] = frame[index]!;
    for (let phase = 0; phase < TIMES; phase += 1) {
      const taps = PHASES[phase]!;
      for (let index = 0; index < FRAME_SAMPLES_8K; index += 1) {
        let sum = 0;
        for (let tap = 0; tap < TAPS; tap += 1) sum += taps[tap]! * history[index + 1 + tap]!;
        into[index * TIMES + phase] = sum;
      }
    }
  }
}

/** A sinc under a Hann window, each phase with a gain of 1. */
const PHASES = Array.from({ length: TIMES }, (_, phase) => {
  const taps = Float64Array.from({ length: TAPS }, (__, tap) => {
    const distance = tap - TAPS / 2 + 1 - phase / TIMES;
    const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / (TAPS / 2));
    return distance === 0 ? 1 : (window * Math.sin(Math.PI * distance)) / (Math.PI * distance);
  });
  const gain = taps.reduce((sum, tap) => sum + tap, 0);
  return Float32Array.from(taps, (tap) => tap / gain);
});

/** A neural network's state for one line. */
export interface ModelLine {
  /** @param frame 160 samples at 8 kHz; not kept @returns how likely it is speech, 0 to 1 */
  judge(frame: Int16Array): number;
  close(): void;
}

/** A neural network that tells speech from other sound, loaded once for all lines. */
export interface SpeechModel {
  open(): ModelLine;
}

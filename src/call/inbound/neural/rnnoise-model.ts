import rnnoise from '@echogarden/rnnoise-wasm';
import { FRAME_SAMPLES_8K } from '../../../audio/format.ts';
import type { ModelLine, SpeechModel } from './speech-model.ts';
import { Upsampler } from './upsample.ts';

/** The network hears 10 ms at 48 kHz at a time. */
const PART_SAMPLES = 480;
const TIMES = 6;
const FLOAT_BYTES = 4;

/** What of the WebAssembly module is used. */
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

/** RNNoise, a recurrent network of 88,000 weights: what it says of speech is used, and the sound it has cleaned is not. */
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

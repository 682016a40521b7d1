import rnnoise from '@echogarden/rnnoise-wasm';
import { FRAME_MS, NARROW_RATE_HZ } from '../../../audio/format.ts';
import { Resampler } from '../../../audio/resample.ts';
import { SampleBatch } from '../../../audio/samples.ts';
import { type RnnoiseModule, Upsampler } from './rnnoise-model.ts';

const RNNOISE_RATE_HZ = 48_000;
/** The network hears 10 ms at a time. */
const PART_SAMPLES = RNNOISE_RATE_HZ / 100;
const WIDE_SAMPLES = (RNNOISE_RATE_HZ / 1_000) * FRAME_MS;
const FLOAT_BYTES = 4;

/** Takes noise out of the sound that a recogniser hears, loaded once for all calls. */
export interface NoiseSuppressor {
  /** @param rateHz of the call's audio */
  open(rateHz: number): SuppressedLine;
}

/** One caller's line. */
export interface SuppressedLine {
  /** @param pcm any length, not kept @returns its whole frames of 20 ms, about 15 ms later, in memory of their own; the rest waits */
  process(pcm: Int16Array): Int16Array;
  close(): void;
}

/** RNNoise, whose denoised sound is used here; `rnnoise-model.ts` uses its speech probability. */
export async function loadNoiseSuppressor(): Promise<NoiseSuppressor> {
  const module = await rnnoise();
  return { open: (rateHz) => new RnnoiseSound(module, rateHz) };
}

/**
 * The line goes up to the network's 48 kHz and back. It runs on the calls' own thread: recognisers, unlike detectors, need every frame in its place.
 */
class RnnoiseSound implements SuppressedLine {
  readonly #module: RnnoiseModule;
  readonly #state: number;
  readonly #part: number;
  readonly #frame: SampleBatch;
  readonly #wide = new Float32Array(WIDE_SAMPLES);
  readonly #toWide: (frame: Int16Array) => void;
  readonly #down: Resampler;

  constructor(module: RnnoiseModule, rateHz: number) {
    this.#module = module;
    this.#state = module._rnnoise_create(0);
    this.#part = module._malloc(PART_SAMPLES * FLOAT_BYTES);
    this.#frame = new SampleBatch((rateHz / 1_000) * FRAME_MS);
    this.#toWide = rateHz === NARROW_RATE_HZ ? this.#mirrored() : this.#resampled(rateHz);
    this.#down = Resampler.forLine(RNNOISE_RATE_HZ, rateHz);
  }

  process(pcm: Int16Array): Int16Array {
    const frames = Math.floor((this.#frame.length + pcm.length) / (this.#frame.length + this.#frame.room));
    const quiet = new Int16Array(frames * WIDE_SAMPLES);
    for (let from = 0, done = 0; from < pcm.length; done += WIDE_SAMPLES) {
      from += this.#frame.add(pcm, from);
      if (this.#frame.room > 0) break;
      this.#toWide(this.#frame.take());
      for (let at = 0; at < WIDE_SAMPLES; at += PART_SAMPLES) this.#suppress(at, quiet, done + at);
    }
    return this.#down.process(quiet);
  }

  /** The plain filter leaves images of the line above 4 kHz. With nothing there the network takes a line's noise for speech. */
  #mirrored(): (frame: Int16Array) => void {
    const upsampler = new Upsampler();
    return (frame) => upsampler.process(frame, this.#wide);
  }

  #resampled(rateHz: number): (frame: Int16Array) => void {
    const up = Resampler.forLine(rateHz, RNNOISE_RATE_HZ);
    return (frame) => this.#wide.set(up.process(frame));
  }

  #suppress(from: number, into: Int16Array, at: number): void {
    const part = this.#part / FLOAT_BYTES;
    this.#module.HEAPF32.set(this.#wide.subarray(from, from + PART_SAMPLES), part);
    this.#module._rnnoise_process_frame(this.#state, this.#part, this.#part);
    const heard = this.#module.HEAPF32;
    for (let index = 0; index < PART_SAMPLES; index += 1)
      into[at + index] = Math.max(-32_768, Math.min(32_767, Math.round(heard[part + index]!)));
  }

  close(): void {
    this.#module._rnnoise_destroy(this.#state);
    this.#module._free(this.#part);
  }
}

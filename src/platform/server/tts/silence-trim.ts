import { joinSamples } from '../../../audio/join-samples.ts';

/** −40 dB of full scale (TTS doc, trim_silence). */
const threshold = Math.round(32_768 * 10 ** (-40 / 20));

/** Drops what is quieter than −40 dB at the start and at the end of a stream; pauses inside stay. */
export class SilenceTrim {
  #started = false;
  /** Quiet samples that are dropped unless something louder follows. */
  #quiet: Int16Array[] = [];

  /** @returns what is sure to stay, in memory of its own */
  push(pcm: Int16Array): Int16Array {
    const first = pcm.findIndex(isLoud);
    if (first === -1) {
      if (this.#started) this.#quiet.push(pcm.slice());
      return new Int16Array(0);
    }
    const last = pcm.findLastIndex(isLoud);
    const kept = pcm.subarray(this.#started ? 0 : first, last + 1);
    const joined = joinSamples([...this.#quiet, kept]);
    this.#started = true;
    this.#quiet = last + 1 < pcm.length ? [pcm.slice(last + 1)] : [];
    return joined;
  }
}

function isLoud(sample: number): boolean {
  return sample >= threshold || sample <= -threshold;
}

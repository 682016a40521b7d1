import { FrameCutter, levelOf } from './frame-cutter.ts';
import type { FromMicrophone, MicrophoneOptions } from './worklet-messages.ts';

class MicrophoneProcessor extends AudioWorkletProcessor {
  readonly #cutter: FrameCutter;
  #level = 0;

  constructor({ processorOptions }: { readonly processorOptions: MicrophoneOptions }) {
    super();
    this.#cutter = new FrameCutter(sampleRate, processorOptions.rateHz);
  }

  override process([input = []]: readonly Float32Array[][]): boolean {
    const [samples] = input;
    if (samples === undefined) return true;
    this.#level = Math.max(this.#level, levelOf(samples));
    for (const frame of this.#cutter.push(samples)) {
      this.port.postMessage({ samples: frame, level: this.#level } satisfies FromMicrophone, [frame.buffer]);
      this.#level = 0;
    }
    return true;
  }
}

registerProcessor('offhook-microphone', MicrophoneProcessor);

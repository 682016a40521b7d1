import { levelOf } from './frame-cutter.ts';
import { PlayoutQueue } from './playout-queue.ts';
import type { FromSpeaker, SpeakerOptions, ToSpeaker } from './worklet-messages.ts';

/** Blocks of 128 samples between two reports of levels: about 50 ms. */
const REPORT_EVERY = Math.round((0.05 * sampleRate) / 128);

class SpeakerProcessor extends AudioWorkletProcessor {
  readonly #queue: PlayoutQueue;
  #gains: readonly number[] = [];
  #blocks = 0;
  #loudest: number[] = [];

  constructor({ processorOptions }: { readonly processorOptions: SpeakerOptions }) {
    super();
    this.#queue = new PlayoutQueue({ ...processorOptions, outRateHz: sampleRate });
    this.port.onmessage = ({ data }: MessageEvent<ToSpeaker>) => this.#told(data);
  }

  override process(_inputs: readonly Float32Array[][], [output = []]: readonly Float32Array[][]): boolean {
    for (const name of this.#queue.render(output)) this.#tell({ type: 'mark', name });
    for (const [channel, samples] of output.entries()) {
      this.#loudest[channel] = Math.max(this.#loudest[channel] ?? 0, levelOf(samples));
      const gain = this.#gains[channel] ?? 1;
      if (gain !== 1) for (let at = 0; at < samples.length; at += 1) samples[at] = (samples[at] ?? 0) * gain;
    }
    this.#blocks += 1;
    if (this.#blocks >= REPORT_EVERY) {
      this.#tell({ type: 'levels', levels: this.#loudest, queuedMs: this.#queue.queuedMs });
      this.#blocks = 0;
      this.#loudest = [];
    }
    return true;
  }

  #told(message: ToSpeaker): void {
    switch (message.type) {
      case 'audio':
        return this.#queue.push(message.samples);
      case 'mark':
        return this.#queue.mark(message.name);
      case 'clear':
        return this.#queue.clear();
      case 'gains':
        this.#gains = message.gains;
    }
  }

  #tell(message: FromSpeaker): void {
    this.port.postMessage(message, []);
  }
}

registerProcessor('offhook-speaker', SpeakerProcessor);

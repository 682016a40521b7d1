import type { FromSpeaker, SpeakerOptions, ToSpeaker } from './worklet-messages.ts';

export interface SpeakerSettings extends SpeakerOptions {
  /** Address of `speaker-worklet`: `WORKLETS.speaker` of `worklets.ts` in the console. */
  readonly worklet: string;
  /** Where it is heard; the system's choice when absent. */
  readonly deviceId?: string | undefined;
  /** All that was given before this mark has been played; a mark that `clear` drops is never told. */
  readonly onMark?: (name: string) => void;
  /** Levels of each channel, about twenty times a second: root mean square, 0 to 1. */
  readonly onLevels?: (levels: readonly number[]) => void;
}

/** Plays 16-bit samples as they come, through a bounded buffer on the audio thread. To be opened from a click: browsers let no page sound before one. */
export class Speaker implements AsyncDisposable {
  readonly #context: AudioContext;
  readonly #node: AudioWorkletNode;

  private constructor(context: AudioContext, node: AudioWorkletNode) {
    this.#context = context;
    this.#node = node;
  }

  /** @throws DOMException where the browser has no sound */
  static async open({ worklet, deviceId, onMark, onLevels, ...options }: SpeakerSettings): Promise<Speaker> {
    const context = new AudioContext({ sampleRate: options.rateHz, latencyHint: 'interactive' });
    try {
      await context.audioWorklet.addModule(worklet);
      const node = new AudioWorkletNode(context, 'offhook-speaker', {
        numberOfInputs: 0,
        outputChannelCount: [options.channels],
        processorOptions: options,
      });
      node.port.onmessage = ({ data }: MessageEvent<FromSpeaker>) => {
        if (data.type === 'mark') onMark?.(data.name);
        else onLevels?.(data.levels);
      };
      node.connect(context.destination);
      const speaker = new Speaker(context, node);
      if (deviceId !== undefined) await speaker.setDevice(deviceId);
      await context.resume();
      return speaker;
    } catch (error) {
      await context.close();
      throw error;
    }
  }

  /** @param samples interleaved where there are two channels; not kept by the caller */
  play(samples: Int16Array): void {
    this.#tell({ type: 'audio', samples }, [samples.buffer]);
  }

  mark(name: string): void {
    this.#tell({ type: 'mark', name });
  }

  /** Drops what was not played, and its marks. */
  clear(): void {
    this.#tell({ type: 'clear' });
  }

  /** @param gains of each channel, 0 to 1 */
  setGains(gains: readonly number[]): void {
    this.#tell({ type: 'gains', gains });
  }

  /** Another output, in browsers that let a page choose one; nothing happens in others. */
  async setDevice(deviceId: string): Promise<void> {
    const context = this.#context as AudioContext & { readonly setSinkId?: (id: string) => Promise<void> };
    await context.setSinkId?.(deviceId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#node.port.onmessage = null;
    this.#node.disconnect();
    if (this.#context.state !== 'closed') await this.#context.close();
  }

  #tell(message: ToSpeaker, transfer: readonly ArrayBufferLike[] = []): void {
    this.#node.port.postMessage(message, transfer as Transferable[]);
  }
}

import type { FromMicrophone, MicrophoneOptions } from './worklet-messages.ts';

/** Why there is no microphone: nothing is attached, the person or the browser said no, another program has it, the page is not on https (or localhost). */
export type MicrophoneProblem = 'missing' | 'denied' | 'busy' | 'insecure' | 'failed';

export class MicrophoneError extends Error {
  readonly problem: MicrophoneProblem;

  constructor(problem: MicrophoneProblem, cause?: unknown) {
    super(`no microphone: ${problem}`, { cause });
    this.problem = problem;
  }
}

export interface MicrophoneSettings {
  /** Address of `microphone-worklet`: `WORKLETS.microphone` of `worklets.ts` in the console. */
  readonly worklet: string;
  /** Rate of the frames. */
  readonly rateHz: number;
  /** The system's choice when absent. */
  readonly deviceId?: string | undefined;
  /** Frames of 20 ms, mono, while it is open; silence while it is muted. @param level root mean square, 0 to 1 */
  readonly onFrame: (samples: Int16Array, level: number) => void;
  /** The device is gone, or the person took the permission back. Nothing follows. */
  readonly onLost?: () => void;
}

const PROBLEMS: Readonly<Record<string, MicrophoneProblem>> = {
  NotFoundError: 'missing',
  OverconstrainedError: 'missing',
  NotAllowedError: 'denied',
  SecurityError: 'denied',
  NotReadableError: 'busy',
  AbortError: 'busy',
};

/** A person's voice, without the echo of what the page plays; the browser takes that away. */
export class Microphone implements AsyncDisposable {
  readonly #stream: MediaStream;
  readonly #context: AudioContext;
  readonly #node: AudioWorkletNode;

  private constructor(stream: MediaStream, context: AudioContext, node: AudioWorkletNode) {
    this.#stream = stream;
    this.#context = context;
    this.#node = node;
  }

  /** Asks the person where they were not asked before. @throws MicrophoneError */
  static async open({ worklet, rateHz, deviceId, onFrame, onLost }: MicrophoneSettings): Promise<Microphone> {
    const stream = await streamOf(deviceId);
    let context: AudioContext | undefined;
    try {
      const found = contextFor(stream, rateHz);
      ({ context } = found);
      await context.audioWorklet.addModule(worklet);
      const options: MicrophoneOptions = { rateHz };
      const node = new AudioWorkletNode(context, 'offhook-microphone', {
        numberOfOutputs: 0,
        channelCount: 1,
        channelCountMode: 'explicit',
        processorOptions: options,
      });
      node.port.onmessage = ({ data }: MessageEvent<FromMicrophone>) => onFrame(data.samples, data.level);
      found.source.connect(node);
      for (const track of stream.getTracks()) track.addEventListener('ended', () => onLost?.(), { once: true });
      await context.resume();
      return new Microphone(stream, context, node);
    } catch (error) {
      for (const track of stream.getTracks()) track.stop();
      await context?.close();
      throw new MicrophoneError('failed', error);
    }
  }

  get isMuted(): boolean {
    return this.#stream.getAudioTracks().some(({ enabled }) => !enabled);
  }

  /** A muted microphone sends silence. */
  mute(isMuted: boolean): void {
    for (const track of this.#stream.getAudioTracks()) track.enabled = !isMuted;
  }

  /** Releases the device, whose light goes out. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#node.port.onmessage = null;
    for (const track of this.#stream.getTracks()) track.stop();
    this.#node.disconnect();
    if (this.#context.state !== 'closed') await this.#context.close();
  }
}

async function streamOf(deviceId: string | undefined): Promise<MediaStream> {
  // Undefined where the page is not on a secure address, whatever the types say.
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  if (devices === undefined) throw new MicrophoneError('insecure');
  try {
    return await devices.getUserMedia({
      audio: {
        echoCancellation: true,
        noiseSuppression: true,
        autoGainControl: true,
        channelCount: 1,
        ...(deviceId === undefined ? {} : { deviceId: { exact: deviceId } }),
      },
    });
  } catch (error) {
    throw new MicrophoneError((error instanceof DOMException ? PROBLEMS[error.name] : undefined) ?? 'failed', error);
  }
}

/** At the rate that is wanted; Firefox connects a microphone only to a context of the device's own rate, whose samples the worklet converts. */
function contextFor(stream: MediaStream, sampleRate: number): { context: AudioContext; source: MediaStreamAudioSourceNode } {
  const wanted = new AudioContext({ sampleRate });
  try {
    return { context: wanted, source: wanted.createMediaStreamSource(stream) };
  } catch {
    void wanted.close();
    const own = new AudioContext();
    return { context: own, source: own.createMediaStreamSource(stream) };
  }
}

/** Inputs and outputs that a person may choose from; without names until they have allowed the microphone once. */
export async function audioDevices(): Promise<{
  readonly inputs: readonly MediaDeviceInfo[];
  readonly outputs: readonly MediaDeviceInfo[];
}> {
  const found = (await (navigator.mediaDevices as MediaDevices | undefined)?.enumerateDevices()) ?? [];
  const named = found.filter(({ deviceId }) => deviceId !== '');
  return {
    inputs: named.filter(({ kind }) => kind === 'audioinput'),
    outputs: named.filter(({ kind }) => kind === 'audiooutput'),
  };
}

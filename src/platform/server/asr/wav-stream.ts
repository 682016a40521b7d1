import { decodeWavSamples, readWavLayout, WavError, type WavLayout, wavSampleBytes } from '../../../audio/wav.ts';
import { Refusal } from '../refusal.ts';
import type { AudioBytes } from './audio-bytes.ts';

/** Enough for every chunk that writers put before the samples. */
const headBytes = 256 * 1024;
/** Frames (one sample of each channel) decoded at once. */
const blockFrames = 32_768;

export interface DecodedAudio {
  readonly rateHz: number;
  readonly durationSeconds: number;
  /** Mono, oldest first; memory does not grow with the length of the file. */
  blocks(): AsyncIterable<Int16Array>;
}

/**
 * Opens an uploaded WAV file for reading.
 * @throws Refusal 415 when it cannot be decoded, with what was found
 */
export async function openWav(bytes: AudioBytes): Promise<DecodedAudio> {
  const head = await bytes.read(0, Math.min(headBytes, bytes.sizeBytes));
  const layout = layoutOf(head, bytes.sizeBytes);
  refuseTruncated(head, bytes.sizeBytes);
  const frameBytes = wavSampleBytes(layout.format) * layout.channels;
  const frames = Math.floor(layout.dataBytes / frameBytes);
  if (frames === 0) throw new Refusal(415, 'The audio holds no samples');
  return {
    rateHz: layout.rateHz,
    durationSeconds: frames / layout.rateHz,
    async *blocks() {
      for (let frame = 0; frame < frames; frame += blockFrames) {
        const count = Math.min(blockFrames, frames - frame);
        const block = await bytes.read(layout.dataOffset + frame * frameBytes, count * frameBytes);
        yield downmix(decodeWavSamples(layout.format, block), layout.channels);
      }
    },
  };
}

function layoutOf(head: Uint8Array, sizeBytes: number): WavLayout {
  try {
    return readWavLayout(head, sizeBytes);
  } catch (error) {
    if (!(error instanceof WavError)) throw error;
    throw new Refusal(415, `The audio could not be decoded: ${error.message}`, { cause: error });
  }
}

/** A file that says it is longer than it is lost its end on the way; 0 and the largest numbers mean "not known". */
function refuseTruncated(head: Uint8Array, sizeBytes: number): void {
  const said = new DataView(head.buffer, head.byteOffset, head.byteLength).getUint32(4, true) + 8;
  if (said > sizeBytes + 1 && said < 0x7fff_0000) {
    throw new Refusal(415, `The audio could not be decoded: the file ends after ${sizeBytes} of ${said} bytes`);
  }
}

/** Averages interleaved channels. */
export function downmix(interleaved: Int16Array, channels: number): Int16Array {
  if (channels === 1) return interleaved;
  const mono = new Int16Array(Math.floor(interleaved.length / channels));
  for (let frame = 0; frame < mono.length; frame += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) sum += interleaved[frame * channels + channel]!;
    mono[frame] = Math.round(sum / channels);
  }
  return mono;
}

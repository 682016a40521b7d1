import { open, type FileHandle } from 'node:fs/promises';
import { decodeWavSamples, readWavLayout, wavHeader, wavSampleBytes } from '../../audio/wav.ts';
import { SpeechMeter } from './speech-time.ts';

/** As much of a recording's start as may stand before its samples. */
const HEAD_BYTES = 65_536;
/** Read and written at a time: a call of hours takes no more memory than one of minutes. */
const BLOCK_FRAMES = 65_536;

export interface RecordingFacts {
  readonly channels: number;
  readonly totalS: number;
  readonly callerSpeechS: number;
  readonly botSpeechS: number;
}

/**
 * Goes through a recording once, in pieces: measures the speech of its first two channels and writes the first, the
 * caller's, as a mono WAV of 16 bits.
 * @throws WavError for what is no WAV; the file system's errors
 */
export async function separateCaller(recordingPath: string, callerPath: string): Promise<RecordingFacts> {
  await using source = await open(recordingPath, 'r');
  const { size } = await source.stat();
  const { format, rateHz, channels, dataOffset, dataBytes } = readWavLayout(await readAt(source, 0, HEAD_BYTES), size);
  const frameBytes = wavSampleBytes(format) * channels;
  const frames = Math.floor(dataBytes / frameBytes);
  const meters = [new SpeechMeter(rateHz), new SpeechMeter(rateHz)] as const;

  await using target = await open(callerPath, 'w', 0o600);
  await target.write(wavHeader({ rateHz, channels: 1, dataBytes: frames * 2, encoding: 'pcm16' }));
  for (let done = 0; done < frames;) {
    const wanted = Math.min(BLOCK_FRAMES, frames - done);
    const interleaved = decodeWavSamples(format, await readAt(source, dataOffset + done * frameBytes, wanted * frameBytes));
    const got = Math.floor(interleaved.length / channels);
    // The file shrank while it was read.
    if (got === 0) break;
    for (const [channel, meter] of meters.entries()) {
      if (channel >= channels) continue;
      const samples = Int16Array.from({ length: got }, (_, index) => interleaved[index * channels + channel]!);
      meter.push(samples);
      if (channel === 0) await target.write(Buffer.from(samples.buffer));
    }
    done += got;
  }
  return { channels, totalS: frames / rateHz, callerSpeechS: meters[0].seconds, botSpeechS: meters[1].seconds };
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

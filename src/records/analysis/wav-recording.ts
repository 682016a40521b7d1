import { openAsBlob } from 'node:fs';
import { rm, copyFile, open, type FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pourIntoFile } from '../../kernel/file-streams.ts';
import { splitWav } from '../../speech/asr/split-wav.ts';
import { wavSampleBytes, decodeWavSamples, readWavLayout, wavHeader, type WavLayout } from '../../audio/wav.ts';
import { Resampler } from '../../audio/resample.ts';
import { SpeechMeter, type Stretch } from './speech-meter.ts';

/** As much of a recording's start as may stand before its samples. */
const HEAD_BYTES = 65_536;
/** Read and written at a time: a call of hours takes no more memory than one of minutes. */
const BLOCK_FRAMES = 65_536;
/** The platform hears at this rate (ASR doc, "The audio is converted to 16 kHz mono"): more would be sent in vain. */
const MOST_RATE_HZ = 16_000;

export interface WavFacts extends WavLayout {
  readonly totalS: number;
  /** Seconds that the header promises, where the file ends before them. */
  readonly promisedS: number | undefined;
}

export interface SeparatedRecording {
  readonly channels: number;
  readonly totalS: number;
  /** Where speech is, for each of the first two channels. */
  readonly speech: readonly (readonly Stretch[])[];
  /** Both channels carry the same sound: a mono recording in a stereo file. */
  readonly isTwice: boolean;
}

/** Reads what stands before the samples. @throws WavError for what is no WAV; the file system's errors */
export async function inspectWav(path: string): Promise<WavFacts> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  const head = await readAt(file, 0, HEAD_BYTES);
  const layout = readWavLayout(head, size);
  const { dataOffset, dataBytes, rateHz } = layout;
  const frameBytes = wavSampleBytes(layout.format) * layout.channels;
  const promised = new DataView(head.buffer, head.byteOffset + dataOffset - 4, 4).getUint32(0, true);
  const isCut = promised !== 0xffff_ffff && promised > dataBytes + frameBytes;
  return {
    ...layout,
    totalS: Math.floor(dataBytes / frameBytes) / rateHz,
    promisedS: isCut ? promised / frameBytes / rateHz : undefined,
  };
}

/** Copies a WAV that ends before its header says, with a header that says what is there. */
export async function copyWhole(path: string, target: string): Promise<void> {
  const { dataOffset, dataBytes, format, channels } = await inspectWav(path);
  const frameBytes = wavSampleBytes(format) * channels;
  const whole = dataBytes - (dataBytes % frameBytes);
  await copyFile(path, target);
  await using file = await open(target, 'r+');
  await file.truncate(dataOffset + whole);
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32LE(dataOffset - 8 + whole, 0);
  lengths.writeUInt32LE(whole, 4);
  await file.write(lengths, 0, 4, 4);
  await file.write(lengths, 4, 4, dataOffset - 4);
}

/**
 * Goes through a recording once, in pieces: finds the speech of its first two channels and writes those that are wanted,
 * each as a mono WAV of 16 bits at 16 kHz or its own lower rate.
 * @param targets where the first channels go, in order; undefined for one that is not wanted
 * @throws WavError for what is no WAV; the file system's errors
 */
export async function separateChannels(
  recordingPath: string,
  targets: readonly (string | undefined)[],
): Promise<SeparatedRecording> {
  await using source = await open(recordingPath, 'r');
  const { size } = await source.stat();
  const { format, rateHz, channels, dataOffset, dataBytes } = readWavLayout(await readAt(source, 0, HEAD_BYTES), size);
  const frameBytes = wavSampleBytes(format) * channels;
  const frames = Math.floor(dataBytes / frameBytes);
  const meters = Array.from({ length: Math.min(2, channels) }, () => new SpeechMeter(rateHz));
  const wantedTargets = targets.slice(0, channels);
  await using outputs = await ChannelWriters.open(wantedTargets, rateHz);

  let isTwice = channels === 2;
  for (let done = 0; done < frames;) {
    const wanted = Math.min(BLOCK_FRAMES, frames - done);
    const interleaved = decodeWavSamples(format, await readAt(source, dataOffset + done * frameBytes, wanted * frameBytes));
    const got = Math.floor(interleaved.length / channels);
    // The file shrank while it was read.
    if (got === 0) break;
    const blocks: Int16Array[] = [];
    for (let channel = 0; channel < Math.max(meters.length, wantedTargets.length); channel += 1) {
      const samples = channelOf(interleaved, channel, channels, got);
      blocks.push(samples);
      meters[channel]?.push(samples);
      await outputs.of(channel)?.write(samples);
    }
    const [left, right] = blocks;
    isTwice &&= left !== undefined && right !== undefined && Buffer.compare(bytesOf(left), bytesOf(right)) === 0;
    done += got;
  }
  await outputs.finish();
  return { channels, totalS: frames / rateHz, speech: meters.map(({ stretches }) => stretches), isTwice };
}

/** One writer for each channel that is wanted, closed together. */
class ChannelWriters implements AsyncDisposable {
  readonly #writers: (ChannelWriter | undefined)[] = [];

  static async open(targets: readonly (string | undefined)[], rateHz: number): Promise<ChannelWriters> {
    const all = new ChannelWriters();
    try {
      for (const target of targets)
        all.#writers.push(target === undefined ? undefined : await ChannelWriter.open(target, rateHz));
      return all;
    } catch (error) {
      await all[Symbol.asyncDispose]();
      throw error;
    }
  }

  of(channel: number): ChannelWriter | undefined {
    return this.#writers[channel];
  }

  async finish(): Promise<void> {
    for (const writer of this.#writers) await writer?.finish();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const writer of this.#writers) await writer?.[Symbol.asyncDispose]();
  }
}

/** A mono WAV that is written piece by piece and gets its length at the end. */
class ChannelWriter implements AsyncDisposable {
  readonly #file: FileHandle;
  readonly #rateHz: number;
  readonly #resampler: Resampler | undefined;
  #bytes = 0;

  private constructor(file: FileHandle, rateHz: number) {
    this.#file = file;
    this.#rateHz = Math.min(rateHz, MOST_RATE_HZ);
    if (rateHz > MOST_RATE_HZ) this.#resampler = new Resampler(rateHz, MOST_RATE_HZ);
  }

  static async open(path: string, rateHz: number): Promise<ChannelWriter> {
    const file = await open(path, 'w', 0o600);
    await file.appendFile(new Uint8Array(44));
    return new ChannelWriter(file, rateHz);
  }

  async write(samples: Int16Array): Promise<void> {
    const bytes = bytesOf(this.#resampler?.process(samples) ?? samples);
    await this.#file.appendFile(bytes);
    this.#bytes += bytes.length;
  }

  async finish(): Promise<void> {
    if (this.#resampler !== undefined) {
      const rest = bytesOf(this.#resampler.flush());
      await this.#file.appendFile(rest);
      this.#bytes += rest.length;
    }
    const header = wavHeader({ rateHz: this.#rateHz, channels: 1, dataBytes: this.#bytes, encoding: 'pcm16' });
    await this.#file.write(header, 0, header.length, 0);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#file.close();
  }
}

function channelOf(interleaved: Int16Array, channel: number, channels: number, frames: number): Int16Array {
  if (channels === 1) return interleaved;
  const samples = new Int16Array(frames);
  for (let frame = 0, at = channel; frame < frames; frame += 1, at += channels) samples[frame] = interleaved[at] ?? 0;
  return samples;
}

function bytesOf(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
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

/** What the platform takes at once: 500 MB and four hours (ASR doc, limits). */
export const PLATFORM_LIMITS = { bytes: 500 * 1024 * 1024, seconds: 4 * 3600 } as const;

/** A file that may be sent as it is, and where it begins in the whole. */
export interface RecordingPiece {
  readonly path: string;
  readonly startS: number;
}

/**
 * A WAV file as files within the limits, cut where it is quietest. One that is within them stays what it is; the others are
 * written beside `stem`, and are the caller's to remove.
 * @throws WavError
 */
export async function splitRecording(
  path: string,
  stem: string,
  signal: AbortSignal,
  limits: { readonly bytes: number; readonly seconds: number } = PLATFORM_LIMITS,
): Promise<RecordingPiece[]> {
  const { dataOffset, dataBytes, rateHz, format, channels } = await inspectWav(path);
  const bytesBySeconds = dataOffset + Math.floor(limits.seconds * rateHz) * wavSampleBytes(format) * channels;
  const maxBytes = Math.min(limits.bytes, bytesBySeconds);
  if (dataOffset + dataBytes <= maxBytes) return [{ path, startS: 0 }];
  const pieces: RecordingPiece[] = [];
  try {
    for (const [index, { blob, startS }] of (await splitWav(await openAsBlob(path), maxBytes)).entries()) {
      const piece = `${stem}.${index + 1}.wav`;
      pieces.push({ path: piece, startS });
      await pourIntoFile(Readable.from(blob.stream(), { objectMode: false }), piece, { signal });
    }
  } catch (error) {
    for (const { path: piece } of pieces) await rm(piece, { force: true });
    throw error;
  }
  return pieces;
}

import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { decodeAudio, encodeAudio } from '../codec.ts';
import { CompressedAudioError, MediaUnreadableError } from '../errors.ts';
import { FLAC_BLOCK, FLAC_HEAD_BYTES, FLAC_START, FlacEncoder } from '../flac/flac-encoder.ts';
import { type ByteSource, FileBytes } from '../byte-source.ts';
import { type FlacHead, flacBlocks, readFlacHead } from '../flac/flac-decoder.ts';
import { readOpusRecording } from '../opus/ogg-opus.ts';
import { OpusEncoder, opusFrame, OPUS_RATES } from '../opus/opus-encoder.ts';
import type { CompressedFormat } from '../recording-format.ts';
import { readWavLayout, wavHeader, type WavLayout } from '../wav.ts';

/** A job of the coding thread. The output's folder exists; an output file of this name is overwritten. */
export interface FileCoding {
  readonly type: 'compress' | 'restore';
  readonly format: CompressedFormat;
  readonly inputPath: string;
  readonly outputPath: string;
}

/** Higher complexity than this doubles the time and sounds the same on a telephone line. */
const VOICE_ON_A_LINE = { kbpsPerChannel: 16, application: 'audio', complexity: 2 } as const;

/** The WAV header, with all chunks before the samples, fits this. */
const HEAD_BYTES = 65_536;
const WAV_HEADER_BYTES = 44;

/**
 * Compresses a 16-bit WAV to FLAC or Opus, or restores the WAV, in small pieces; the output is durable on return. FLAC is checked
 * against its MD5 both ways. Blocks its thread.
 * @throws CompressedAudioError, WavError, MediaUnreadableError, or the file system's error
 */
export async function codeFile({ type, format, inputPath, outputPath }: FileCoding): Promise<void> {
  using input = new FileBytes(inputPath);
  using output = new FileOutput(outputPath);
  if (type === 'restore') {
    if (format === 'flac') await restoreFlac(input, output);
    else await restoreOpus(input, output);
  } else {
    const layout = readWavLayout(input.read(0, HEAD_BYTES), input.sizeBytes);
    if (layout.format !== 'pcm16') throw new CompressedAudioError('only recordings of 16 bits are compressed');
    if (format === 'flac') compressFlac(input, layout, output);
    else compressOpus(input, layout, output);
  }
  output.flush();
  if (type === 'compress' && format === 'flac') {
    using written = new FileBytes(outputPath);
    for await (const _samples of flacPieces(written)) continue;
  }
}

function compressFlac(input: ByteSource, layout: WavLayout, output: FileOutput): void {
  const encoder = new FlacEncoder(layout.rateHz, layout.channels);
  output.write(new Uint8Array(FLAC_HEAD_BYTES));
  for (const samples of wavPieces(input, layout, FLAC_BLOCK)) output.write(encoder.frame(samples));
  output.writeAt(encoder.head(), 0);
}

function compressOpus(input: ByteSource, layout: WavLayout, output: FileOutput): void {
  const { channels } = layout;
  const rateHz = OPUS_RATES.find((rate) => rate === layout.rateHz);
  if (rateHz === undefined || channels > 2)
    throw new CompressedAudioError('Opus takes one or two channels at 8, 12, 16, 24 or 48 kHz');
  // A file has one stream, so that any serial serves.
  using encoder = new OpusEncoder({ rateHz, channels, serial: 1, ...VOICE_ON_A_LINE });
  output.write(encoder.head());
  for (const samples of wavPieces(input, layout, opusFrame(rateHz))) output.write(encoder.frame(samples));
  output.write(encoder.end());
}

function restoreFlac(input: ByteSource, output: FileOutput): Promise<void> {
  const { rateHz, channels } = ownFlacHead(input);
  return restore(flacPieces(input), rateHz, channels, output);
}

function restoreOpus(input: ByteSource, output: FileOutput): Promise<void> {
  const { rateHz, channels, pieces } = readOpusRecording(input);
  return restore(pieces, rateHz, channels, output);
}

async function restore(
  pieces: Iterable<Int16Array> | AsyncIterable<Int16Array>,
  rateHz: number,
  channels: number,
  output: FileOutput,
): Promise<void> {
  output.write(new Uint8Array(WAV_HEADER_BYTES));
  let dataBytes = 0;
  for await (const samples of pieces) {
    output.write(encodeAudio('pcm16', samples));
    dataBytes += samples.byteLength;
  }
  output.writeAt(wavHeader({ rateHz, channels, dataBytes, encoding: 'pcm16' }), 0);
}

function* wavPieces(input: ByteSource, { dataOffset, dataBytes, channels }: WavLayout, frames: number): Generator<Int16Array> {
  const frameBytes = 2 * channels;
  const end = dataOffset + Math.min(dataBytes, input.sizeBytes - dataOffset);
  for (let at = dataOffset; at + frameBytes <= end; at += frames * frameBytes) {
    const there = Math.min(frames, Math.floor((end - at) / frameBytes));
    yield decodeAudio('pcm16', input.read(at, there * frameBytes));
  }
}

/** @throws CompressedAudioError for a file that `FlacEncoder` did not write: one block of metadata, 16 bits, blocks of one length */
function ownFlacHead(input: ByteSource): FlacHead {
  const start = Buffer.from(input.read(0, FLAC_START.length));
  const head = start.equals(FLAC_START) && input.sizeBytes >= FLAC_HEAD_BYTES ? readFlacHead(input) : undefined;
  if (head === undefined || head.sampleBits !== 16 || head.rateHz === 0)
    throw new CompressedAudioError('not a FLAC file of the kind that is written here');
  return head;
}

/** @throws CompressedAudioError when the file is damaged, at the end too, when the MD5 differs */
async function* flacPieces(input: ByteSource): AsyncGenerator<Int16Array> {
  const head = ownFlacHead(input);
  const md5 = createHash('md5');
  let values = 0;
  try {
    for await (const { channels, samples } of flacBlocks(input)) {
      const interleaved = new Int16Array(samples * channels.length);
      for (const [side, channel] of channels.entries())
        for (let at = 0; at < samples; at += 1)
          interleaved[at * channels.length + side] = Math.round((channel[at] ?? 0) * 32_767);
      md5.update(encodeAudio('pcm16', interleaved));
      values += interleaved.length;
      yield interleaved;
    }
  } catch (error) {
    if (error instanceof MediaUnreadableError) throw new CompressedAudioError('the FLAC file is damaged', { cause: error });
    throw error;
  }
  if (values !== head.samples * head.channels || !md5.digest().equals(head.md5))
    throw new CompressedAudioError('the FLAC file does not hold what its head promises');
}

/** A file written from start to end. */
class FileOutput implements Disposable {
  readonly #file: number;
  #length = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'w', 0o600);
  }

  write(bytes: Uint8Array): void {
    this.writeAt(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Loops, because one write may take only a part of the bytes. */
  writeAt(bytes: Uint8Array, position: number): void {
    for (let done = 0; done < bytes.length;) done += writeSync(this.#file, bytes, done, bytes.length - done, position + done);
  }

  flush(): void {
    fsyncSync(this.#file);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}

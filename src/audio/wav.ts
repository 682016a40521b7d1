import { OffhookError } from '../kernel/errors.ts';
import { decodeAudio } from './codec.ts';
import { bytesPerSample, type Encoding } from './format.ts';

/** Not a WAV file that can be read; the message says what was found and what is accepted. */
export class WavError extends OffhookError {
  readonly code = 'OFFHOOK_WAV_INVALID';
  readonly retryable = false;
}

export interface WavHeaderFacts {
  readonly rateHz: number;
  readonly channels: number;
  readonly dataBytes: number;
  readonly encoding: Encoding;
}

const FORMAT_TAGS = { pcm16: 1, alaw: 6, mulaw: 7 } as const;

/** The 44-byte header of a WAV file (RIFF, `fmt ` of 16 bytes, `data`). */
export function wavHeader({ rateHz, channels, dataBytes, encoding }: WavHeaderFacts): Uint8Array {
  const width = bytesPerSample(encoding);
  const header = new Uint8Array(44);
  const view = new DataView(header.buffer);
  const ascii = (at: number, text: string): void => header.set(Buffer.from(text, 'latin1'), at);
  ascii(0, 'RIFF');
  view.setUint32(4, Math.min(0xffff_ffff, 36 + dataBytes), true);
  ascii(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, FORMAT_TAGS[encoding], true);
  view.setUint16(22, channels, true);
  view.setUint32(24, rateHz, true);
  view.setUint32(28, rateHz * channels * width, true);
  view.setUint16(32, channels * width, true);
  view.setUint16(34, width * 8, true);
  ascii(36, 'data');
  view.setUint32(40, Math.min(0xffff_ffff, dataBytes), true);
  return header;
}

export type WavSampleFormat = 'pcm8' | 'pcm16' | 'pcm24' | 'pcm32' | 'float32' | 'mulaw' | 'alaw';

/** Where the samples of a WAV file are and how to read them. */
export interface WavLayout {
  readonly format: WavSampleFormat;
  readonly rateHz: number;
  readonly channels: number;
  readonly dataOffset: number;
  /** As the header says; to the end of the file where it says 0 or 0xFFFFFFFF (a file that was never finished). */
  readonly dataBytes: number;
}

export interface WavAudio extends WavLayout {
  /** One array for each channel, all of one length. */
  readonly samples: readonly Int16Array[];
}

/**
 * Reads the chunks before the samples.
 * @param bytes the start of the file, with all chunks before the samples
 * @param fileBytes length of the whole file, when `bytes` is only its start
 * @throws WavError
 */
export function readWavLayout(bytes: Uint8Array, fileBytes = bytes.length): WavLayout {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 12 || tag(bytes, 0) !== 'RIFF' || tag(bytes, 8) !== 'WAVE') {
    throw new WavError('not a WAV file: it does not start with RIFF and WAVE');
  }
  let format: Pick<WavLayout, 'format' | 'rateHz' | 'channels'> | undefined;
  for (let at = 12; at + 8 <= bytes.length;) {
    const name = tag(bytes, at);
    const size = view.getUint32(at + 4, true);
    const body = at + 8;
    if (name === 'fmt ') format = readFormat(view, body, size);
    if (name === 'data') {
      if (format === undefined) throw new WavError('not a readable WAV file: the samples come before their format');
      const there = Math.max(0, fileBytes - body);
      // A length of 0 means an empty file only where the RIFF length was written too.
      const empty = size === 0 && view.getUint32(4, true) + 8 >= fileBytes;
      const unfinished = (size === 0 && !empty) || size === 0xffff_ffff;
      return { ...format, dataOffset: body, dataBytes: unfinished ? there : Math.min(size, there) };
    }
    at = body + size + (size % 2);
  }
  throw new WavError(`not a readable WAV file: no ${format === undefined ? 'fmt ' : 'data'} chunk`);
}

/** Reads a whole WAV file into memory. @throws WavError */
export function parseWav(bytes: Uint8Array): WavAudio {
  const layout = readWavLayout(bytes);
  const data = bytes.subarray(layout.dataOffset, layout.dataOffset + layout.dataBytes);
  return { ...layout, samples: splitChannels(decodeWavSamples(layout.format, data), layout.channels) };
}

export function wavSampleBytes(format: WavSampleFormat): number {
  const widths = { pcm8: 1, mulaw: 1, alaw: 1, pcm16: 2, pcm24: 3, pcm32: 4, float32: 4 } as const;
  return widths[format];
}

/** Converts sample bytes to 16 bits, channels still interleaved; an incomplete last sample is left out. */
export function decodeWavSamples(format: WavSampleFormat, data: Uint8Array): Int16Array {
  if (format === 'mulaw' || format === 'alaw') return decodeAudio(format, data);
  const width = wavSampleBytes(format);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const pcm = new Int16Array(Math.floor(data.length / width));
  for (let index = 0; index < pcm.length; index += 1) pcm[index] = sampleAt(format, view, index * width);
  return pcm;
}

/** Writes mono or interleaved 16-bit samples as a WAV file. */
export function wavFile(pcm: Int16Array, rateHz: number, channels = 1): Uint8Array {
  const header = wavHeader({ rateHz, channels, dataBytes: pcm.length * 2, encoding: 'pcm16' });
  const file = new Uint8Array(header.length + pcm.length * 2);
  file.set(header);
  const view = new DataView(file.buffer, header.length);
  for (const [index, sample] of pcm.entries()) view.setInt16(index * 2, sample, true);
  return file;
}

function splitChannels(interleaved: Int16Array, channels: number): Int16Array[] {
  const length = Math.floor(interleaved.length / channels);
  return Array.from({ length: channels }, (_, channel) =>
    Int16Array.from({ length }, (__, index) => interleaved[index * channels + channel] ?? 0),
  );
}

function sampleAt(format: 'pcm8' | 'pcm16' | 'pcm24' | 'pcm32' | 'float32', view: DataView, at: number): number {
  switch (format) {
    case 'pcm8':
      return (view.getUint8(at) - 128) << 8;
    case 'pcm16':
      return view.getInt16(at, true);
    case 'pcm24':
      return view.getInt16(at + 1, true);
    case 'pcm32':
      return view.getInt16(at + 2, true);
    case 'float32':
      return Math.max(-32_768, Math.min(32_767, Math.round(view.getFloat32(at, true) * 32_767)));
  }
}

function readFormat(view: DataView, at: number, size: number): Pick<WavLayout, 'format' | 'rateHz' | 'channels'> {
  if (size < 16 || at + 16 > view.byteLength) throw new WavError('not a readable WAV file: its fmt chunk is cut off');
  const plainTag = view.getUint16(at, true);
  // WAVE_FORMAT_EXTENSIBLE has the real tag in the first two bytes of its sub-format.
  const formatTag = plainTag === 0xfffe && size >= 26 && at + 26 <= view.byteLength ? view.getUint16(at + 24, true) : plainTag;
  const channels = view.getUint16(at + 2, true);
  const rateHz = view.getUint32(at + 4, true);
  const bits = view.getUint16(at + 14, true);
  const format = sampleFormat(formatTag, bits);
  if (format === undefined) {
    throw new WavError(
      `WAV with format tag ${formatTag} and ${bits} bits cannot be read; PCM of 8, 16, 24 or 32 bits, 32-bit float, mu-law and A-law can`,
    );
  }
  if (channels < 1 || channels > 16) throw new WavError(`WAV with ${channels} channels cannot be read; 1 to 16 can`);
  if (rateHz < 1_000 || rateHz > 192_000) throw new WavError(`WAV at ${rateHz} Hz cannot be read; 1000 to 192000 Hz can`);
  return { format, channels, rateHz };
}

function sampleFormat(formatTag: number, bits: number): WavSampleFormat | undefined {
  if (formatTag === 6) return 'alaw';
  if (formatTag === 7) return 'mulaw';
  if (formatTag === 3) return bits === 32 ? 'float32' : undefined;
  if (formatTag !== 1) return undefined;
  const widths: Readonly<Record<number, WavSampleFormat>> = { 8: 'pcm8', 16: 'pcm16', 24: 'pcm24', 32: 'pcm32' };
  return widths[bits];
}

function tag(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}

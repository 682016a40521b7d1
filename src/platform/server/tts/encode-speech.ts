import { createMp3Encoder } from 'wasm-media-encoders';
import { setImmediate } from 'node:timers/promises';
import { FLAC_BLOCK, FlacEncoder } from '../../../audio/flac/flac-encoder.ts';
import { encodeAudio } from '../../../audio/codec.ts';
import { wavFile, wavHeader } from '../../../audio/wav.ts';
import { joinSamples } from '../../../audio/samples.ts';
import { type SpeechFormat, type Quality, qualityFacts } from './audio-formats.ts';
import { encodeOggOpus } from './opus.ts';

/** The samples of a whole answer in its format. */
export async function encodeSpeech(pcm: Int16Array, format: SpeechFormat, quality: Quality): Promise<Uint8Array> {
  switch (format.name) {
    case 'wav':
      return wavFile(pcm, format.rateHz);
    case 'mp3':
      return encodeMp3(pcm, 24_000, qualityFacts[quality].mp3Kbps);
    case 'ogg_opus':
      return encodeOggOpus(pcm, qualityFacts[quality].opusKbps);
    case 'flac':
      return encodeFlac(pcm, format.rateHz);
    case 'pcm':
      return encodeAudio('pcm16', pcm);
    case 'mulaw':
    case 'alaw':
      return encodeAudio(format.name, pcm);
  }
}

/**
 * Encodes one chunk of a stream. Its answers, one after another, are the whole file; an empty one is not sent.
 * @param isFinal nothing comes after this chunk
 */
export type ChunkEncoder = (pcm: Int16Array, isFinal: boolean) => Uint8Array | Promise<Uint8Array>;

/** The encoder of one stream. FLAC and Ogg Opus come whole with the last chunk; the others as they are made. */
export async function chunkEncoder(format: SpeechFormat, quality: Quality): Promise<ChunkEncoder> {
  switch (format.name) {
    case 'pcm':
      return (pcm) => encodeAudio('pcm16', pcm);
    case 'mulaw':
    case 'alaw': {
      const { name } = format;
      return (pcm) => encodeAudio(name, pcm);
    }
    case 'wav': {
      // Of no known length yet, which the largest number stands for.
      let header: Uint8Array = wavHeader({ rateHz: format.rateHz, channels: 1, dataBytes: 0xffff_ffff, encoding: 'pcm16' });
      return (pcm) => {
        const bytes = Buffer.concat([header, encodeAudio('pcm16', pcm)]);
        header = new Uint8Array(0);
        return bytes;
      };
    }
    case 'mp3': {
      const stream = await Mp3Stream.start(24_000, qualityFacts[quality].mp3Kbps);
      return (pcm, isFinal) => (isFinal ? Buffer.concat([stream.push(pcm), stream.end()]) : stream.push(pcm));
    }
    case 'ogg_opus':
    case 'flac': {
      const parts: Int16Array[] = [];
      return (pcm, isFinal) => {
        parts.push(pcm);
        return isFinal ? encodeSpeech(joinSamples(parts), format, quality) : new Uint8Array(0);
      };
    }
  }
}

/** Blocks encoded before others have a turn: some milliseconds. */
const BLOCKS_AT_ONCE = 8;

/** A whole FLAC file, mono, 16 bits. */
export async function encodeFlac(pcm: Int16Array, rateHz: number): Promise<Uint8Array> {
  const encoder = new FlacEncoder(rateHz, 1);
  const frames: Uint8Array[] = [];
  for (let at = 0, index = 0; at < pcm.length; at += FLAC_BLOCK, index += 1) {
    if (index % BLOCKS_AT_ONCE === 0) await setImmediate();
    frames.push(Uint8Array.from(encoder.frame(pcm.subarray(at, at + FLAC_BLOCK))));
  }
  return Buffer.concat([encoder.head(), ...frames]);
}

/** Samples given to the encoder at once, which blocks the loop for about 3 ms a second of audio. */
const blockSamples = 24_000;

/** MPEG-2 layer III, mono, as it is made. What it gives, one after another, is the file; it may give nothing at first. */
export class Mp3Stream {
  readonly #encoder: Awaited<ReturnType<typeof createMp3Encoder>>;

  private constructor(encoder: Awaited<ReturnType<typeof createMp3Encoder>>) {
    this.#encoder = encoder;
  }

  static async start(rateHz: 16_000 | 22_050 | 24_000, kbps: 48 | 80 | 128): Promise<Mp3Stream> {
    const encoder = await createMp3Encoder();
    encoder.configure({ sampleRate: rateHz, channels: 1, bitrate: kbps });
    return new Mp3Stream(encoder);
  }

  push(pcm: Int16Array): Uint8Array {
    const block = Float32Array.from(pcm, (sample) => sample / 32_768);
    // The encoder's memory is used again by the next call.
    return this.#encoder.encode([block]).slice();
  }

  end(): Uint8Array {
    return this.#encoder.finalize().slice();
  }
}

/** MPEG-2 layer III, mono. */
export async function encodeMp3(
  pcm: Int16Array,
  rateHz: 16_000 | 22_050 | 24_000,
  kbps: 48 | 80 | 128 = 48,
): Promise<Uint8Array> {
  const stream = await Mp3Stream.start(rateHz, kbps);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < pcm.length; at += blockSamples) {
    await setImmediate();
    parts.push(stream.push(pcm.subarray(at, at + blockSamples)));
  }
  parts.push(stream.end());
  return Buffer.concat(parts);
}

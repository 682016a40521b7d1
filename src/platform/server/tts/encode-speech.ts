import { createMp3Encoder } from 'wasm-media-encoders';
import { setImmediate } from 'node:timers/promises';
import { FLAC_BLOCK, FlacEncoder } from '../../../audio/flac/flac-encoder.ts';
import { encodeAudio } from '../../../audio/codec.ts';
import { wavFile, wavHeader } from '../../../audio/wav.ts';
import { joinSamples } from '../../../audio/samples.ts';
import { type SpeechFormat, type Quality, qualityFacts } from './audio-formats.ts';
import { encodeOggOpus } from './opus.ts';

/** Encodes a whole answer. */
export async function encodeSpeech(pcm: Int16Array, format: SpeechFormat, quality: Quality): Promise<Uint8Array> {
  switch (format.name) {
    case 'wav':
      return wavFile(pcm, format.rateHz);
    case 'mp3':
      return encodeMp3(pcm, 24_000, qualityFacts[quality].mp3Kbps);
    case 'ogg_opus':
      return encodeOggOpus(pcm, qualityFacts[quality].opusKbps, qualityFacts[quality].opusComplexity);
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
 * Encodes one chunk of a stream. The results, concatenated, are the whole file; an empty result is not sent.
 * @param isFinal whether this is the last chunk
 */
export type ChunkEncoder = (pcm: Int16Array, isFinal: boolean) => Uint8Array | Promise<Uint8Array>;

/** The encoder of one stream. FLAC and Ogg Opus are sent whole with the last chunk, other formats chunk by chunk. */
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
      // The length is unknown: the largest number stands for that.
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

/** Blocks encoded, in some milliseconds, before the event loop gets a turn. */
const BLOCKS_AT_ONCE = 8;

/** Encodes a FLAC file, mono, 16 bits. */
export async function encodeFlac(pcm: Int16Array, rateHz: number): Promise<Uint8Array> {
  const encoder = new FlacEncoder(rateHz, 1);
  const frames: Uint8Array[] = [];
  for (let at = 0, index = 0; at < pcm.length; at += FLAC_BLOCK, index += 1) {
    if (index % BLOCKS_AT_ONCE === 0) await setImmediate();
    frames.push(Uint8Array.from(encoder.frame(pcm.subarray(at, at + FLAC_BLOCK))));
  }
  return Buffer.concat([encoder.head(), ...frames]);
}

/** Samples encoded at once; one second of audio blocks the event loop for about 3 ms. */
const blockSamples = 24_000;

/** Encodes MP3 (MPEG-2 layer III, mono) as a stream: the results, concatenated, are the file. The first ones may be empty. */
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
    const block = new Float32Array(pcm.length);
    for (let at = 0; at < pcm.length; at += 1) block[at] = (pcm[at] ?? 0) / 32_768;
    // A copy, since the encoder reuses its memory.
    return this.#encoder.encode([block]).slice();
  }

  end(): Uint8Array {
    return this.#encoder.finalize().slice();
  }
}

/** Encodes an MP3 file (MPEG-2 layer III, mono). */
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

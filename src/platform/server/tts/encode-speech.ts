import { setImmediate } from 'node:timers/promises';
import { bytesInMemory } from '../../../audio/byte-source.ts';
import { oggOpusBlocks } from '../../../audio/opus/ogg-opus.ts';
import { OpusEncoder, opusFrame } from '../../../audio/opus/opus-encoder.ts';
import { joinSamples } from '../../../audio/samples.ts';
import { createMp3Encoder } from 'wasm-media-encoders';
import { FLAC_BLOCK, FlacEncoder } from '../../../audio/flac/flac-encoder.ts';
import { encodeAudio } from '../../../audio/codec.ts';
import { wavFile, wavHeader } from '../../../audio/wav.ts';

/** Formats of synthesised audio (TTS doc, response_format). */
export interface SpeechFormat {
  readonly name: 'pcm' | 'wav' | 'mp3' | 'ogg_opus' | 'flac' | 'mulaw' | 'alaw';
  readonly mimeType: string;
  readonly rateHz: number;
}

/** 24 kHz, as OpenAI clients assume for `pcm` (reference, 1.5); G.711 is always 8 kHz. */
export const speechFormats: Readonly<Record<SpeechFormat['name'], SpeechFormat>> = {
  pcm: { name: 'pcm', mimeType: 'audio/pcm', rateHz: 24_000 },
  wav: { name: 'wav', mimeType: 'audio/wav', rateHz: 24_000 },
  mp3: { name: 'mp3', mimeType: 'audio/mpeg', rateHz: 24_000 },
  ogg_opus: { name: 'ogg_opus', mimeType: 'audio/ogg', rateHz: 24_000 },
  flac: { name: 'flac', mimeType: 'audio/flac', rateHz: 24_000 },
  mulaw: { name: 'mulaw', mimeType: 'audio/basic', rateHz: 8000 },
  alaw: { name: 'alaw', mimeType: 'audio/x-alaw-basic', rateHz: 8000 },
};

export function isSpeechFormat(name: string): name is SpeechFormat['name'] {
  return Object.hasOwn(speechFormats, name);
}

export const qualities = ['low', 'medium', 'high'] as const;

/** Quality of a synthesis (TTS doc, quality): higher is better and slower. */
export type Quality = (typeof qualities)[number];

interface QualityFacts {
  /** Bitrates of the lossy formats. */
  readonly mp3Kbps: 48 | 80 | 128;
  readonly opusKbps: number;
  /** Taps of the resampler's filter: more keep more of the highest frequencies, in every format. */
  readonly resamplerHalfTaps: number;
  /** The effort of the Opus coder, which takes most of the time of a long answer: 3 takes a third of what 10 takes. */
  readonly opusComplexity: number;
  /** The time stretch tries every n-th position. */
  readonly searchStep: number;
  /** All sentences are made before the first is sent, and levelled together. */
  readonly levelWhole: boolean;
}

export const qualityFacts: Readonly<Record<Quality, QualityFacts>> = {
  low: { mp3Kbps: 48, opusKbps: 24, opusComplexity: 3, resamplerHalfTaps: 32, searchStep: 2, levelWhole: false },
  medium: { mp3Kbps: 80, opusKbps: 40, opusComplexity: 6, resamplerHalfTaps: 64, searchStep: 1, levelWhole: false },
  high: { mp3Kbps: 128, opusKbps: 64, opusComplexity: 10, resamplerHalfTaps: 128, searchStep: 1, levelWhole: true },
};

const RATE_HZ = 24_000;
/** Packets of 20 ms coded before the event loop gets a turn. */
const PACKETS_A_TURN = 10;
const SERIAL = 0x0ff_400c;

/** The opus package has one memory for all its coders: two at once would overwrite each other. */
let lastTask: Promise<unknown> = Promise.resolve();

function oneAtATime<Value>(task: () => Promise<Value>): Promise<Value> {
  const run = lastTask.then(task);
  lastTask = run.catch(() => undefined);
  return run;
}

/** Encodes mono audio as Opus in Ogg (RFC 7845). @param pcm at 24,000 Hz */
export function encodeOggOpus(pcm: Int16Array, kbps = 24, complexity = 10): Promise<Uint8Array> {
  return oneAtATime(async () => {
    const settings = {
      rateHz: RATE_HZ,
      channels: 1,
      serial: SERIAL,
      kbpsPerChannel: kbps,
      application: 'voip',
      complexity,
    } as const;
    using encoder = new OpusEncoder(settings);
    const frame = opusFrame(RATE_HZ);
    const pages = [encoder.head()];
    for (let at = 0; at < pcm.length; at += frame) {
      if (at % (PACKETS_A_TURN * frame) === 0) await setImmediate();
      pages.push(encoder.frame(pcm.subarray(at, at + frame)));
    }
    return Buffer.concat([...pages, encoder.end()]);
  });
}

/**
 * Decodes Ogg Opus to mono samples at 24,000 Hz.
 * @param maxSamples decoding stops soon after this many
 * @throws MediaUnreadableError, MediaNeedsFfmpegError for more than two channels
 */
export function decodeOggOpus(file: Uint8Array, maxSamples: number): Promise<Int16Array> {
  return oneAtATime(async () => {
    const parts: Int16Array[] = [];
    let samples = 0;
    for (const { pcm } of oggOpusBlocks(bytesInMemory(file), RATE_HZ)) {
      if (parts.length % PACKETS_A_TURN === 0) await setImmediate();
      parts.push(pcm);
      samples += pcm.length;
      if (samples > maxSamples) break;
    }
    return joinSamples(parts);
  });
}

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
type ChunkEncoder = (pcm: Int16Array, isFinal: boolean) => Uint8Array | Promise<Uint8Array>;

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
class Mp3Stream {
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

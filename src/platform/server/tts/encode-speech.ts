import { encodeAudio } from '../../../audio/codec.ts';
import { wavFile, wavHeader } from '../../../audio/wav.ts';
import { joinSamples } from '../../../audio/join-samples.ts';
import type { SpeechFormat } from './audio-formats.ts';
import { encodeFlac } from './flac.ts';
import { encodeMp3, Mp3Stream } from './mp3.ts';
import { encodeOggOpus } from './opus.ts';
import { type Quality, qualityFacts } from './quality.ts';

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

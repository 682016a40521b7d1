import { encodeAudio } from '../../../audio/codec.ts';
import { wavFile } from '../../../audio/wav.ts';
import type { SpeechFormat } from './audio-formats.ts';
import { encodeFlac } from './flac.ts';
import { encodeMp3 } from './mp3.ts';
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
    case 'mulaw':
    case 'alaw':
      return encodeChunk(pcm, format);
  }
}

/** The samples of one chunk of a stream. @throws TypeError for a format that does not stream */
export function encodeChunk(pcm: Int16Array, format: SpeechFormat): Uint8Array {
  switch (format.name) {
    case 'pcm':
      return encodeAudio('pcm16', pcm);
    case 'mulaw':
      return encodeAudio('mulaw', pcm);
    case 'alaw':
      return encodeAudio('alaw', pcm);
    case 'wav':
    case 'mp3':
    case 'ogg_opus':
    case 'flac':
      throw new TypeError(`${format.name} does not stream`);
  }
}

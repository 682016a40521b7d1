import { MPEGDecoder } from 'mpg123-decoder';
import type { ByteSource } from './byte-source.ts';
import { MediaUnreadableError } from './errors.ts';
import { mp3Extent } from './mp3-frames.ts';
import { type DecodeBlocks, mixDown } from './pcm-block.ts';

const pieceBytes = 16 * 1024;

/** Decodes MPEG audio of any layer. */
export async function* decodeMp3(source: ByteSource): DecodeBlocks {
  const { from, to } = mp3Extent(source);
  const decoder = new MPEGDecoder();
  await decoder.ready;
  let failures = 0;
  let decoded = 0;
  try {
    for (let at = from; at < to; at += pieceBytes) {
      const piece = Uint8Array.from(source.read(at, Math.min(pieceBytes, to - at)));
      const { channelData, samplesDecoded, sampleRate, errors } = decoder.decode(piece);
      failures += errors.length;
      decoded += samplesDecoded;
      // A frame may lean on one before the cut; more than a few is damage.
      if (failures > 4) throw new MediaUnreadableError('the MP3 stream is damaged');
      if (samplesDecoded > 0) yield { rateHz: sampleRate, pcm: mixDown(channelData, samplesDecoded) };
    }
  } finally {
    decoder.free();
  }
  if (decoded === 0) throw new MediaUnreadableError('the MP3 file holds no samples');
}

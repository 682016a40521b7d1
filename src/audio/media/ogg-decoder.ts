import { OggVorbisDecoder } from '@wasm-audio-decoders/ogg-vorbis';
import type { ByteSource, DecodeBlocks } from '../byte-source.ts';
import { mixDown } from '../samples.ts';
import { MediaNeedsFfmpegError, MediaUnreadableError } from '../errors.ts';
import { oggOpusBlocks, isOpusHead, decodeRateHz } from '../opus/ogg-opus.ts';
import { oggHead, oggPages } from '../ogg/ogg.ts';

const maxChannels = 8;
/** Offset of the channel count in a Vorbis identification header (Vorbis I, section 4.2.2). */
export const vorbisChannelsAt = 11;

/** Decodes the first stream of an Ogg file: Opus or Vorbis. */
export function decodeOgg(source: ByteSource): DecodeBlocks {
  const head = oggHead(source);
  if (isOpusHead(head)) return decodeOggOpus(source);
  const tag = Buffer.from(head.subarray(0, 8)).toString('latin1');
  if (tag.startsWith('\x01vorbis')) return decodeVorbisPages(pageBytes(source), head[vorbisChannelsAt] ?? 0);
  throw new MediaNeedsFfmpegError('Ogg that holds neither Opus nor Vorbis');
}

async function* decodeOggOpus(source: ByteSource): DecodeBlocks {
  yield* oggOpusBlocks(source, decodeRateHz);
}

function* pageBytes(source: ByteSource): Generator<Uint8Array> {
  for (const { bytes } of oggPages(source)) yield bytes;
}

/**
 * Decodes the pages of a Vorbis stream, its three headers first.
 * @throws MediaUnreadableError
 */
export async function* decodeVorbisPages(pages: Iterable<Uint8Array>, channels: number): DecodeBlocks {
  // The memory for one page grows with the number of channels.
  if (channels < 1 || channels > maxChannels) throw new MediaUnreadableError(`Vorbis of ${channels} channels`);
  const decoder = new OggVorbisDecoder();
  await decoder.ready;
  try {
    for (const page of pages) {
      const { channelData, samplesDecoded, sampleRate, errors } = await decoder.decode(Uint8Array.from(page));
      if (errors.length > 0) throw new MediaUnreadableError('the Vorbis stream is damaged');
      if (samplesDecoded > 0) yield { rateHz: sampleRate, pcm: mixDown(channelData, samplesDecoded) };
    }
    const { channelData, samplesDecoded, sampleRate } = await decoder.flush();
    if (samplesDecoded > 0) yield { rateHz: sampleRate, pcm: mixDown(channelData, samplesDecoded) };
  } finally {
    decoder.free();
  }
}

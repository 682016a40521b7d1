import { type FLACDecodedAudio, FLACDecoder } from '@wasm-audio-decoders/flac';
import type { ByteSource } from './byte-source.ts';
import { MediaUnreadableError } from './errors.ts';
import { type DecodeBlocks, mixDown, type PcmBlock } from './pcm-block.ts';

/** A dozen bytes may unfold to 65,535 samples of eight channels: a piece of this size stays below 100 MB decoded. */
const pieceBytes = 1024;
/** Longest header of a stream's first frame (RFC 9639, section 9.1), and no longer than its shortest frame. */
const firstHeaderBytes = 10;
/** The decoder looks no shorter a way ahead; what follows the header is zeros, so that no frame comes of it. */
const sentinelBytes = 64;

/** Decodes a FLAC file, and holds it against the length that its first block states (RFC 9639, section 8.2). */
export async function* decodeFlac(source: ByteSource): DecodeBlocks {
  const info = source.read(0, 42);
  if (info.length < 42 || (info[4]! & 0x7f) !== 0) throw new MediaUnreadableError('the FLAC file is cut off in its header');
  const view = new DataView(info.buffer, info.byteOffset, info.byteLength);
  // 36 bits from the middle of byte 21 on; 0 is not known.
  const stated = (view.getUint8(21) & 0x0f) * 2 ** 32 + view.getUint32(22);
  // The decoder gives a frame out when it sees the next one begin, and never the last: so one more begins at the end.
  const sentinel = new Uint8Array(sentinelBytes);
  sentinel.set(source.read(firstFrameAt(source), firstHeaderBytes));
  const decoder = new FLACDecoder();
  await decoder.ready;
  let samples = 0;
  const block = ({ channelData, samplesDecoded, sampleRate, errors }: FLACDecodedAudio): PcmBlock => {
    if (errors.length > 0) throw new MediaUnreadableError('the FLAC stream is damaged');
    samples += samplesDecoded;
    return { rateHz: sampleRate, pcm: mixDown(channelData, samplesDecoded) };
  };
  try {
    for (let at = 0; at < source.sizeBytes; at += pieceBytes) {
      yield block(await decoder.decode(Uint8Array.from(source.read(at, pieceBytes))));
    }
    yield block(await decoder.decode(sentinel));
  } finally {
    decoder.free();
  }
  if (samples < stated) throw new MediaUnreadableError(`the FLAC file ends after ${samples} of ${stated} samples`);
}

/** After the metadata blocks, the last of which has its highest bit set. */
function firstFrameAt(source: ByteSource): number {
  for (let at = 4; at + 4 <= source.sizeBytes;) {
    const [first = 0, high = 0, middle = 0, low = 0] = source.read(at, 4);
    at += 4 + (high << 16) + (middle << 8) + low;
    if ((first & 0x80) !== 0) return at;
  }
  throw new MediaUnreadableError('the FLAC file is cut off in its header');
}

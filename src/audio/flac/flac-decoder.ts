import { FLACDecoder } from '@wasm-audio-decoders/flac';
import type { ByteSource, DecodeBlocks } from '../byte-source.ts';
import { mixDown } from '../samples.ts';
import { MediaUnreadableError } from '../errors.ts';

/** What the first block of a file's metadata states (RFC 9639, section 8.2). */
export interface FlacHead {
  readonly rateHz: number;
  readonly channels: number;
  readonly sampleBits: number;
  /** Samples of each channel; 0 when the file does not say. */
  readonly samples: number;
  /** MD5 of all samples, interleaved, as little-endian bytes. */
  readonly md5: Uint8Array;
}

export interface FlacBlock {
  readonly rateHz: number;
  /** -1 to 1. In a 16-bit file 32,767 stands for 1, so that -32,768 lies a little below -1. */
  readonly channels: readonly Float32Array[];
  /** Samples of each channel. */
  readonly samples: number;
}

const headBytes = 42;
/** Bytes decoded at once. A dozen bytes may hold 65,535 samples of eight channels: a piece of this size stays below 100 MB decoded. */
const pieceBytes = 1024;
/** Longest header of a stream's first frame (RFC 9639, section 9.1), and no longer than its shortest frame. */
const firstHeaderBytes = 10;
/** Bytes of the sentinel: as far as the decoder looks ahead. Zeros follow the header, so that it decodes to no frame. */
const sentinelBytes = 64;

/** @throws MediaUnreadableError for a file that does not begin with this block */
export function readFlacHead(source: ByteSource): FlacHead {
  const head = Buffer.from(source.read(0, headBytes));
  if (head.length < headBytes || ((head[4] ?? 0) & 0x7f) !== 0)
    throw new MediaUnreadableError('the FLAC file is cut off in its header');
  const packed = head.readUInt32BE(18);
  return {
    rateHz: packed >>> 12,
    channels: ((packed >>> 9) & 7) + 1,
    sampleBits: ((packed >>> 4) & 31) + 1,
    samples: (packed & 15) * 2 ** 32 + head.readUInt32BE(22),
    md5: head.subarray(26),
  };
}

/** Decodes a FLAC file to mono, and checks its length against the one stated in the head. */
export async function* decodeFlac(source: ByteSource): DecodeBlocks {
  const stated = readFlacHead(source).samples;
  let decoded = 0;
  for await (const { rateHz, channels, samples } of flacBlocks(source)) {
    decoded += samples;
    yield { rateHz, pcm: mixDown(channels, samples) };
  }
  if (decoded < stated) throw new MediaUnreadableError(`the FLAC file ends after ${decoded} of ${stated} samples`);
}

/**
 * Decodes a FLAC file with its channels apart. Frames with a wrong checksum are left out: callers check the length or the MD5.
 * @throws MediaUnreadableError
 */
export async function* flacBlocks(source: ByteSource): AsyncIterable<FlacBlock> {
  // The decoder returns a frame only when the next one begins. A sentinel with a frame header makes it return the last one.
  const sentinel = new Uint8Array(sentinelBytes);
  sentinel.set(source.read(firstFrameAt(source), firstHeaderBytes));
  const damaged = (cause?: unknown): Error => new MediaUnreadableError('the FLAC stream is damaged', { cause });
  const decoder = new FLACDecoder();
  await decoder.ready;
  try {
    for (let at = 0; at < source.sizeBytes + pieceBytes; at += pieceBytes) {
      const piece = at < source.sizeBytes ? Uint8Array.from(source.read(at, pieceBytes)) : sentinel;
      const decoded = await decoder.decode(piece).catch((error: unknown): never => {
        throw damaged(error);
      });
      if (decoded.errors.length > 0) throw damaged();
      const { channelData: channels, samplesDecoded: samples, sampleRate: rateHz } = decoded;
      yield { rateHz, channels, samples };
    }
  } finally {
    decoder.free();
  }
}

/** The first frame follows the metadata blocks; the last of those has its highest bit set. */
function firstFrameAt(source: ByteSource): number {
  for (let at = 4; at + 4 <= source.sizeBytes;) {
    const [first = 0, high = 0, middle = 0, low = 0] = source.read(at, 4);
    at += 4 + (high << 16) + (middle << 8) + low;
    if ((first & 0x80) !== 0) return at;
  }
  throw new MediaUnreadableError('the FLAC file is cut off in its header');
}

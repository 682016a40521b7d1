import { MPEGDecoder } from 'mpg123-decoder';
import type { ByteSource, DecodeBlocks } from '../byte-source.ts';
import { MediaUnreadableError } from '../errors.ts';
import { mixDown } from '../samples.ts';

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
      // The first frames may refer to data before the cut; further failures mean damage.
      if (failures > 4) throw new MediaUnreadableError('the MP3 stream is damaged');
      if (samplesDecoded > 0) yield { rateHz: sampleRate, pcm: mixDown(channelData, samplesDecoded) };
    }
  } finally {
    decoder.free();
  }
  if (decoded === 0) throw new MediaUnreadableError('the MP3 file holds no samples');
}

const kbps = {
  v1: [
    [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  ],
  v2: [
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  ],
} as const;
const ratesHz = [44_100, 48_000, 32_000] as const;
/** Padding, tags and other bytes between or after frames, as much as players accept. */
const maxJunkBytes = 64 * 1024;

/** @returns the length of the MPEG audio frame with this 4-byte header; undefined for an invalid one */
function mpegFrameBytes(header: Uint8Array): number | undefined {
  const [first = 0, second = 0, third = 0] = header;
  if (header.length < 4 || first !== 0xff || (second & 0xe0) !== 0xe0) return undefined;
  const version = (second >> 3) & 3;
  const layer = 4 - ((second >> 1) & 3);
  const rate = ratesHz[(third >> 2) & 3];
  const bitrate = third >> 4;
  if (version === 1 || layer === 4 || rate === undefined || bitrate === 0 || bitrate === 15) return undefined;
  const rateHz = version === 3 ? rate : version === 2 ? rate / 2 : rate / 4;
  const bps = (kbps[version === 3 ? 'v1' : 'v2'][layer - 1]?.[bitrate] ?? 0) * 1000;
  const padding = (third >> 1) & 1;
  if (layer === 1) return (Math.floor((12 * bps) / rateHz) + padding) * 4;
  const samples = layer === 3 && version !== 3 ? 576 : 1152;
  return Math.floor((samples / 8) * (bps / rateHz)) + padding;
}

/**
 * Walks the frames of an MP3 file.
 * @returns where its frames begin and end
 * @throws MediaUnreadableError without frames, with junk between them, or when the last one is cut off
 */
function mp3Extent(source: ByteSource): { readonly from: number; readonly to: number } {
  const from = afterId3(source);
  const size = source.sizeBytes;
  let at = from;
  let start = -1;
  let end = -1;
  let junk = 0;
  while (at + 4 <= size) {
    const head = source.read(at, 4);
    const bytes = mpegFrameBytes(head);
    // A first frame that no second one follows is a coincidence, unless the file ends there.
    if (bytes === undefined || (start === -1 && !followed(source, at + bytes))) {
      if (end !== -1 && isTag(source.read(at, 8))) break;
      at += 1;
      if (++junk > maxJunkBytes) break;
      continue;
    }
    if (at + bytes > size) {
      if (junk === 0) throw new MediaUnreadableError('the MP3 file is cut off in the middle of a frame');
      break;
    }
    if (start === -1) start = at;
    at += bytes;
    end = at;
    junk = 0;
  }
  if (start === -1) throw new MediaUnreadableError('there is no MPEG audio frame in the MP3 file');
  if (junk > maxJunkBytes) throw new MediaUnreadableError('the MP3 file is damaged');
  refuseShorterThanStated(source, start);
  return { from: start, to: end };
}

function followed(source: ByteSource, at: number): boolean {
  return at >= source.sizeBytes || mpegFrameBytes(source.read(at, 4)) !== undefined || isTag(source.read(at, 8));
}

function isTag(bytes: Uint8Array): boolean {
  return /^(TAG|APETAGEX|LYRICS|\0\0\0\0)/.test(Buffer.from(bytes).toString('latin1'));
}

/** The first frame of most files (Xing or Info) holds the number of bytes. */
function refuseShorterThanStated(source: ByteSource, start: number): void {
  const head = Buffer.from(source.read(start, 192));
  const mark = Math.max(head.indexOf('Xing'), head.indexOf('Info'));
  if (mark === -1 || mark + 16 > head.length) return;
  const flags = head.readUInt32BE(mark + 4);
  if ((flags & 2) === 0) return;
  const stated = head.readUInt32BE(mark + ((flags & 1) === 0 ? 8 : 12));
  if (start + stated > source.sizeBytes + 1) {
    throw new MediaUnreadableError(`the MP3 file ends after ${source.sizeBytes - start} of ${stated} bytes`);
  }
}

/** Skips an ID3v2 tag at the start; its length is 28 bits in four bytes of seven bits. */
function afterId3(source: ByteSource): number {
  const head = source.read(0, 10);
  if (head.length < 10 || Buffer.from(head.subarray(0, 3)).toString('latin1') !== 'ID3') return 0;
  const [flags = 0, ...lengthBytes] = head.subarray(5, 10);
  const footer = (flags & 0x10) === 0 ? 0 : 10;
  return 10 + footer + lengthBytes.reduce((length, byte) => (length << 7) + (byte & 0x7f), 0);
}
